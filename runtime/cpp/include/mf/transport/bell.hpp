// A thread sleeps until another one rings for it, or until a time.
//
// It is no std::counting_semaphore, because the timed waits of libstdc++'s look at the semaphore again and
// again, up to 64 ms apart, and sleep in between, if the thread that begins to wait is held up for more than
// 4 us: on a busy machine a thread then hears of everything that late. A thread that waits here sleeps in the
// kernel, which wakes it at once.
//
// One thread waits at a time; any may ring. A ring without a waiting thread ends the next wait, however many
// they were. A ring may still use the address of a bell that is gone, which does no harm: as a rule of the
// kernel, any wait for an address may end for no reason.
#pragma once

#include <atomic>
#include <cstdint>

#include "mf/core/clock.hpp"

namespace mf::transport {

class Bell {
 public:
  Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// A system call only if a thread sleeps.
  void ring() noexcept {
    if (state_.exchange(kRung) == kAsleep) wake();
  }
  /// Sleeps until it is rung; false if the given time of the steady clock comes first.
  [[nodiscard]] bool wait(TimePoint until) noexcept;

 private:
  static constexpr std::uint32_t kQuiet = 0;
  static constexpr std::uint32_t kRung = 1;
  static constexpr std::uint32_t kAsleep = 2;

  void wake() noexcept;

  std::atomic<std::uint32_t> state_{kQuiet};
};

}  // namespace mf::transport
