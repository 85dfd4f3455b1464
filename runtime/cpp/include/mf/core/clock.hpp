#pragma once
// Monotonic time. Deadlines never use the time of day, and only what says a date itself does, such as a token
// that expires.
//
// The whole runtime uses mf::now(), and waits by it (mf/transport/waiting.hpp): a test can install its own
// clock (mf/testing/clock.hpp). Operations of the kernel, such as connecting over a network, take real time.

#include <atomic>
#include <chrono>

namespace mf {

using TimePoint = std::chrono::steady_clock::time_point;

/// "Never": the deadline of a call that has none.
inline constexpr TimePoint kNever = (TimePoint::max)();

namespace detail {
/// The time of the installed test clock, in ticks; 0: none is installed.
inline constinit std::atomic<TimePoint::rep> test_time{0};
}  // namespace detail

/// Whether a test clock is installed.
[[nodiscard]] inline bool on_test_time() noexcept {
  return detail::test_time.load(std::memory_order_relaxed) != 0;
}

/// The steady clock, or the test clock.
[[nodiscard]] inline TimePoint now() noexcept {
  if (const auto ticks = detail::test_time.load(std::memory_order_acquire); ticks != 0) [[unlikely]]
    return TimePoint(TimePoint::duration(ticks));
  return std::chrono::steady_clock::now();
}

/// The time of day. A test clock moves it, too.
[[nodiscard]] std::chrono::system_clock::time_point time_of_day() noexcept;

/// now(), some milliseconds late and four times as fast to read.
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

/// A clock that moves only when a test moves it; any thread may move or read it.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return now_.load(); }
  void advance(std::chrono::nanoseconds by) noexcept { now_.store(now_.load() + by); }

 private:
  std::atomic<TimePoint> now_{TimePoint{std::chrono::hours(1)}};
};

/// When a wait of `left` that starts now ends; kNever if that cannot be represented.
[[nodiscard]] constexpr TimePoint deadline_after(TimePoint now, std::chrono::nanoseconds left) noexcept {
  return left >= kNever - now ? kNever : now + left;
}

}  // namespace mf
