// Decides which of several instances gets the next call, and which are avoided for a while: pure data and
// rules (decision 0029). Time and random numbers are arguments; there is no socket, no thread, and no lock
// except that of SharedStanding. mf.link.balancing has the same rules and constants for Python, and
// tests/vectors/balancing.json checks both against one table of cases.
//
// Usual      how long a method usually takes, across all instances
// Standing   what is known about one instance. It is trusted, or suspected because either
//              nothing arrived for too long while a reply was awaited: trusted again when anything arrives;
//              or a call missed its deadline, a reply took ten times its usual time, or five replies in a row
//              said that the call could not run: trusted again after a call, the probe, ended as usual.
// choose()   draws two trusted instances at random and takes the better one, by calls in flight per weight
//            and by how much longer than usual replies take. An instance of twice the weight is drawn twice
//            as often, and counts as equally busy with twice as many calls. Now and then it takes a probe. If
//            no instance is trusted, it chooses among those that are alive.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "mf/core/clock.hpp"
#include "mf/core/function_ref.hpp"

namespace mf::link {

namespace balancing {

/// A reply that takes this many times the usual time is slow.
inline constexpr double kSlow = 10.0;
/// Shorter times in seconds count neither as slow nor as silence.
inline constexpr double kLeast = 0.020;
/// The weight of the latest reply in the moving average of an instance, and in that of a method.
inline constexpr double kWeight = 1.0 / 8;
inline constexpr double kMethodWeight = 1.0 / 16;
/// One reply changes a method's usual time as if it had taken at most this many times the usual time.
inline constexpr double kMostRise = 4.0;
/// Shorter times in seconds count as this one when instances are compared: they are noise of the machine.
inline constexpr double kNoise = 0.001;
/// Costs of instances that differ by less than this factor count as equal: calls in flight decide then.
inline constexpr double kAlike = 2.0;
/// The half-life in seconds of what is known about an instance's slowness while it sends no replies.
inline constexpr double kFade = 1.0;
inline constexpr double kMostFactor = 100.0;
/// The pause between probes in seconds; it doubles.
inline constexpr double kFirstPause = 0.1;
inline constexpr double kLongestPause = 10.0;
/// How many seconds an instance that returns gets less than its share, starting with a tenth.
inline constexpr double kRamp = 1.0;
inline constexpr double kLeastShare = 0.1;
/// The largest weight of an instance; larger ones count as this.
inline constexpr std::uint32_t kMostWeight = 65'535;
/// This many replies in a row that say that the call could not run make an instance suspected.
inline constexpr int kFailures = 5;

}  // namespace balancing

using Seconds = std::chrono::duration<double>;

/// Thread-safe; of two simultaneous replies one may be ignored.
class Usual {
 public:
  void add(Seconds took) noexcept {
    const auto known = seconds_.load(std::memory_order_relaxed);
    seconds_.store(next(known, took.count()), std::memory_order_relaxed);
  }
  /// 0 if it is not known.
  [[nodiscard]] Seconds get() const noexcept { return Seconds(seconds_.load(std::memory_order_relaxed)); }

 private:
  [[nodiscard]] static double next(double known, double took) noexcept;

  std::atomic<double> seconds_{0.0};
};

/// The data about an instance that choose() needs.
struct Look {
  bool trusted = true;
  bool alive = true;  // something arrived since it became suspected
  bool probe = false;
  std::uint32_t weight = 1;
  double load = 0.0;  // calls in flight divided by its weight
  double cost = 1.0;
  double share = 1.0;
};

class Standing {
 public:
  /// `heard`: a counter of what arrives on its connection. `weight`: that of the instance; 0 counts as 1.
  [[nodiscard]] Look look(std::uint64_t heard, std::size_t in_flight, TimePoint now,
                          std::uint32_t weight) noexcept;
  /// A call is sent to it as a probe. `fraction`: random, from 0 to 1.
  void probed(TimePoint now, double fraction) noexcept;
  /// A call sent at `sent` ended with a result or a declared error. `usual`: the usual time of its method.
  void replied(Seconds took, Seconds usual, TimePoint sent, TimePoint now) noexcept;
  /// A call missed its deadline.
  void missed(TimePoint now) noexcept;
  /// The instance said that it could not run a call.
  void failed(TimePoint now) noexcept;
  /// A new connection was made. `again`: it replaces one that ended.
  void connected(bool again, TimePoint now) noexcept;

 private:
  void suspect(TimePoint now) noexcept;
  void recover(TimePoint now) noexcept;
  [[nodiscard]] double faded(TimePoint now) const noexcept;

  std::uint64_t heard_ = ~std::uint64_t{0};
  TimePoint quiet_since_{};
  double latency_ = 0.0;  // of all its methods; 0: not known
  double factor_ = 1.0;   // its times divided by the usual ones
  TimePoint factor_at_{};
  bool trusted_ = true;
  bool silent_ = false;  // suspected only because of silence
  bool alive_ = true;
  TimePoint suspected_at_{};
  TimePoint probe_at_{};
  TimePoint trusted_at_ = (TimePoint::min)();  // since when it has been trusted again
  TimePoint ramp_from_ = (TimePoint::min)();
  double pause_ = balancing::kFirstPause;
  int failures_ = 0;
};

/// The standing of one address, shared by all callers in the process.
struct SharedStanding {
  std::mutex mutex;
  Standing standing;
};

/// The index of the instance that gets the next call; `looks` has 1 to 64 elements. `random(n)` returns a
/// number below n. If the call is a probe, the caller must call Standing::probed().
[[nodiscard]] std::size_t choose(std::span<const Look> looks,
                                 FunctionRef<std::uint32_t(std::uint32_t)> random);

}  // namespace mf::link
