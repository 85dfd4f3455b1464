// Bounds how many calls run at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "mf/core/interceptor.hpp"

namespace mf::interceptors {

struct LimiterOptions {
  /// How many calls run at once; at least 1.
  std::size_t concurrent = 1;
  /// How many more wait for their turn, first come, first served, until their deadlines. All others are
  /// refused at once as OVERLOADED, not executed.
  std::size_t queued = 0;
  /// The methods that count; empty: all, together.
  std::set<std::string, std::less<>> methods{};
};

/// A batch counts as one call, a stream until it has ended.
///
/// It protects what a client calls, or what handlers of several servers use, as one object may be given to
/// several of them. For the handlers of one server mf::Limit is better: it holds before a thread is taken.
class Limiter final : public AroundInterceptor {
 public:
  /// Throws Error(INVALID_ARGUMENT) if no call could run.
  explicit Limiter(LimiterOptions options);
  ~Limiter() override;

  void begin(InterceptedCall& call) override;
  Answer call(InterceptedCall& call, const Proceed& proceed) override;
  void call_async(InterceptedCall& call, Proceed proceed, AnswerDone done) override;
  void end(const InterceptedCall& call, const CallEnd& end) override;

  /// How many run, and how many wait.
  [[nodiscard]] std::size_t running() const;
  [[nodiscard]] std::size_t waiting() const;

 private:
  class Timer;
  struct Place;
  /// The turns that requests of one call have.
  struct Turns {
    std::size_t taken = 0;
    bool over = false;  // the call has ended: no request of it may take a turn any more
  };

  [[nodiscard]] bool applies(const InterceptedCall& call) const;
  /// Null: the call may run now. Throws OVERLOADED.
  [[nodiscard]] std::shared_ptr<Place> take(const InterceptedCall& call);
  /// False: it has its turn already.
  [[nodiscard]] bool give_up(const std::shared_ptr<Place>& place);
  /// False: the call has ended meanwhile, and the turn has gone to the next.
  [[nodiscard]] bool note_turn(const InterceptedCall& call);
  [[nodiscard]] static Failure late(const InterceptedCall& call);
  void leave();

  const LimiterOptions options_;
  const std::shared_ptr<Timer> timer_;
  mutable std::mutex mutex_;
  std::size_t running_ = 0;
  std::deque<std::shared_ptr<Place>> waiting_;
};

}  // namespace mf::interceptors
