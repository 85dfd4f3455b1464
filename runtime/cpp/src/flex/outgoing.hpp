// Sends the messages of one node to one remote mailbox: the sender's half of `mf.flex.Mailbox.deliver`.
//
// Messages that were sent and not taken are kept, within the bounds of a window: they are sent again if a
// connection is lost and the same mailbox is found again; if it is not, they are reported to their sender as
// undelivered. Messages that were not sent yet go to the process that has the name then.
//
// Thread-safe. The thread that submits a message after a pause writes it; messages that follow each other
// closely are left to the thread where completions run, which writes many together. Receipts are read there,
// too. No function is called under the lock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flex/described.hpp"
#include "flex/sent_state.hpp"
#include "mf/client/core.hpp"
#include "mf/client/standing.hpp"
#include "mf/client/stream.hpp"
#include "mf/flex.hpp"

namespace mf::flex {

/// A message on its way.
struct Outbound {
  Carried carried;
  std::shared_ptr<SentState> sent;
  /// Called if the message will not be taken.
  std::function<void(const Outbound&, const Error&)> report;
  std::size_t size = 0;
  WrittenTypes types;  // of which there are values in it
};
using OutboundRef = std::shared_ptr<Outbound>;

[[nodiscard]] Message message_of(const Carried& carried);

class Outgoing final : public std::enable_shared_from_this<Outgoing> {
 public:
  static constexpr std::size_t kWindowMessages = 16'384;
  static constexpr std::size_t kWindowBytes = std::size_t{16} << 20U;

  /// `ended`: called once this is closed; the next message needs a new one. `patience`: how long a name may
  /// be unknown or unreachable.
  Outgoing(std::shared_ptr<client::Core> core, std::string dest, std::function<void(const Outgoing&)> ended,
           std::chrono::nanoseconds patience);

  [[nodiscard]] const std::string& dest() const noexcept { return receiver_->name; }
  [[nodiscard]] const std::shared_ptr<Receiver>& receiver() const noexcept { return receiver_; }
  /// Whether submit() refuses all messages.
  [[nodiscard]] bool closed() const;
  enum class Went : std::uint8_t { yes, full, closed };
  /// The first message begins the search for the mailbox, which is given up while there is no message.
  [[nodiscard]] Went submit(const OutboundRef& outbound);
  /// Calls `call` once when a message has left or this has ended; perhaps at once.
  void when_room(UniqueFunction<void()> call);
  /// Waits until all submitted messages are in the mailbox or have failed; false on a timeout.
  bool await_arrived(TimePoint until);
  /// All messages fail; those that have arrived in the mailbox fail with Execution::unknown.
  void close(const Error& error);

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// A call of deliver().
  struct Session {
    std::shared_ptr<client::StreamedCall> call;
    StreamReader<Receipt> receipts;
  };
  using Stream = std::shared_ptr<Session>;
  using Calls = std::vector<UniqueFunction<void()>>;
  struct Failed {
    OutboundRef outbound;
    Error error;
  };
  /// What to report after the lock was released.
  struct News {
    std::vector<OutboundRef> taken;
    std::vector<Failed> failed;
    Calls calls;
    bool ended = false;
  };

  void session();
  [[nodiscard]] Stream begin_session();
  void read(const Stream& stream);
  void on_receipt(const Stream& stream, Receipt&& receipt);
  void on_lost(const Stream& stream, const Error& why);
  void write(const Stream& stream);
  [[nodiscard]] bool append(const Stream& stream, Buffer& out);
  void lose_last(const Error& why);
  [[nodiscard]] std::optional<Carried> untold(const Outbound& outbound);
  void meet(const Receipt& receipt, News& news);
  void receive(const Receipt& receipt, News& news);
  void leave(const OutboundRef& outbound, News& news);
  void lose(std::uint64_t sequence, const Error& error, News& news);
  void fail_all(const Error& sent, const Error& unsent, News& news);
  void tell(News&& news);

  const std::shared_ptr<client::Core> core_;
  const client::Target target_;
  const std::shared_ptr<Receiver> receiver_;
  const std::function<void(const Outgoing&)> ended_;
  const std::chrono::nanoseconds patience_;
  const Uuid sender_;
  client::Standing standing_;
  mutable std::mutex mutex_;  // all below
  Stream stream_;             // null between two sessions
  Told told_;                 // on this stream
  bool begun_ = false;
  bool connected_ = false;
  bool writing_ = false;
  bool closed_ = false;
  TimePoint lost_;
  TimePoint submitted_{};  // when the last message had been
  std::uint64_t next_ = 1;
  std::deque<OutboundRef> pending_;
  std::map<std::uint64_t, OutboundRef> under_way_;
  std::size_t messages_ = 0;
  std::size_t bytes_ = 0;
  Calls for_room_;
  std::optional<Uuid> mailbox_;
  std::uint64_t received_ = 0;
  std::condition_variable arrived_;
};

}  // namespace mf::flex
