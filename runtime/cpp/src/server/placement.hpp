// Decides where the handler of a method runs, by how long it has taken so far.
//
// A method starts on the workers. After 32 quick runs in a row it is promoted: it runs where its requests are
// read. A slow run demotes it, and each demotion doubles the number of quick runs for the next promotion, up
// to a maximum. A run that announces a wait (mf::blocking(), or a blocking call) counts as slow, however long
// it took. One turn of a connection runs handlers where they were read for no longer than a slow run takes:
// the rest goes to the workers.
//
// Runs of one method end on several threads at the same time, in any order, so that only this is exact: only
// the demoting thread doubles, and a promotion needs the required number of quick runs. A quick run of a
// promoted method writes nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mf::server {

class Placement {
 public:
  static constexpr std::uint32_t kRunsAtFirst = 32;
  static constexpr std::uint32_t kRunsAtMost = 1U << 20U;
  static constexpr std::chrono::nanoseconds kQuick = std::chrono::microseconds(50);
  static constexpr std::chrono::nanoseconds kSlow = std::chrono::milliseconds(1);
  /// Requests with more bytes or items do not run where they are read, and their times are not counted.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
  static constexpr std::size_t kMostItems = kSlow / kQuick;

  [[nodiscard]] static constexpr bool measures(std::size_t bytes, std::size_t items) noexcept {
    return bytes <= kMostBytes && items <= kMostItems;
  }

  /// Whether it runs where its requests are read.
  [[nodiscard]] bool promoted() const noexcept { return promoted_.load(std::memory_order_relaxed); }

  /// A message was run where it was read.
  void ran_here(std::chrono::nanoseconds took) noexcept {
    if (took > kSlow) waited();
  }
  /// A message of `items` items was run on a worker. For a promoted method this is ignored, since the workers
  /// are busy when they get its calls.
  void ran_on_worker(std::chrono::nanoseconds took, std::size_t items) noexcept {
    if (promoted()) return;
    if (took >= kQuick * items) {
      quick_.store(0, std::memory_order_relaxed);
    } else if (quick_.fetch_add(1, std::memory_order_relaxed) + 1 ==
               needed_.load(std::memory_order_relaxed)) {
      promoted_.store(true, std::memory_order_relaxed);
    }
  }
  /// A run waits, or has waited.
  void waited() noexcept {
    quick_.store(0, std::memory_order_relaxed);
    if (!promoted_.exchange(false, std::memory_order_relaxed)) return;
    const auto needed = needed_.load(std::memory_order_relaxed);
    if (needed < kRunsAtMost) needed_.store(needed * 2, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> promoted_{false};
  std::atomic<std::uint32_t> quick_{0};  // runs in a row, since the latest demotion or slow run
  std::atomic<std::uint32_t> needed_{kRunsAtFirst};
};

}  // namespace mf::server
