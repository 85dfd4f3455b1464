// Many calls at once over a peer that has callbacks.
#pragma once

#include <atomic>
#include <cstdint>
#include <semaphore>

#include "rpc/commands.hpp"

namespace bench_rpc {

/// Keeps a fixed number of calls under way: each completion starts the next. `begin(i, done)` starts the
/// i-th, which calls done(answer); `expected(i)` is its answer.
template <class Begin, class Expected>
class Pipeline {
 public:
  Pipeline(std::size_t count, std::size_t outstanding, Begin begin, Expected expected)
      : count_(count), outstanding_(outstanding), begin_(begin), expected_(expected) {}

  void run() {
    for (std::size_t i = 0; i < std::min(outstanding_, count_); ++i) start_next();
    done_.acquire();
  }

 private:
  void start_next() {
    const auto i = started_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count_) return;
    begin_(i, [this, i](std::int32_t answer) {
      check(answer == expected_(i), "a wrong answer");
      start_next();
      if (ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) done_.release();
    });
  }

  const std::size_t count_;
  const std::size_t outstanding_;
  const Begin begin_;
  const Expected expected_;
  std::atomic<std::size_t> started_{0};
  std::atomic<std::size_t> ended_{0};
  std::binary_semaphore done_{0};
};

template <class Begin, class Expected>
[[nodiscard]] Metrics pipeline(std::size_t count, std::size_t outstanding, Begin begin, Expected expected) {
  Pipeline<Begin, Expected> calls(count, outstanding, begin, expected);
  return all_at_once(count, [&] { calls.run(); });
}

}  // namespace bench_rpc
