// The mailbox of a process: messages wait here until a receiving call or a callback takes them.
//
// A receiving call gets the first message that matches, in the order of arrival. Functions of a pattern run
// on the receiving thread, never under the lock and never where messages arrive: an exception of a function
// is thrown by recv(), and the messages stay; a slow function delays no other thread.
//
// Memory is bounded by messages and by bytes, and shared between senders: a sender that has messages here
// gets more room only while as much as it uses itself stays free, and a sixteenth as well, which is reserved
// for small messages of senders that have none. So one sender uses less than half, and however many messages
// wait that the receiver does not take, a sender whose messages are taken makes progress. put() fails if
// there is no room, which is logged, and when_room() reports when there may be some.
//
// Callbacks run one at a time on a thread of the mailbox, which is started for the first callback.
//
// Thread-safe. No thread is woken and no function is called under the lock.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "flex/queue.hpp"
#include "flex/waiter.hpp"
#include "mf/client/core.hpp"
#include "mf/core/async.hpp"
#include "mf/core/clock.hpp"

namespace mf::flex {

/// A callback. The mailbox's lock guards all but the first two members.
struct Registration {
  Registration(std::function<void(const Message&)> called, Asked wanted)
      : function(std::move(called)), asked(std::move(wanted)) {}

  const std::function<void(const Message&)> function;
  const Asked asked;
  std::deque<ParcelRef> backlog;   // messages for its next calls
  std::shared_ptr<Waiter> waiter;  // only if the pattern has functions
  std::size_t calls = 0;
  std::size_t raised = 0;
};

class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  struct Bounds {
    std::size_t max_messages = 65'536;
    std::size_t max_bytes = std::size_t{64} << 20U;
  };
  /// Bytes that each message counts in addition to its attributes.
  static constexpr std::size_t kOverhead = 256;

  /// Throws Error(INVALID_ARGUMENT) for bounds that leave no room for two messages.
  Mailbox(std::string name, const Bounds& bounds, std::shared_ptr<client::Core> core);
  virtual ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] client::Core& core() noexcept { return *core_; }
  [[nodiscard]] const std::shared_ptr<client::Core>& shared_core() const noexcept { return core_; }

  /// Nothing on a timeout. Throws Error(CANCELLED) when it is closed, and exceptions of the pattern.
  [[nodiscard]] std::optional<Message> recv(const Asked& asked, TimePoint until);
  /// Never waits.
  [[nodiscard]] std::optional<Message> recv_now(const Asked& asked);
  /// Completes where completions run; on a timeout with none_came().
  void async_recv(Asked asked, std::chrono::nanoseconds timeout, std::string words, Callback<Message> done,
                  const std::stop_token& stop);
  [[nodiscard]] bool peek(const Asked& asked);
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] Error none_came(const std::string& words, std::chrono::nanoseconds timeout) const;

  std::shared_ptr<Registration> add_callback(std::function<void(const Message&)> function, Asked asked);
  /// The callback is not called any more after this has returned, unless the callback itself calls this. Its
  /// backlog goes back to the mailbox.
  void remove_callback(const std::shared_ptr<Registration>& registration);
  [[nodiscard]] std::pair<std::size_t, std::size_t> counts(const Registration& registration) const;

  /// False if there is no room now. Throws Error(MESSAGE_TOO_LARGE) for a message that exceeds the bounds,
  /// and Error(CANCELLED) when the mailbox is closed.
  [[nodiscard]] bool put(ParcelRef parcel);
  /// Calls `call` once when a message was taken or the mailbox was closed; perhaps at once.
  void when_room(UniqueFunction<void()> call);
  /// Returns the messages that were not taken. Waiting calls fail.
  std::vector<ParcelRef> close_mailbox();
  [[nodiscard]] Error closed() const;
  /// Throws on the reactor's thread, which must not block.
  void check_may_block() const;

 private:
  friend class AsyncWaiter;
  using Lock = std::unique_lock<std::mutex>;
  using Calls = std::vector<UniqueFunction<void()>>;
  struct Share {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };
  struct HashUuid {
    [[nodiscard]] std::size_t operator()(const Uuid& uuid) const noexcept {
      return std::hash<std::string_view>()(
          {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()});
    }
  };

  void check_open() const;
  [[nodiscard]] bool has_room(const Parcel& parcel) const;
  void hold(const Parcel& parcel);
  void tell_full();
  [[nodiscard]] Calls release(const Parcel& parcel);
  [[nodiscard]] Message taken(const ParcelRef& parcel);
  /// The next two are called under the lock. Their result counts in in_hand_ until taken().
  [[nodiscard]] ParcelRef take_first(const Asked& asked);
  [[nodiscard]] ParcelRef take_number(std::uint64_t number);
  [[nodiscard]] ParcelRef at_once(const Asked& asked);
  [[nodiscard]] ParcelRef take_tested(const Asked& asked);
  [[nodiscard]] ParcelRef take_if_passes(const Asked& asked, std::uint64_t number);
  [[nodiscard]] ParcelRef begin(const std::shared_ptr<Waiter>& waiter);
  [[nodiscard]] ParcelRef take(Waiter& waiter);
  void end(const Waiter& waiter, bool empty_handed);
  [[nodiscard]] bool claim(const ParcelRef& parcel);
  void run_callbacks();
  [[nodiscard]] ParcelRef next_of(Lock& lock, Registration& registration);
  void call(Lock& lock, const std::shared_ptr<Registration>& registration, const ParcelRef& parcel);

  const std::string name_;
  const Bounds bounds_;
  const std::shared_ptr<client::Core> core_;
  mutable std::mutex mutex_;  // all below
  Queue queue_;
  Waiters waiters_;
  std::size_t held_ = 0;  // messages, including the backlogs of callbacks
  std::size_t bytes_ = 0;
  std::unordered_map<Uuid, Share, HashUuid> by_sender_;
  Calls for_room_;
  std::optional<TimePoint> told_full_;  // when it was last logged that there is no room
  bool closed_ = false;
  // Messages that were taken and have no receipt yet: closing waits for that, so that no sender gets a
  // receipt by which such a message was certainly not taken.
  std::size_t in_hand_ = 0;
  std::condition_variable told_;
  std::vector<std::shared_ptr<Registration>> callbacks_;
  std::thread caller_;
  std::condition_variable to_call_;
  std::condition_variable called_;
  bool look_ = false;  // there may be a message for a callback
  const Registration* running_ = nullptr;
};

}  // namespace mf::flex
