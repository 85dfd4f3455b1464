#include "mf/transport/mutex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mf::transport {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the kernel looks at the value");

// The thread that gets the mutex here leaves it awaited, since others may still sleep.
void Mutex::wait_and_lock() noexcept {
  while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
    (void)::syscall(SYS_futex, &state_, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, kAwaited, nullptr, nullptr, 0);
  }
}

void Mutex::wake() noexcept {
  (void)::syscall(SYS_futex, &state_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

}  // namespace mf::transport
