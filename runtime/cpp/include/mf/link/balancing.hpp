// Which of several instances gets the next call, and which of them are avoided for a while: pure data and
// rules (decision 0029). Time and random numbers are arguments; there is no socket, no thread, and no lock
// but that of SharedStanding. Python has the same rules and constants in mf.link.balancing, and
// tests/vectors/balancing.json holds both to one table of cases.
//
// Usual      how long a method takes, at whichever instance
// Standing   what is known of one instance. It is trusted, or under suspicion, because
//              nothing was heard for too long while something was awaited: trusted again once anything is;
//              a call missed its deadline, a reply took ten times its usual time, or five in a row said that
//              they could not be run: trusted again once a call, the probe, has ended as usual.
// choose()   of the trusted ones: the better of two drawn at random, by calls in flight for their weights and
//            by how much longer than usual replies take. One of twice the weight is drawn twice as often, and
//            as busy with twice as many calls. Now and then a probe. With nobody to trust: of those that
//            live.
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

/// A reply that takes so many times as long as usual is slow.
inline constexpr double kSlow = 10.0;
/// Shorter times count neither as slow nor as silence.
inline constexpr double kLeast = 0.020;
/// How much of a moving average the latest reply of an instance is, and of a method.
inline constexpr double kWeight = 1.0 / 8;
inline constexpr double kMethodWeight = 1.0 / 16;
/// What a method takes is raised by one reply as if it had taken so many times as long as usual at most.
inline constexpr double kMostRise = 4.0;
/// Instances are compared as if no reply took less: below that it is the noise of the machine.
inline constexpr double kNoise = 0.001;
/// Instances whose costs differ by less are alike: calls in flight decide between them.
inline constexpr double kAlike = 2.0;
/// What is known of the slowness of an instance counts half after so long without a reply.
inline constexpr double kFade = 1.0;
inline constexpr double kMostFactor = 100.0;
/// Between probes; doubling.
inline constexpr double kFirstPause = 0.1;
inline constexpr double kLongestPause = 10.0;
/// How long an instance that comes back gets less than its share, from a tenth on.
inline constexpr double kRamp = 1.0;
inline constexpr double kLeastShare = 0.1;
/// Of an instance; more is taken for that.
inline constexpr std::uint32_t kMostWeight = 65'535;
/// So many replies in a row that say that the call could not be run.
inline constexpr int kFailures = 5;

}  // namespace balancing

using Seconds = std::chrono::duration<double>;

/// Any thread may use it; of two replies at once one may not count.
class Usual {
 public:
  void add(Seconds took) noexcept {
    const auto known = seconds_.load(std::memory_order_relaxed);
    seconds_.store(next(known, took.count()), std::memory_order_relaxed);
  }
  /// 0: not known.
  [[nodiscard]] Seconds get() const noexcept { return Seconds(seconds_.load(std::memory_order_relaxed)); }

 private:
  [[nodiscard]] static double next(double known, double took) noexcept;

  std::atomic<double> seconds_{0.0};
};

/// An instance as choose() sees it.
struct Look {
  bool trusted = true;
  bool alive = true;  // something was heard since it came under suspicion
  bool probe = false;
  std::uint32_t weight = 1;
  double load = 0.0;  // calls in flight for its weight
  double cost = 1.0;
  double share = 1.0;
};

class Standing {
 public:
  /// `heard`: counts what arrives on its connection. `weight`: of the instance; 0 counts as 1.
  [[nodiscard]] Look look(std::uint64_t heard, std::size_t in_flight, TimePoint now,
                          std::uint32_t weight) noexcept;
  /// A call is sent to it that proves whether it is to be trusted. `fraction`: at random, from 0 to 1.
  void probed(TimePoint now, double fraction) noexcept;
  /// A call that was sent then has ended with a result or a declared error. `usual`: of its method.
  void replied(Seconds took, Seconds usual, TimePoint sent, TimePoint now) noexcept;
  /// A call on it has met its deadline.
  void missed(TimePoint now) noexcept;
  /// It has said that it could not run a call.
  void failed(TimePoint now) noexcept;
  /// There is a new connection to it. `again`: in place of one that ended.
  void connected(bool again, TimePoint now) noexcept;

 private:
  void suspect(TimePoint now) noexcept;
  void recover(TimePoint now) noexcept;
  [[nodiscard]] double faded(TimePoint now) const noexcept;

  std::uint64_t heard_ = ~std::uint64_t{0};
  TimePoint quiet_since_{};
  double latency_ = 0.0;  // of all its methods; 0: not known
  double factor_ = 1.0;   // how many times as long as usual it takes
  TimePoint factor_at_{};
  bool trusted_ = true;
  bool silent_ = false;  // it is under suspicion for its silence alone
  bool alive_ = true;
  TimePoint suspected_at_{};
  TimePoint probe_at_{};
  TimePoint trusted_at_ = TimePoint::min();  // again
  TimePoint ramp_from_ = TimePoint::min();
  double pause_ = balancing::kFirstPause;
  int failures_ = 0;
};

/// Of one address, for all who call there.
struct SharedStanding {
  std::mutex mutex;
  Standing standing;
};

/// The index of the one that gets the next call; of at least one and at most 64. `random(n)` gives a number
/// below n. If that one is to be probed, the caller says so by Standing::probed().
[[nodiscard]] std::size_t choose(std::span<const Look> looks,
                                 FunctionRef<std::uint32_t(std::uint32_t)> random);

}  // namespace mf::link
