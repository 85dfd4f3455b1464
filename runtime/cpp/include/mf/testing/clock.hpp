// A clock that moves only when a test moves it. While it exists, it is the time of the whole runtime:
// deadlines, ages of cached values, back-off, pings, time limits of connections, the time at which tokens
// expire.
//
//   // The clock is made before clients and servers, and lives longer than they do.
//   mf::testing::FakeClock clock;
//   auto answer = shop.async_buy("tea", mf::use_future);
//   // Every wait that is limited to 30 seconds or less ends now. clock.advance(std::chrono::seconds(30));
//
// advance() goes from one moment at which a wait ends to the next, and lets each be noticed before it goes
// on. A real wait lasts about a millisecond until it looks at the clock. Connecting over a real network takes
// real time.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "mf/core/clock.hpp"

namespace mf::testing {

class FakeClock final : public Clock {
 public:
  /// Starts with the time that it is. Throws Error(INVALID_ARGUMENT) while there is another one.
  FakeClock();
  ~FakeClock() override;
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;

  [[nodiscard]] TimePoint now() const noexcept override { return mf::now(); }

  /// Throws Error(INVALID_ARGUMENT) for a step backwards. From any thread, also in a handler.
  void advance(std::chrono::nanoseconds by);

  /// How long until the next wait ends by itself; none: there is no wait with a limit.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> next_wait() const;
};

namespace detail {
/// Advances the installed clock, and stops early once `enough` returns true. Throws Error(INVALID_ARGUMENT)
/// if no clock is installed.
void advance_installed(std::chrono::nanoseconds by, const std::function<bool()>& enough = {});
}  // namespace detail

}  // namespace mf::testing
