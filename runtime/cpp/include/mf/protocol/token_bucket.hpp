#pragma once
// Limits the rate of events: `burst` at once, and then `per_second`. It has no clock: the time is an
// argument.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "mf/core/clock.hpp"

namespace mf::protocol {

class TokenBucket {
 public:
  TokenBucket(std::uint32_t burst, std::uint32_t per_second) noexcept
      : burst_(burst), per_second_(per_second), tokens_(burst) {}

  /// True if one more event may happen now; it is counted.
  [[nodiscard]] bool take(TimePoint now) noexcept {
    if (tokens_ == 0) refill(now);
    if (tokens_ == 0) return false;
    if (tokens_ == burst_) since_ = now;
    --tokens_;
    return true;
  }

 private:
  void refill(TimePoint now) noexcept {
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - since_).count();
    const auto more = std::max<std::int64_t>(passed, 0) * per_second_ / 1'000'000;
    if (more == 0) return;
    tokens_ = static_cast<std::uint32_t>(std::min<std::int64_t>(more, burst_));
    since_ = now;
  }

  std::uint32_t burst_;
  std::uint32_t per_second_;
  std::uint32_t tokens_;
  TimePoint since_{};  // tokens were added up to this time
};

}  // namespace mf::protocol
