// Waiting until a time by mf::now(). Without a test's clock these are the waits of the standard library.
//
// A thread that waits while a test's clock is installed looks at it once a millisecond of real time. Whoever
// moves the clock waits until all whose time has come have noticed: what happens behind that moment comes
// too late for them, on however slow a machine.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "mf/core/clock.hpp"

namespace mf::transport {

/// How long a wait lasts before it looks at a test's clock.
inline constexpr std::chrono::milliseconds kLookEvery{1};

/// How long to wait in one go: `wanted`, or a moment if a test's clock is installed.
template <class Duration>
[[nodiscard]] Duration slice(Duration wanted) noexcept {
  return on_test_time() && wanted > Duration(kLookEvery) ? Duration(kLookEvery) : wanted;
}

/// That somebody waits until a time, told to a test's clock; nothing without one. It ends when the waiting
/// has ended: then it was noticed.
class TimedWait {
 public:
  explicit TimedWait(TimePoint until) {
    if (on_test_time() && until != kNever) begin(until, nullptr);
  }
  /// Of a timer that a loop runs, on threads whose `own_loop` is this.
  TimedWait(TimePoint until, const void* loop) {
    if (on_test_time() && until != kNever) begin(until, loop);
  }
  ~TimedWait() {
    if (id_ != 0) end();
  }
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

 private:
  void begin(TimePoint until, const void* loop);
  void end() noexcept;

  std::uint64_t id_ = 0;
};

/// Says that timers of this loop run on this thread: it cannot wait for them.
void set_own_loop(const void* loop) noexcept;

/// The time of the earliest wait that ends behind `after`, timers of loops included or not.
[[nodiscard]] std::optional<TimePoint> next_wait(TimePoint after, bool with_timers);
/// Waits until nobody waits any more whose time has come, except for this thread; at most for some seconds,
/// since the waiting may need a lock that the caller holds.
void await_noticed(TimePoint now);

/// `changed` is a std::condition_variable, or one of the kind _any; false: the time came first.
template <class Condition, class Lock, class Done>
bool wait_until(Condition& changed, Lock& lock, TimePoint until, Done done) {
  if (!on_test_time()) return changed.wait_until(lock, until, done);
  const TimedWait wait(until);
  while (!done()) {
    if (now() >= until) return done();
    changed.wait_for(lock, kLookEvery);
  }
  return true;
}
/// The same, which a wish to stop ends, too.
template <class Condition, class Lock, class Done>
bool wait_until(Condition& changed, Lock& lock, const std::stop_token& stop, TimePoint until, Done done) {
  if (!on_test_time()) return changed.wait_until(lock, stop, until, done);
  const TimedWait wait(until);
  while (!done()) {
    if (stop.stop_requested() || now() >= until) return done();
    changed.wait_for(lock, stop, kLookEvery, done);
  }
  return true;
}

}  // namespace mf::transport
