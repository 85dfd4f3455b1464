// How the calls of methods have ended, and after which time, for the metrics of a server or a client.
// Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/monitor/exposition.hpp"

namespace mf::monitor {

/// Those of one method, of all its agents.
class Tally {
 public:
  static constexpr std::size_t kCodes = kLastCode + 1;
  // The first bound is 2^10 ns, each other one twice the bound before; the last is 2^37 ns, 137 s.
  static constexpr std::size_t kBuckets = 28;
  static constexpr int kFirstBits = 10;

  /// The seconds that the observations of a bucket took at most.
  [[nodiscard]] static double bound(std::size_t bucket) noexcept {
    return static_cast<double>(std::uint64_t{1} << (bucket + kFirstBits)) / 1e9;
  }

  /// So many calls have ended.
  void ended(Code how, std::uint32_t calls) noexcept {
    calls_[static_cast<std::size_t>(how)].fetch_add(calls, std::memory_order_relaxed);
  }
  /// A message, or a call of a client, was answered.
  void answered(std::chrono::nanoseconds after) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(after.count(), 1));
    const auto bits = std::size_t{0} + std::bit_width(ns - 1);
    const auto bucket = bits <= kFirstBits ? 0 : (std::min)(bits - kFirstBits, kBuckets);
    took_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(ns, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t calls(Code how) const noexcept {
    return calls_[static_cast<std::size_t>(how)].load(std::memory_order_relaxed);
  }
  /// Of the bucket `kBuckets`: those that took longer than all bounds.
  [[nodiscard]] std::uint64_t took(std::size_t bucket) const noexcept {
    return took_[bucket].load(std::memory_order_relaxed);
  }
  [[nodiscard]] double seconds() const noexcept {
    return static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1e9;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kCodes> calls_{};
  std::array<std::atomic<std::uint64_t>, kBuckets + 1> took_{};
  std::atomic<std::uint64_t> sum_ns_{0};
};

/// Those of all methods of a server or a client. What of() returns lives as long as this.
class Tallies {
 public:
  [[nodiscard]] Tally* of(std::string_view service, std::string_view method) {
    const std::scoped_lock lock(mutex_);
    auto& made = by_method_[{std::string(service), std::string(method)}];
    if (!made) made = std::make_unique<Tally>();
    return made.get();
  }

  /// `look(service, method, tally)`
  template <class Look>
  void each(Look&& look) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [method, tally] : by_method_) look(method.first, method.second, *tally);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Tally>> by_method_;
};

/// How a server or a client names its metrics of calls.
struct CallFamilies {
  std::string_view calls;
  std::string_view calls_help;
  std::string_view duration;
  std::string_view duration_help;
};

/// Writes how the calls of each method have ended, and how long they took.
void expose_calls(const Tallies& tallies, const CallFamilies& names, Exposition& out);

}  // namespace mf::monitor
