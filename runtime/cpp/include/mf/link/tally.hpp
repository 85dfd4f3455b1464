#pragma once
// A number to which one thread at a time adds, and from which any thread takes: adding needs no locked
// instruction, which a server's connection would need for each request.
//
// What was added is visible to a thread that takes it, by whatever passed it to that thread. All others see a
// number that was right a moment ago; it is never negative.

#include <atomic>
#include <cstddef>

namespace mf::link {

class Tally {
 public:
  /// By one thread at a time.
  void add(std::size_t count) noexcept {
    added_.store(added_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }
  void take(std::size_t count) noexcept { taken_.fetch_add(count); }
  [[nodiscard]] std::size_t now() const noexcept {
    const auto taken = taken_.load();
    return added_.load(std::memory_order_acquire) - taken;
  }

 private:
  std::atomic<std::size_t> added_{0};
  std::atomic<std::size_t> taken_{0};
};

}  // namespace mf::link
