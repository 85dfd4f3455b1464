#include "mf/core/intercepting.hpp"

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "mf/core/blocking.hpp"
#include "mf/core/handler.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/core/options.hpp"

namespace mf {

namespace detail {

constinit thread_local const InterceptorList* inside_interceptors = nullptr;

Failure wrong_type_of_answer() {
  return may_have_run(Code::internal, "an interceptor has answered with a value of another type");
}

}  // namespace detail

const char* name(CallKind kind) noexcept {
  switch (kind) {
    case CallKind::call:
      return "CALL";
    case CallKind::batch:
      return "BATCH";
    case CallKind::bulk:
      return "BULK";
    case CallKind::scattered:
      return "SCATTERED";
    case CallKind::stream:
      return "STREAM";
    case CallKind::replicated:
      return "REPLICATED";
  }
  return "CALL";
}

struct InterceptedCall::Lasting {
  std::string agent;
  std::string peer;
  Identity identity;
  CallInfo served;
};

InterceptedCall::~InterceptedCall() = default;

std::chrono::nanoseconds InterceptedCall::deadline_left() const noexcept {
  return deadline == kNever ? kInfinite : deadline - mf::now();
}

void* InterceptedCall::find_note(const Interceptor& of) const noexcept {
  for (const auto& [key, note] : notes_) {
    if (key == &of) return note.get();
  }
  return nullptr;
}

std::size_t CallEnd::failed_items() const noexcept {
  std::size_t failed = 0;
  for (std::size_t item = 0; outcomes != nullptr && item < outcomes->size(); ++item) {
    if (outcomes->failure(item) != nullptr) ++failed;
  }
  return failed;
}

Interceptor::~Interceptor() = default;

void Interceptor::begin(InterceptedCall& /*call*/) {}

void Interceptor::end(const InterceptedCall& /*call*/, const CallEnd& /*end*/) {}

AnswerDone::~AnswerDone() {
  if (auto function = std::exchange(function_, nullptr))
    function(may_have_run(Code::internal, "an interceptor gave up the call without answering it"), true);
}

Answer Proceed::operator()() const {
  return onward_->run_from(at_, onward_);
}

void Proceed::start(AnswerDone done, const std::stop_token& stop) const {
  if (!stop.stop_possible()) return onward_->start_from(at_, onward_, std::move(done), stop_);
  if (!stop_.stop_possible()) return onward_->start_from(at_, onward_, std::move(done), stop);
  const auto either = std::make_shared<detail::EitherStop>(stop, stop_);
  onward_->start_from(at_, onward_, AnswerDone([either, done = std::move(done)](Answer&& answer) mutable {
                        done(std::move(answer));
                      }),
                      either->token());
}

bool Proceed::may_wait() const {
  return onward_->may_wait();
}

namespace detail {

InterceptorList::InterceptorList(Interceptors given, Log log) : all_(std::move(given)), log_(std::move(log)) {
  for (const auto& each : all_) {
    if (!each) throw Error(Code::invalid_argument, Execution::not_executed, "interceptors: one is null");
    if (auto* const around = dynamic_cast<AroundInterceptor*>(each.get())) around_.push_back(around);
  }
}

std::shared_ptr<const InterceptorList> interceptors_of(const Interceptors& given, const Log& log) {
  return given.empty() ? nullptr : std::make_shared<const InterceptorList>(given, log);
}

void Intercepting::make_lasting() {
  auto lasting = std::make_shared<InterceptedCall::Lasting>();
  lasting->agent = call.agent_;
  call.agent_ = lasting->agent;
  if (call.served_ != nullptr) {
    lasting->peer = call.served_->peer;
    lasting->identity = call.served_->identity();
    lasting->served = *call.served_;
    lasting->served.agent = lasting->agent;
    lasting->served.peer = lasting->peer;
    lasting->served.of_peer = &lasting->identity;
    call.served_ = &lasting->served;
  }
  call.lasting_ = std::move(lasting);
}

std::optional<Failure> Intercepting::begin(TimePoint now, Thrown failure) {
  call.began_ = now;
  const InsideInterceptors inside(&all_);
  try {
    for (const auto& each : all_.all()) {
      each->begin(call);
      ++begun_;
    }
  } catch (...) {
    auto why = failure();
    fail(why);
    return why;
  }
  call.encoded_requests_ = {};
  call.encoded_items_ = nullptr;
  return std::nullopt;
}

void Intercepting::end(CallEnd&& how) noexcept {
  if (ended_.exchange(true, std::memory_order_acq_rel)) return;
  const InsideInterceptors inside(&all_);
  how.began = call.began_;
  const auto all = all_.all();
  for (auto left = begun_; left != 0; --left) {
    auto& each = *all[left - 1];
    try {
      each.end(call, how);
    } catch (...) {
      log_escaped_exception(all_.log(), typeid(each).name() + std::string("::end of an interceptor"));
    }
  }
}

void Intercepting::fail(const Failure& failure, CallEnd&& facts) noexcept {
  facts.code = failure.code;
  facts.failure = &failure;
  end(std::move(facts));
}

CallEnd end_of(const Answer& answer) noexcept {
  CallEnd end;
  if (answer.ok()) {
    end.result = answer.any_value();
    end.result_type = answer.type();
  } else {
    end.failure = &answer.failure();
    end.code = end.failure->code;
  }
  return end;
}

Failure interceptor_failure() {
  try {
    throw;
  } catch (const DeclaredError& error) {
    return Failure::of(error);
  } catch (const Error& error) {
    return failure_of(error);
  } catch (const std::exception& error) {
    return may_have_run(Code::internal, std::string("an interceptor has thrown: ") + error.what());
  } catch (...) {
    return may_have_run(Code::internal, "an interceptor has thrown something that is no std::exception");
  }
}

/// What an interceptor got to answer: it may drop that while it is being called, and throw then.
class Onward::Handed {
 public:
  explicit Handed(std::shared_ptr<Onward> onward, AnswerDone done) noexcept
      : onward_(std::move(onward)), done_(std::move(done)) {}

  void take(Answer&& answer, bool dropped) {
    {
      const std::scoped_lock lock(mutex_);
      if (dropped && starting_) {
        dropped_ = true;
        return;
      }
      if (std::exchange(answered_, true)) return;
    }
    done_(dropped ? Answer(onward_->given_up()) : std::move(answer));
  }
  void threw(Failure why) {
    {
      const std::scoped_lock lock(mutex_);
      if (std::exchange(answered_, true)) return;
    }
    done_(std::move(why));
  }
  void returned() {
    {
      const std::scoped_lock lock(mutex_);
      starting_ = false;
      if (!dropped_ || std::exchange(answered_, true)) return;
    }
    done_(onward_->given_up());
  }

 private:
  const std::shared_ptr<Onward> onward_;
  std::mutex mutex_;
  bool starting_ = true;
  bool dropped_ = false;
  bool answered_ = false;  // another thread may answer while this one throws
  AnswerDone done_;
};

Failure Onward::given_up() {
  return may_have_run(Code::internal, "an interceptor gave up the call without answering it");
}

namespace {

/// Waits for the end of the last copy of a pointer to something on this thread's stack.
class LastCopy {
 public:
  void set() {
    const std::scoped_lock lock(mutex_);
    is_gone_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    if (is_gone_) return;
    lock.unlock();
    const HandlerWait gives_place;
    blocking();
    lock.lock();
    changed_.wait(lock, [this] { return is_gone_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_gone_ = false;
};

}  // namespace

// What is around a call may have started requests that it has cancelled since, and that end a moment later.
// All of them hold this pointer, and refer to the call on this thread's stack.
Answer Onward::run() {
  struct Holding {
    ~Holding() {
      self = nullptr;
      last->wait();
    }
    std::shared_ptr<LastCopy> last;
    std::shared_ptr<Onward> self;
  };
  const auto last = std::make_shared<LastCopy>();
  const Holding holding{.last = last,
                        .self = std::shared_ptr<Onward>(this, [last](Onward*) { last->set(); })};
  return run_from(0, holding.self);
}

void Onward::start(AnswerDone done) {
  start_from(0, shared_from_this(), std::move(done), {});
}

Answer Onward::run_from(std::size_t at, const std::shared_ptr<Onward>& self) {
  const auto around = way().all().around();
  if (at == around.size()) {
    const InsideInterceptors outside(nullptr);
    return go_on();
  }
  const InsideInterceptors inside(&way().all());
  return around[at]->call(way().call, Proceed(self, at + 1, {}));
}

void Onward::start_from(std::size_t at, const std::shared_ptr<Onward>& self, AnswerDone done,
                        const std::stop_token& stop) {
  const auto around = way().all().around();
  if (at == around.size()) {
    const InsideInterceptors outside(nullptr);
    if (at == 0) return go_on_later(std::move(done), stop);
    return go_on_later(AnswerDone([self, done = std::move(done)](Answer&& answer) mutable {
                         const InsideInterceptors inside(&self->way().all());
                         done(std::move(answer));
                       }),
                       stop);
  }
  const InsideInterceptors inside(&way().all());
  const auto handed = std::make_shared<Handed>(self, std::move(done));
  try {
    around[at]->call_async(way().call, Proceed(self, at + 1, stop),
                           AnswerDone(AnswerDone::Whole{}, [handed](Answer&& answer, bool dropped) {
                             handed->take(std::move(answer), dropped);
                           }));
  } catch (...) {
    return handed->threw(thrown());
  }
  handed->returned();
}

Failure refusal_or_handler_failure(bool handler_ran) {
  if (handler_ran) return handler_failure();
  try {
    throw;
  } catch (const DeclaredError& error) {
    return Failure::of(error);
  } catch (const Error& error) {
    return failure_of(error);
  } catch (...) {
    return handler_failure();
  }
}

Failure refusal() {
  return refusal_or_handler_failure(false);
}

Failure HandlerOnward::given_up() {
  return may_have_run(Code::handler_failed, "an interceptor gave up the call without answering it");
}

void HandlerOnward::run_once() {
  if (ran_.exchange(true, std::memory_order_acq_rel))
    throw std::logic_error("`proceed` was used before: a handler runs once for a call");
}

Answer BlockingHandler::run_all() {
  try {
    return run();
  } catch (...) {
    return thrown();
  }
}

Answer BlockingHandler::go_on() {
  run_once();
  return handler_();
}

void BlockingHandler::go_on_later(AnswerDone done, const std::stop_token& /*stop*/) {
  try {
    done(go_on());
  } catch (...) {
    done(handler_failure());
  }
}

Answer LaterHandler::go_on() {
  return may_have_run(Code::handler_failed,
                      "an interceptor waits for a handler that answers later: use proceed.start()");
}

void LaterHandler::go_on_later(AnswerDone done, const std::stop_token& /*stop*/) {
  if (ran_.exchange(true, std::memory_order_acq_rel))
    return done(
        may_have_run(Code::handler_failed, "`proceed` was used before: a handler runs once for a call"));
  // Where the handler's own call is not this thread's any more, it has a copy of it.
  std::optional<CallScope> scope;
  if (running_call == nullptr && way_->call.served() != nullptr) scope.emplace(*way_->call.served());
  begin_(std::move(done));
}

}  // namespace detail
}  // namespace mf
