// The time to wait before the next attempt: uniformly random below a limit that doubles from 50 ms to 2 s (or
// another maximum), so that a thousand clients do not reconnect at the same moment.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace mf::link {

class Backoff {
 public:
  explicit Backoff(std::uint64_t seed,
                   std::chrono::milliseconds longest = std::chrono::milliseconds(2'000)) noexcept
      : state_(seed | 1U), longest_(longest) {}

  /// The pause after another failure: uniformly between 10 ms and the current limit.
  std::chrono::milliseconds next() noexcept {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    const auto span = static_cast<std::uint64_t>(ceiling_.count() - 10);
    const auto pause = std::chrono::milliseconds(10 + static_cast<std::int64_t>(state_ % span));
    ceiling_ = (std::min)(ceiling_ * 2, longest_);
    return pause;
  }

  void reset() noexcept { ceiling_ = std::chrono::milliseconds(50); }

 private:
  std::uint64_t state_;
  std::chrono::milliseconds longest_;
  std::chrono::milliseconds ceiling_{50};
};

}  // namespace mf::link
