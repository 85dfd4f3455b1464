#include "mf/interceptors/hedging.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::interceptors {
namespace {

/// Whether another server may answer; anything else is an answer.
bool may_be_answered_elsewhere(const Answer& answer) noexcept {
  return !answer.ok() && (may_go_elsewhere(answer.failure().code) || is_lost(answer.failure().code));
}

}  // namespace

class Hedging::Timer {
 public:
  transport::Reactor reactor;
};

/// The requests of one call. Any thread.
class Hedging::Race : public std::enable_shared_from_this<Race> {
 public:
  Race(const HedgingOptions& options, std::shared_ptr<Timer> timer, Proceed proceed, TimePoint deadline,
       AnswerDone done)
      : options_(options),
        timer_(std::move(timer)),
        proceed_(std::move(proceed)),
        deadline_(deadline),
        done_(std::move(done)) {}

  /// Makes the next request, if another one may be made.
  void next() {
    {
      const std::scoped_lock lock(mutex_);
      if (over_ || !may_begin()) return;
      ++begun_;
      ++starting_;
    }
    proceed_.start(
        AnswerDone([self = shared_from_this()](Answer&& answer) { self->ended(std::move(answer)); }),
        stop_.get_token());
    bool more = false;
    {
      const std::scoped_lock lock(mutex_);
      --starting_;
      more = !over_ && may_begin();
      started_.notify_all();
    }
    if (more)
      timer_->reactor.at(mf::now() + options_.after, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->next();
      });
  }
  /// Once it is over: waits until no request is being made any more.
  void wait_until_started() {
    std::unique_lock lock(mutex_);
    started_.wait(lock, [this] { return starting_ == 0; });
  }

 private:
  /// Under the lock.
  [[nodiscard]] bool may_begin() const {
    return begun_ == 0 || (begun_ < options_.most && mf::now() < deadline_);
  }
  void ended(Answer&& answer) {
    bool again = false;
    {
      const std::scoped_lock lock(mutex_);
      if (over_) return;
      if (may_be_answered_elsewhere(answer)) {
        ++failed_;
        if (!first_failure_) first_failure_ = std::move(answer);
        again = may_begin();
        if (!again && failed_ < begun_) return;
        if (!again) answer = *std::exchange(first_failure_, std::nullopt);
      }
      over_ = !again;
    }
    if (again) return next();
    stop_.request_stop();
    done_(std::move(answer));
  }

  const HedgingOptions options_;
  const std::shared_ptr<Timer> timer_;
  const Proceed proceed_;
  const TimePoint deadline_;
  std::stop_source stop_;
  std::mutex mutex_;  // all below, but for done_, which only the end uses
  std::condition_variable started_;
  std::size_t begun_ = 0;
  std::size_t failed_ = 0;
  std::size_t starting_ = 0;
  bool over_ = false;
  std::optional<Answer> first_failure_;
  AnswerDone done_;
};

Hedging::Hedging(HedgingOptions options) : options_(options), timer_(std::make_shared<Timer>()) {
  if (options_.most < 2)
    throw not_executed_error(Code::invalid_argument, "most is " + std::to_string(options_.most) +
                                                         ": two requests at least, or nothing is hedged");
  if (options_.after < std::chrono::nanoseconds::zero())
    throw not_executed_error(Code::invalid_argument,
                             "after is negative: give the time until the next request");
}

Hedging::~Hedging() = default;

bool Hedging::is_hedged(const InterceptedCall& call) noexcept {
  return call.is_client() && call.kind() == CallKind::call && call.info().idempotent && !call.info().oneway;
}

Answer Hedging::call(InterceptedCall& call, const Proceed& proceed) {
  if (!is_hedged(call) || !proceed.may_wait()) return proceed();
  const mf::detail::HandlerWait wait;
  if (wait.refused()) return wait.refusal(Execution::not_executed);
  blocking();
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Answer> answered;
  const auto race =
      std::make_shared<Race>(options_, timer_, proceed, call.deadline, AnswerDone([&](Answer&& answer) {
                               const std::scoped_lock lock(mutex);
                               answered = std::move(answer);
                               changed.notify_all();
                             }));
  race->next();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return answered.has_value(); });  // each request ends at its deadline
  lock.unlock();
  race->wait_until_started();
  return *std::move(answered);
}

void Hedging::call_async(InterceptedCall& call, Proceed proceed, AnswerDone done) {
  if (!is_hedged(call)) return proceed.start(std::move(done));
  std::make_shared<Race>(options_, timer_, std::move(proceed), call.deadline, std::move(done))->next();
}

}  // namespace mf::interceptors
