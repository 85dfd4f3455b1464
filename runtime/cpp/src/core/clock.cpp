#include "mf/core/clock.hpp"

#include <ctime>

namespace mf {

TimePoint rough_now() noexcept {
  if (on_test_time()) return mf::now();
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // the same epoch as steady_clock
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

std::chrono::system_clock::time_point time_of_day() noexcept {
  const auto real = std::chrono::system_clock::now();
  if (!on_test_time()) return real;
  const auto ahead = mf::now() - std::chrono::steady_clock::now();
  return real + std::chrono::duration_cast<std::chrono::system_clock::duration>(ahead);
}

}  // namespace mf
