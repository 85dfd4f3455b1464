// Hedged calls: a second request where the first one is slow, and the first answer counts.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "mf/core/interceptor.hpp"

namespace mf::interceptors {

struct HedgingOptions {
  /// The next request is made when there is no answer after this time. Choose about the 95th percentile, so
  /// that one call in twenty is made twice.
  std::chrono::nanoseconds after = std::chrono::milliseconds(50);
  /// Requests under way at most; at least 2.
  std::size_t most = 2;
};

/// Of a client. A lone call of an `@idempotent` method that has no answer in time is made once more, and
/// again until `most` requests are under way; the first answer counts, also a declared error. A request that
/// fails otherwise makes the next one at once; when all have failed, the call fails with what the first one
/// has failed with. Other methods, batches and streams are called as they are.
///
/// Each request is a call of its own to the server, which may run all of them: use it for short reads whose
/// slowest calls matter. Requests that are not needed any more are cancelled. In light it does nothing, as
/// handlers run on the caller's thread. All its waits are on one thread of its own.
class Hedging final : public AroundInterceptor {
 public:
  /// Throws Error(INVALID_ARGUMENT) for options with which nothing would be hedged.
  explicit Hedging(HedgingOptions options = {});
  ~Hedging() override;

  Answer call(InterceptedCall& call, const Proceed& proceed) override;
  void call_async(InterceptedCall& call, Proceed proceed, AnswerDone done) override;

 private:
  class Race;
  class Timer;

  [[nodiscard]] static bool is_hedged(const InterceptedCall& call) noexcept;

  const HedgingOptions options_;
  const std::shared_ptr<Timer> timer_;
};

}  // namespace mf::interceptors
