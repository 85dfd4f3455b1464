// A process from inside: its mailbox, and how what it sends gets on its way.
//
// Threads. Any.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "flex/mailbox.hpp"
#include "flex/outgoing.hpp"
#include "mf/flex/process.hpp"

namespace mf::flex {

class ProcessCore;

/// What a process knows of its node.
class Office {
 public:
  virtual ~Office() = default;
  /// Null: it is not on this node.
  [[nodiscard]] virtual std::shared_ptr<ProcessCore> local(const std::string& dest) = 0;
  /// Throws Error(UNKNOWN_AGENT): this node knows no others; OVERLOADED: there are too many.
  [[nodiscard]] virtual std::shared_ptr<Outgoing> way(const std::string& dest) = 0;
  /// As "GROUP/NAME", those that are known; while there are none, until then.
  [[nodiscard]] virtual std::vector<std::string> members(const std::string& group, bool wait) = 0;
  virtual void leave(const std::shared_ptr<ProcessCore>& process) = 0;
};

/// One copy of a message to one process.
class Copy {
 public:
  /// True: it is on its way; it must not be tried again.
  [[nodiscard]] bool attempt(Office& office);
  void when_room(UniqueFunction<void()> call);

  std::string dest;
  std::shared_ptr<ProcessCore> here;  // null: elsewhere
  ParcelRef parcel;
  std::shared_ptr<Outgoing> way;
  OutboundRef outbound;
};

class ProcessCore final : public Mailbox {
 public:
  ProcessCore(std::weak_ptr<Office> office, std::string name, const ProcessOptions& options,
              std::shared_ptr<client::Core> core);

  [[nodiscard]] const std::vector<std::string>& groups() const noexcept { return options_.groups; }
  Sent send(Attributes attributes, const SendOptions& options);
  void async_send(Attributes attributes, const SendOptions& options, Callback<Sent> done,
                  const std::stop_token& stop);
  [[nodiscard]] std::vector<Undelivered> undelivered();
  void leave();
  /// Tells whoever wants to know.
  void not_delivered(const Message& message, SentState& sent, const Error& error);

 private:
  friend class AsyncSend;
  struct Prepared {
    std::string dest;
    Bytes attributes;
  };
  [[nodiscard]] std::shared_ptr<ProcessCore> self() {
    return std::static_pointer_cast<ProcessCore>(shared_from_this());
  }
  [[nodiscard]] std::shared_ptr<Office> office() const;
  [[nodiscard]] Prepared prepared(Attributes&& attributes) const;
  [[nodiscard]] std::vector<Copy> copies(const Prepared& prepared, const std::vector<std::string>& to,
                                         const std::shared_ptr<SentState>& sent);
  [[nodiscard]] std::vector<std::string> receivers(const std::string& dest, bool wait);
  /// Throws OVERLOADED if the sender wants that; true: it was dropped.
  [[nodiscard]] static bool gives_up(const Copy& copy, SentState& sent, Full when_full);

  void log(const Undelivered& undelivered);

  const std::weak_ptr<Office> office_;
  const ProcessOptions options_;
  const Uuid id_;
  mutable std::mutex mutex_;  // all below
  std::deque<Undelivered> undelivered_;
  TimePoint logged_{};
  std::uint64_t unlogged_ = 0;
  bool left_ = false;
};

}  // namespace mf::flex
