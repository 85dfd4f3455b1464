// A clock that stands still until a test moves it, and that is all of the runtime's time while it lives:
// deadlines, the age of what is cached, back-off, pings, time limits of connections.
//
//   mf::testing::FakeClock clock;                   before clients and servers are made, and until they are
//   gone auto answer = shop.async_buy("tea", mf::use_future); clock.advance(std::chrono::seconds(30));
//   whoever has waited for so long gives up now
//
// advance() goes from one moment at which something ends to the next, and lets each be noticed before it goes
// on: what a test, a handler or a fault does behind it comes too late for them. A real wait lasts about a
// millisecond until it looks at the clock. Connecting over a real network takes real time.
#pragma once

#include <chrono>
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

  /// How long until the next wait ends by itself; none: nobody waits with a limit.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> next_wait() const;
};

namespace detail {
/// Of the clock that is installed; throws Error(INVALID_ARGUMENT) that says what needs one.
void advance_installed(std::chrono::nanoseconds by);
}  // namespace detail

}  // namespace mf::testing
