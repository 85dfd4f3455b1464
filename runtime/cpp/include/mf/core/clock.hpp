#pragma once
// Monotonic time. The wall clock is never used for a deadline.
//
// All of the runtime asks mf::now(), and waits by it (mf/transport/waiting.hpp): a test that has installed a
// clock of its own (mf/testing/clock.hpp) decides what time it is. What the kernel does, such as connecting
// over a network, takes real time.

#include <atomic>
#include <chrono>

namespace mf {

using TimePoint = std::chrono::steady_clock::time_point;

/// "Never": the deadline of a call that has none.
inline constexpr TimePoint kNever = TimePoint::max();

namespace detail {
/// The time of the test's clock that is installed, in ticks; 0: none is.
inline constinit std::atomic<TimePoint::rep> test_time{0};
}  // namespace detail

/// Whether a test decides what time it is.
[[nodiscard]] inline bool on_test_time() noexcept {
  return detail::test_time.load(std::memory_order_relaxed) != 0;
}

/// The steady clock, or that of a test.
[[nodiscard]] inline TimePoint now() noexcept {
  if (const auto ticks = detail::test_time.load(std::memory_order_acquire); ticks != 0) [[unlikely]]
    return TimePoint(TimePoint::duration(ticks));
  return std::chrono::steady_clock::now();
}

/// The same, some milliseconds behind and four times as quick to read.
[[nodiscard]] TimePoint rough_now() noexcept;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return mf::now(); }
};

/// Stands still until it is moved; any thread may move or read it.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return now_.load(); }
  void advance(std::chrono::nanoseconds by) noexcept { now_.store(now_.load() + by); }

 private:
  std::atomic<TimePoint> now_{TimePoint{std::chrono::hours(1)}};
};

/// When a wait of `left` that starts now ends; kNever if that is beyond what time can count.
[[nodiscard]] constexpr TimePoint deadline_after(TimePoint now, std::chrono::nanoseconds left) noexcept {
  return left >= kNever - now ? kNever : now + left;
}

}  // namespace mf
