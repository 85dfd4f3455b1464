// Counts of the calls of one method of one offer. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "mf/core/clock.hpp"

namespace mf::monitor {
class Tally;
}

namespace mf::server {

struct Counters {
  std::atomic<std::uint64_t> executed{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> expired{0};
  std::atomic<std::uint64_t> dropped{0};  // one-way calls that were refused
  monitor::Tally* tally = nullptr;        // null: the server has no monitor

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t calls) noexcept {
    counter.fetch_add(calls, std::memory_order_relaxed);
  }

  /// One-way calls were dropped. Returns how many are not logged yet, if a line is due now: the first at
  /// once, then once a second; otherwise 0.
  [[nodiscard]] std::uint64_t on_dropped(std::uint64_t calls, TimePoint now) noexcept {
    const auto all = dropped.fetch_add(calls, std::memory_order_relaxed) + calls;
    auto last = logged_at_.load(std::memory_order_relaxed);
    const auto at = now.time_since_epoch().count();
    if (last != 0 && at - last < TimePoint::duration(std::chrono::seconds(1)).count()) return 0;
    if (!logged_at_.compare_exchange_strong(last, at, std::memory_order_relaxed)) return 0;
    return all - logged_.exchange(all, std::memory_order_relaxed);
  }

 private:
  std::atomic<TimePoint::duration::rep> logged_at_{0};
  std::atomic<std::uint64_t> logged_{0};
};

}  // namespace mf::server
