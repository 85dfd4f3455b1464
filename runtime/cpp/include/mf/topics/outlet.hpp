// The messages of one topic and agent as this process publishes them: their numbers, who gets them, and the
// latest, which are kept for those who come later.
//
// Threads. Any number may publish; a message gets its number and goes to all queues under one lock, so that
// all see the same order. Values are encoded before that lock is taken, and nobody is woken under it.
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

class Outlet {
 public:
  struct Limits {
    std::uint32_t keep = 0;  // messages
    std::size_t keep_bytes = 0;
    std::chrono::milliseconds stall_timeout{};
  };
  /// What a subscriber wants of the time before.
  struct Since {
    std::uint32_t replay = 0;
    std::optional<std::uint64_t> seen{};  // the number of the last message that it has
  };

  Outlet(std::shared_ptr<const Origin> origin, const Limits& limits)
      : origin_(std::move(origin)), limits_(limits) {}

  [[nodiscard]] const std::shared_ptr<const Origin>& origin() const noexcept { return origin_; }

  /// Gives the messages their numbers and hands them out. Throws what is wrong with a value, and
  /// DEADLINE_EXCEEDED if a subscription that blocks has had no room for one for so long; what was before
  /// that is published.
  void publish(std::span<ItemRef> items, std::chrono::nanoseconds patience);

  /// `remote`: it wants bytes.
  void attach(const std::shared_ptr<Queue>& queue, const Since& since, bool remote);
  void detach(const Queue& queue);
  [[nodiscard]] AgentStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Match {
    std::shared_ptr<Queue> queue;
    std::uint32_t source = 0;
    bool remote = false;
  };

  [[nodiscard]] std::shared_ptr<Queue> reserve(std::size_t size);
  void wait_for_room(Lock& lock, Queue& queue, std::size_t size, TimePoint deadline);
  void hand_out(Item& item, std::vector<std::shared_ptr<Queue>>& wake);
  void keep(Item& item);

  const std::shared_ptr<const Origin> origin_;
  const Limits limits_;
  std::atomic<std::size_t> remote_{0};
  mutable std::mutex mutex_;  // all below
  std::vector<Match> matches_;
  std::size_t blocking_ = 0;
  std::uint64_t next_ = 1;
  std::deque<ItemRef> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace mf::topics
