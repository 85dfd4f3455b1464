#pragma once
// Monotonic time, passed in: whoever needs the time is given a Clock, so that tests decide what time it is.
// The wall clock is never used for a deadline.

#include <atomic>
#include <chrono>

namespace mf {

using TimePoint = std::chrono::steady_clock::time_point;

/// "Never": the deadline of a call that has none.
inline constexpr TimePoint kNever = TimePoint::max();

/// The steady clock, some milliseconds behind and four times as quick to read.
[[nodiscard]] TimePoint rough_now() noexcept;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
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
