#pragma once
// A lock that needs no thread library: the library of codecs must link none, so it has no mutex.

#include <atomic>

namespace mf {

/// Held for short work without calls into the system, by any thread. A thread that waits for it sleeps.
class Flag {
 public:
  [[nodiscard]] bool try_lock() noexcept { return !held_.test_and_set(std::memory_order_acquire); }
  void lock() noexcept {
    while (!try_lock()) held_.wait(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    held_.clear(std::memory_order_release);
    held_.notify_one();
  }

 private:
  std::atomic_flag held_;
};

}  // namespace mf
