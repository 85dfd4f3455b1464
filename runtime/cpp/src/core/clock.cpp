#include "mf/core/clock.hpp"

#include <ctime>

namespace mf {

TimePoint rough_now() noexcept {
  if (on_test_time()) return mf::now();
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // the same epoch as steady_clock
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace mf
