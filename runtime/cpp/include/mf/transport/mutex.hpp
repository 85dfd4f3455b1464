// A mutex whose lock() and unlock() are one instruction each, and no function call, as long as no other
// thread wants it: a call of the runtime passes about ten of them, and those of the C library cost it some
// 600 instructions. Threads that have to wait sleep in the kernel.
//
// std::scoped_lock, std::unique_lock and std::condition_variable_any take it; std::condition_variable does
// not. It is not recursive. An unlock() may still use the address of a mutex that another thread has locked
// and destroyed meanwhile, which does no harm: see bell.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace mf::transport {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait_and_lock();
  }
  [[nodiscard]] bool try_lock() noexcept {
    auto state = kFree;
    return state_.compare_exchange_strong(state, kLocked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      wake();
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kAwaited = 2;  // locked, and another thread may sleep

  [[gnu::cold]] void wait_and_lock() noexcept;
  [[gnu::cold]] void wake() noexcept;

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace mf::transport
