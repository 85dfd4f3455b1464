// Waits until a time of mf::now(). Without a test clock they are the waits of the standard library.
//
// A thread that waits while a test clock is installed checks it once a millisecond of real time. A thread
// that moves the clock waits until all waits whose time has come have noticed it, so that later events come
// too late for them, however slow the machine is.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "mf/core/clock.hpp"

namespace mf::transport {

/// The interval at which a wait checks a test clock.
inline constexpr std::chrono::milliseconds kLookEvery{1};

/// How long to wait in one step: `wanted`, or a moment if a test clock is installed.
template <class Duration>
[[nodiscard]] Duration slice(Duration wanted) noexcept {
  return on_test_time() && wanted > Duration(kLookEvery) ? Duration(kLookEvery) : wanted;
}

/// Registers a wait with the test clock, if there is one, until the object is destroyed, after the wait has
/// noticed that its time has come.
class TimedWait {
 public:
  explicit TimedWait(TimePoint until) {
    if (on_test_time() && until != kNever) begin(until, nullptr);
  }
  /// For a timer of a loop, whose threads have set `loop` as their own.
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

/// Registers this thread as one that runs the timers of this loop: it cannot wait for them.
void set_own_loop(const void* loop) noexcept;

/// The time of the earliest wait that ends after `after`; `with_timers` includes timers of loops.
[[nodiscard]] std::optional<TimePoint> next_wait(TimePoint after, bool with_timers);
/// Waits until no other thread waits whose time has come; at most for some seconds, since such a thread may
/// need a lock that the caller holds.
void await_noticed(TimePoint now);

/// `changed` is a std::condition_variable or std::condition_variable_any; false if the time comes first.
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
/// The same, which a stop request ends, too.
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
