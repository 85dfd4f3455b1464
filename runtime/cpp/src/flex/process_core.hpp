// The implementation of a process: its mailbox, and sending.
//
// Thread-safe.
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

/// The interface of a node to its processes.
class Office {
 public:
  virtual ~Office() = default;
  /// Null if it is not on this node.
  [[nodiscard]] virtual std::shared_ptr<ProcessCore> local(const std::string& dest) = 0;
  /// Throws Error(UNKNOWN_AGENT) if this is a local node, OVERLOADED if there are too many.
  [[nodiscard]] virtual std::shared_ptr<Outgoing> way(const std::string& dest) = 0;
  /// The known members, as "GROUP/NAME". `wait`: if there are none, waits for one.
  [[nodiscard]] virtual std::vector<std::string> members(const std::string& group, bool wait) = 0;
  virtual void leave(const std::shared_ptr<ProcessCore>& process) = 0;
};

/// One copy of a message to one process.
class Copy {
 public:
  /// True if it is on its way: it must not be attempted again.
  [[nodiscard]] bool attempt(Office& office);
  void when_room(UniqueFunction<void()> call);
  /// The end of the text of a failure for lack of room: it names the full mailbox, if it is known to be full.
  [[nodiscard]] std::string why_full() const;

  std::string dest;
  std::shared_ptr<ProcessCore> here;  // null if remote
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
  /// Reports it to `sent` and to on_undelivered.
  void not_delivered(const Message& message, SentState& sent, const Error& error);

 private:
  friend class AsyncSend;
  struct Prepared {
    std::string dest;
    Bytes attributes;
    WrittenTypes types;
  };
  [[nodiscard]] std::shared_ptr<ProcessCore> self() {
    return std::static_pointer_cast<ProcessCore>(shared_from_this());
  }
  [[nodiscard]] std::shared_ptr<Office> office() const;
  [[nodiscard]] Prepared prepared(Attributes&& attributes) const;
  [[nodiscard]] std::vector<Copy> copies(const Prepared& prepared, const std::vector<std::string>& to,
                                         const std::shared_ptr<SentState>& sent);
  [[nodiscard]] std::vector<std::string> receivers(const std::string& dest, bool wait);
  /// Throws OVERLOADED for Full::fail; returns true if the message was dropped.
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
