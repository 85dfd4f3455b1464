#include "mf/transport/bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace mf::transport {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the kernel looks at the value");

/// Sleeps while `place` has this value, or for no reason shorter; false if the time has come.
bool sleep(const std::atomic<std::uint32_t>& place, std::uint32_t value, TimePoint until) noexcept {
  timespec time{};
  if (until != kNever) {
    const auto since = std::max(until.time_since_epoch(), TimePoint::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    time.tv_sec = seconds.count();
    time.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since - seconds).count());
  }
  // FUTEX_WAIT_BITSET takes the time itself, by the clock of std::chrono::steady_clock.
  const auto slept = ::syscall(SYS_futex, &place, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
                               until == kNever ? nullptr : &time, nullptr, FUTEX_BITSET_MATCH_ANY);
  return slept == 0 || errno != ETIMEDOUT;
}

}  // namespace

bool Bell::wait(TimePoint until) noexcept {
  for (;;) {
    auto state = kQuiet;
    if (!state_.compare_exchange_strong(state, kAsleep) && state == kRung) {
      (void)state_.exchange(kQuiet);  // what was done before any ring is seen from now on
      return true;
    }
    if (!sleep(state_, kAsleep, until)) return state_.exchange(kQuiet) == kRung;
  }
}

void Bell::wake() noexcept {
  (void)::syscall(SYS_futex, &state_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

}  // namespace mf::transport
