// Publishes the messages of one topic and agent: numbers them, puts them into the queues of subscriptions,
// and keeps the latest ones for replay. In a relay, a bridge or a client, whose subscribers share a stream,
// the messages already have the numbers of a remote publisher (forward(), miss()).
//
// Thread-safe. A message gets its number and goes to all queues under one lock, so that all subscribers see
// the same order. Values are encoded before that lock is taken, and no thread is woken under it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"
#include "mf/topics/queue.hpp"

namespace mf::topics {

/// The bytes that several outlets may keep together.
struct KeepBudget {
  explicit KeepBudget(std::size_t bytes) noexcept : most(bytes) {}
  const std::size_t most;
  std::atomic<std::size_t> used{0};
};

/// Queues that wait to be woken when no lock is held.
using Woken = std::vector<std::shared_ptr<Queue>>;
/// Wakes all of them, and forgets them.
void wake_all(Woken& woken);

class Outlet {
 public:
  struct Limits {
    std::uint32_t keep = 0;  // messages
    std::size_t keep_bytes = 0;
    std::chrono::milliseconds stall_timeout{};
    std::shared_ptr<KeepBudget> budget{};  // null: there is no common bound
    /// Its queues are those of a client's subscribers: one that is alone is waited for whatever its policy
    /// is, so that its publisher, who has the same policy, drops what finds no room. Replayed messages, too,
    /// wait.
    bool of_subscribers = false;
  };
  /// Which earlier messages a subscriber wants.
  struct Since {
    std::uint32_t replay = 0;
    std::optional<std::uint64_t> seen{};  // the number of its last message
  };

  /// The next message has the number `next`; those before `live` are replayed by their publisher.
  Outlet(std::shared_ptr<const Origin> origin, const Limits& limits, std::uint64_t next = 1,
         std::uint64_t live = 1)
      : origin_(std::move(origin)), limits_(limits), next_(next), live_(live) {}
  ~Outlet() { forget_kept(); }
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  [[nodiscard]] const std::shared_ptr<const Origin>& origin() const noexcept { return origin_; }

  /// Numbers the messages and puts them into the queues. Throws if a value cannot be encoded,
  /// DEADLINE_EXCEEDED if a subscription that blocks has had no room for `patience`, and SHUTTING_DOWN after
  /// close(); in the last two cases the messages before the failed one are published.
  void publish(std::span<ItemRef> items, std::chrono::nanoseconds patience);

  /// Passes on numbered messages, from the first on, and returns how many. If these are not all, `full` is a
  /// queue that is waited for and has no room: no queue got the rest, and the caller must repeat the call for
  /// it when that queue has room.
  [[nodiscard]] std::size_t forward(std::span<const ItemRef> items, std::shared_ptr<Queue>& full,
                                    Woken& woken);
  /// The same for one message, and for a gap, after which queues are woken: returns the queue that has no
  /// room, if there is one.
  [[nodiscard]] std::shared_ptr<Queue> forward(const ItemRef& item);
  [[nodiscard]] std::shared_ptr<Queue> miss(std::uint64_t first, std::uint64_t count);
  [[nodiscard]] std::shared_ptr<Queue> miss(std::uint64_t first, std::uint64_t count, Why why, Woken& woken);
  /// Tells all subscribers that no more messages come.
  void end(Woken& woken);
  /// publish() fails from now on.
  void close();

  /// Ends the subscription of a queue that had no room for stall_timeout.
  void cut(Queue& stalled_queue) const;

  /// `remote`: it wants bytes. The caller must wake the queue without holding locks.
  void attach(const std::shared_ptr<Queue>& queue, const Since& since, bool remote);
  void detach(const Queue& queue);
  [[nodiscard]] AgentStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Match {
    std::shared_ptr<Queue> queue;
    std::uint32_t source = 0;
    bool remote = false;
    std::uint64_t from = 0;    // the number of the first message for this queue
    std::size_t reserved = 0;  // of what is handed out next
  };

  [[nodiscard]] bool waits_for(const Match& match) const noexcept;
  [[nodiscard]] std::size_t reserve(std::span<const ItemRef> items, std::shared_ptr<Queue>& full);
  [[nodiscard]] std::shared_ptr<Queue> reserve_gap();
  void wait_for_room(Lock& lock, Queue& queue, std::size_t size, TimePoint deadline);
  void hand_out(std::span<const ItemRef> items, Woken& wake);
  [[nodiscard]] std::size_t run_of(std::span<const ItemRef> items) const;
  void keep(Item& item);
  void forget_oldest();
  void forget_kept();

  const std::shared_ptr<const Origin> origin_;
  const Limits limits_;
  std::atomic<std::size_t> remote_{0};
  mutable std::mutex mutex_;  // all below
  std::vector<Match> matches_;
  std::size_t blocking_ = 0;
  std::uint64_t next_ = 1;
  const std::uint64_t live_;
  std::deque<ItemRef> kept_;
  std::size_t kept_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace mf::topics
