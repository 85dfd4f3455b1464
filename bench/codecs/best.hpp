#pragma once
// Times of work that takes less than a millisecond.

#include <algorithm>
#include <chrono>

namespace bench_codecs {

/// The minimum of many rounds, in nanoseconds.
template <class Work>
double best(const Work& work, int times = 500) {
  constexpr int kRounds = 40;
  double least = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count() / times);
  }
  return least;
}

}  // namespace bench_codecs
