#include "mf/interceptors/limiter.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::interceptors {
namespace {

Failure unwanted() {
  return not_executed(Code::cancelled,
                      "another request of the call was answered before this one had its turn");
}

}  // namespace

/// Where calls that wait without a thread go on, and end at their deadlines.
class Limiter::Timer {
 public:
  transport::Reactor reactor;
};

/// That of a call which waits. Under the lock of the limiter.
struct Limiter::Place {
  bool has_turn = false;
  std::condition_variable changed;  // of a call whose thread waits
  UniqueFunction<void()> go_on;     // of one without a thread
};

Limiter::Limiter(LimiterOptions options) : options_(std::move(options)), timer_(std::make_shared<Timer>()) {
  if (options_.concurrent == 0)
    throw not_executed_error(Code::invalid_argument,
                             "concurrent is 0: at least one call must be able to run");
}

Limiter::~Limiter() = default;

bool Limiter::applies(const InterceptedCall& call) const {
  return options_.methods.empty() || options_.methods.contains(call.method());
}

std::size_t Limiter::running() const {
  const std::scoped_lock lock(mutex_);
  return running_;
}

std::size_t Limiter::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

// The note is made here, as several requests of a call may look for it at once.
void Limiter::begin(InterceptedCall& call) {
  (void)call.note<Turns>(*this);
}

bool Limiter::note_turn(const InterceptedCall& call) {
  {
    const std::scoped_lock lock(mutex_);
    auto& turns = call.note<Turns>(*this);
    if (!turns.over) {
      ++turns.taken;
      return true;
    }
  }
  leave();
  return false;
}

std::shared_ptr<Limiter::Place> Limiter::take(const InterceptedCall& call) {
  const std::scoped_lock lock(mutex_);
  auto& turns = call.note<Turns>(*this);
  if (turns.over) unwanted().raise();
  if (running_ < options_.concurrent && waiting_.empty()) {
    ++running_;
    ++turns.taken;
    return nullptr;
  }
  if (waiting_.size() >= options_.queued)
    throw not_executed_error(Code::overloaded,
                             std::string(call.service()) + "." + std::string(call.method()) + ": at most " +
                                 std::to_string(options_.concurrent) + " calls run at once, and " +
                                 std::to_string(options_.queued) + " wait");
  return waiting_.emplace_back(std::make_shared<Place>());
}

Failure Limiter::late(const InterceptedCall& call) {
  return not_executed(Code::deadline_exceeded,
                      std::string(call.service()) + "." + std::string(call.method()) +
                          ": the deadline passed while the call waited for its turn");
}

bool Limiter::give_up(const std::shared_ptr<Place>& place) {
  const std::scoped_lock lock(mutex_);
  if (place->has_turn) return false;
  std::erase(waiting_, place);
  return true;
}

void Limiter::leave() {
  UniqueFunction<void()> go_on;
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) {
      --running_;
      return;
    }
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    next->has_turn = true;
    next->changed.notify_all();
    go_on = std::exchange(next->go_on, nullptr);
  }
  if (go_on) timer_->reactor.post(std::move(go_on));
}

Answer Limiter::call(InterceptedCall& call, const Proceed& proceed) {
  if (!applies(call)) return proceed();
  if (const auto place = take(call)) {
    {
      const mf::detail::HandlerWait gives_place;
      blocking();
      std::unique_lock lock(mutex_);
      const auto turn = [&] { return place->has_turn; };
      if (call.deadline == kNever) {
        place->changed.wait(lock, turn);
      } else {
        (void)transport::wait_until(place->changed, lock, call.deadline, turn);
      }
    }
    if (give_up(place)) return late(call);
    if (!note_turn(call)) return unwanted();
  }
  return proceed();
}

void Limiter::call_async(InterceptedCall& call, Proceed proceed, AnswerDone done) {
  if (!applies(call)) return proceed.start(std::move(done));
  const auto place = take(call);
  if (!place) return proceed.start(std::move(done));
  struct Waiting {
    InterceptedCall& call;
    Proceed proceed;
    AnswerDone done;
    std::optional<std::stop_callback<std::function<void()>>> unwanted{};
  };
  const auto waiting = std::make_shared<Waiting>(call, std::move(proceed), std::move(done));
  const auto deadline = call.deadline;
  const auto go_on = [this, waiting] {
    if (!note_turn(waiting->call)) return waiting->done(unwanted());
    waiting->proceed.start(std::move(waiting->done));
  };
  {
    const std::scoped_lock lock(mutex_);
    if (place->has_turn) {
      timer_->reactor.post(go_on);
    } else {
      place->go_on = go_on;
    }
  }
  // Neither holds the call: a blocking one waits until all that was started for it is gone.
  const auto end_wait = [this, place = std::weak_ptr(place), waiting = std::weak_ptr(waiting)](auto why) {
    const auto here = place.lock();
    const auto it = waiting.lock();
    if (!here || !it || !give_up(here)) return;
    here->go_on = nullptr;
    it->done(why(it->call));
  };
  if (deadline != kNever) timer_->reactor.at(deadline, [end_wait] { end_wait(&Limiter::late); });
  // In the reactor, as `unwanted` would wait for itself where it is destroyed by what it runs.
  if (const auto& stop = waiting->proceed.stop_token(); stop.stop_possible())
    waiting->unwanted.emplace(stop, [this, end_wait] {
      timer_->reactor.post([end_wait] { end_wait([](const InterceptedCall&) { return unwanted(); }); });
    });
}

void Limiter::end(const InterceptedCall& call, const CallEnd& /*end*/) {
  std::size_t taken = 0;
  {
    const std::scoped_lock lock(mutex_);
    auto& turns = call.note<Turns>(*this);
    turns.over = true;
    taken = std::exchange(turns.taken, 0);
  }
  for (; taken != 0; --taken) leave();
}

}  // namespace mf::interceptors
