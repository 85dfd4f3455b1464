#include "mf/link/local.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "mf/core/blocking.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/core/log.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::link {

void refuse_expired() {
  throw Error(Code::deadline_exceeded, Execution::not_executed, "the deadline had passed before the call");
}

/// The stop source of a handler with a deadline. It lives until the deadline, after which the handler may
/// still run.
struct LocalHandle::Stopping {
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };
  using OnStop = std::stop_callback<Stop>;

  std::stop_source source;
  std::optional<OnStop> by_caller;
  std::optional<OnStop> by_outer_call;
  std::atomic<bool> over{false};  // the call has ended in time
};

LocalHandle::~LocalHandle() {
  if (!stopping_) return;
  stopping_->by_caller.reset();
  stopping_->by_outer_call.reset();
  if (mf::now() < deadline_) stopping_->over = true;
}

std::stop_token LocalHandle::stop_token() {
  if (deadline_ == kNever)
    return options_.stop.stop_possible() || outer_ == nullptr ? options_.stop : outer_->stop_token();
  if (!stopping_) {
    const auto stopping = std::make_shared<Stopping>();
    target_.servants->at(deadline_, [stopping] {
      if (!stopping->over) stopping->source.request_stop();
    });
    stopping->by_caller.emplace(options_.stop, Stopping::Stop{stopping->source});
    if (outer_ != nullptr)
      stopping->by_outer_call.emplace(outer_->stop_token(), Stopping::Stop{stopping->source});
    stopping_ = stopping;
  }
  return stopping_->source.get_token();
}

bool LocalHandle::cancelled() noexcept {
  return options_.stop.stop_requested() || (outer_ != nullptr && outer_->cancelled());
}

const Metadata& LocalHandle::metadata() noexcept {
  if (outer_ == nullptr) return options_.metadata;
  if (!metadata_) metadata_ = mf::detail::passed_on(options_.metadata, *outer_, target_.forwarded);
  return *metadata_;
}

void LocalHandle::set_reply_metadata(std::string_view key, std::string_view value) {
  if (options_.reply_metadata != nullptr) options_.reply_metadata->set(key, value);
}

void LocalScope::add_context(const CallOptions& options, const LocalTarget& target,
                             std::chrono::nanoseconds deadline) {
  const auto* const outer = scope_.outer();
  if (outer != nullptr) info_.deadline = outer->deadline;
  if (deadline != kUnset || info_.deadline != kNever) {
    const auto now = mf::now();
    if (deadline != kUnset) info_.deadline = std::min(info_.deadline, deadline_after(now, deadline));
    if (info_.deadline <= now) refuse_expired();
  }
  if (options.stop.stop_requested())
    throw Error(Code::cancelled, Execution::not_executed, "cancelled by the caller before the call");
  handle_.emplace(options, outer, target, info_.deadline);
  info_.handle.set(&*handle_);
}

void log_oneway_failure(const Method& method) {
  log_oneway_failure(Log(), method, mf::detail::handler_failure());
}

namespace {

void note(const Method& method, const LocalTarget& target, const Failure& failure) noexcept {
  target.servants->failures().note(method, {.agent = target.agent, .peer = "light:"}, failure);
}

}  // namespace

void raise_handler_failure(const Method& method, const LocalTarget& target) {
  auto failure = mf::detail::handler_failure();
  if (failure.declared) failure = declared_or_failed(method, failure);
  note(method, target, failure);
  failure.raise();
}

Failure noted_failure(const Method& method, const LocalTarget& target, const Failure& failure) {
  if (method.info.oneway) {
    log_oneway_failure(Log(), method, failure);
    return failure;
  }
  auto known = failure.declared ? declared_or_failed(method, failure) : failure;
  note(method, target, known);
  return known;
}

LocalWay::LocalWay(const Method& method, const LocalTarget& target, CallKind kind, std::size_t items,
                   const CallInfo& info, mf::detail::ArgumentSource arguments)
    : Intercepting(**target.interceptors, method.service, target.agent, method.info, kind, items, &info),
      list_(*target.interceptors) {
  call.deadline = info.deadline;
  if (const auto& metadata = info.metadata(); !metadata.empty()) call.metadata = metadata;
  set_arguments(arguments);
}

void LocalWay::begin() {
  if (const auto refused = Intercepting::begin(mf::now(), &mf::detail::refusal)) refused->raise();
}

Answer LocalWay::run(FunctionRef<Answer()> handler) {
  return mf::detail::BlockingHandler(*this, handler).run_all();
}

void LocalWay::end_with(CallEnd&& how) noexcept {
  how.peer = call.peer();
  end(std::move(how));
}

void local_call_intercepted(const Method& method, const mf::detail::OutcomeType& type,
                            const LocalTarget& target, const CallInfo& info,
                            mf::detail::ArgumentSource arguments, FunctionRef<void(void* outcome)> handler,
                            void* outcome) {
  LocalWay way(method, target, CallKind::call, 1, info, arguments);
  way.begin();
  if (way.has_around()) {
    type.put(outcome, way.run([&] { return type.answer(handler); }));
  } else {
    handler(outcome);
  }
  if (const auto end = type.end(outcome); end.failure != nullptr)
    type.put(outcome, noted_failure(method, target, *end.failure));
  way.end_with(type.end(outcome));
}

namespace {

/// Errors that the method does not declare become failures, and so does a wrong number of outcomes. Failures
/// of handlers are logged.
void sort_out(const Method& method, const LocalTarget& target, Results& results, std::size_t items) {
  if (const auto answered = results.size(); answered != items) {
    results.remap(items, {});
    results.fail_all(miscounted(answered, items));
  }
  if (results.all_ok()) return;
  for (std::size_t item = 0; item < items; ++item) {
    const auto* failure = results.failure(item);
    if (failure == nullptr) continue;
    if (failure->declared) {
      const auto known = mf::detail::shared(declared_or_failed(method, *failure));
      results.fail(item, known);
      failure = known.get();
    }
    note(method, target, *failure);
  }
}

void run_oneway_batch(const BatchMethod& method, const LocalBatch& local, Items requests) {
  if (local.plain != nullptr) return method.run(local.plain, requests, nullptr);
  for (std::size_t item = 0; item < requests.count; ++item) {
    Requests copied(method.request);
    copied.copy(requests, item);
    method.begin(local.async, copied.at(0), item, nullptr);
  }
}

/// Runs `handler`, which has no answer, through the interceptors.
void oneway_intercepted(const Method& method, const LocalTarget& target, CallKind kind, Items requests,
                        FunctionRef<void()> handler) {
  LocalWay way(method, target, kind, requests.count, current_call(), given_items(requests));
  way.begin();
  const auto answer = way.run([&] { return Answer(outcome_of([&] { handler(); })); });
  if (answer.ok()) return way.end_with({});
  const auto failure = noted_failure(method, target, answer.failure());
  way.end_with({.code = failure.code, .failure = &failure});
}

void local_oneway_batch(const BatchMethod& method, const LocalBatch& local, Items requests) {
  const auto run = [&] { run_oneway_batch(method, local, requests); };
  if (local.target.interceptors != nullptr)
    return oneway_intercepted(method.method, local.target, CallKind::bulk, requests, run);
  try {
    run();
  } catch (...) {
    log_oneway_failure(method.method);
  }
}

/// The answers of asynchronous servants; knows which items were answered, but not their types.
class LocalAnswers final : public mf::detail::Answers {
 public:
  /// `results` has all items, and is not used after wait(). An answer after the deadline is ignored, even if
  /// the caller has not noticed the deadline yet.
  LocalAnswers(Results& results, TimePoint deadline)
      : deadline_(deadline), results_(results), answered_(results.size(), 0), open_(results.size()) {}

  void answer(std::size_t item, void* outcome) override {
    ended(item, [&] { results_.set(item, outcome); });
  }
  void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    ended(item, [&] { results_.fail(item, failure); });
  }

  /// All items are answered, by an answer that has gone through interceptors.
  void end_all(Answer&& answer, bool single) {
    const std::scoped_lock lock(mutex_);
    if (over_ || (deadline_ != kNever && mf::now() >= deadline_)) return;
    if (single) {
      results_.put(0, std::move(answer));
    } else {
      results_.put_all(answered_.size(), std::move(answer));
    }
    answered_.assign(answered_.size(), 1);
    open_ = 0;
    changed_.notify_all();
  }

  /// Waits until this item is answered; false if the deadline passes, or the caller requests a stop.
  bool wait_for(std::size_t item, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return answered_[item] != 0; };
    if (done()) return true;
    lock.unlock();
    const mf::detail::HandlerWait gives_place;
    blocking();
    lock.lock();
    if (deadline_ == kNever) return changed_.wait(lock, stop, done);
    return transport::wait_until(changed_, lock, stop, deadline_, done);
  }

  /// Waits until all items are answered, the deadline, or the caller's stop request; unanswered items have
  /// failed then.
  void wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return open_ == 0; };
    std::optional<mf::detail::HandlerWait> gives_place;
    if (!done()) {
      lock.unlock();
      gives_place.emplace();
      blocking();
      lock.lock();
    }
    if (deadline_ == kNever) {
      changed_.wait(lock, stop, done);
    } else {
      transport::wait_until(changed_, lock, stop, deadline_, done);
    }
    over_ = true;
    if (open_ == 0) return;
    const bool stopped = stop.stop_requested();
    const auto failure =
        mf::detail::shared(stopped ? cancelled_by_caller(Execution::unknown)
                                   : may_have_run(Code::deadline_exceeded, "no reply within the deadline"));
    for (std::size_t item = 0; item < answered_.size(); ++item) {
      if (answered_[item] == 0) results_.fail(item, failure);
    }
  }

 private:
  template <class Set>
  void ended(std::size_t item, Set set) {
    const std::scoped_lock lock(mutex_);
    if (over_ || (deadline_ != kNever && mf::now() >= deadline_)) return;
    set();
    answered_[item] = 1;
    --open_;
    changed_.notify_all();
  }

  const TimePoint deadline_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Results& results_;
  std::vector<std::uint8_t> answered_;
  std::size_t open_;
  bool over_ = false;
};

/// Moves a request to an asynchronous servant; an exception that the servant throws is the answer.
void begin_item(BeginItem begin, void* servant, void* request, std::size_t item,
                const std::shared_ptr<mf::detail::Answers>& answers) {
  mf::detail::Beginning beginning(answers.get(), item);
  try {
    begin(servant, request, item, answers);
  } catch (...) {
    beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
  }
}

/// Passes a copy of each request to an asynchronous servant.
void start_items(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                 Items requests, const std::shared_ptr<LocalAnswers>& answers) {
  for (std::size_t item = 0; item < requests.count; ++item) {
    Requests copied(method.request);
    if (const auto made = attempt([&] { copied.copy(requests, item); })) {
      begin_item(method.begin, local.async, copied.at(0), item, answers);
    } else {
      answers->fail(item, mf::detail::shared(made.failure()));
    }
    // Items after one that does not end in time are not started, and wait() fails them.
    if (method.method.info.ordered && !answers->wait_for(item, options.stop)) break;
  }
}

/// The same, and waits for the answers.
void local_async_batch(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                       Items requests, Results& results) {
  const auto answers = std::make_shared<LocalAnswers>(results, current_call().deadline);
  start_items(method, local, options, requests, answers);
  answers->wait(options.stop);
  sort_out(method.method, local.target, results, requests.count);
}
/// How the items of a call have ended, which its caller gets.
void end_way(LocalWay& way, const Results& results, CallKind kind) {
  if (kind == CallKind::call) return way.end_with(results.end_of_only());
  CallEnd how;
  how.outcomes = &results;
  way.end_with(std::move(how));
}

/// An asynchronous servant with interceptors around it, for a call or the items of a bulk. `start(answers)`
/// passes the requests to the servant now.
void async_intercepted(const BatchMethod& method, void* servant, const LocalTarget& target, CallKind kind,
                       const CallOptions& options, Items requests, Results& results,
                       FunctionRef<void(const std::shared_ptr<LocalAnswers>&)> start) {
  const auto way = std::make_shared<LocalWay>(method.method, target, kind, requests.count, current_call(),
                                              given_items(requests));
  const bool single = kind == CallKind::call;
  way->begin();
  const auto answers = std::make_shared<LocalAnswers>(results, current_call().deadline);
  if (!way->has_around()) {
    start(answers);
  } else {
    // Interceptors may go on after the caller, its client and the light have gone: nothing of them may be
    // used then, and the servant is kept.
    way->make_lasting();
    std::vector<std::unique_ptr<Requests>> copies;
    for (std::size_t item = 0; item < requests.count; ++item)
      copies.emplace_back(std::make_unique<Requests>(method.request))->copy(requests, item);
    auto begin = [&method, servant, keep = *target.owner, single, copies = std::move(copies),
                  into = results.another(requests.count)](AnswerDone done) mutable {
      const auto items = std::make_shared<ItemAnswers>(std::move(into), single, std::move(done));
      for (std::size_t item = 0; item < copies.size(); ++item)
        begin_item(method.begin, servant, copies[item]->at(0), item, items);
    };
    std::make_shared<mf::detail::LaterHandler>(way, std::move(begin))
        ->start(
            AnswerDone([answers, single](Answer&& answer) { answers->end_all(std::move(answer), single); }));
  }
  answers->wait(options.stop);
  sort_out(method.method, target, results, requests.count);
  end_way(*way, results, kind);
}

}  // namespace

void local_async(const BatchMethod& method, void* servant, const LocalTarget& target,
                 const CallOptions& options, void* request, Results& results) {
  const auto start = [&](const std::shared_ptr<LocalAnswers>& answers) {
    begin_item(method.begin, servant, request, 0, answers);
  };
  if (target.interceptors != nullptr) [[unlikely]]
    return async_intercepted(method, servant, target, CallKind::call, options, {request, 1}, results, start);
  const auto answers = std::make_shared<LocalAnswers>(results, current_call().deadline);
  start(answers);
  answers->wait(options.stop);
  sort_out(method.method, target, results, 1);
}

void local_async_oneway(const BatchMethod& method, void* servant, const LocalTarget& target, void* request) {
  const auto start = [&] { method.begin(servant, request, 0, nullptr); };
  if (target.interceptors == nullptr) [[likely]]
    return start();
  oneway_intercepted(method.method, target, CallKind::call, {request, 1}, start);
}

namespace {

void fail_items(Results& results, std::size_t items, Failure why) {
  results.remap(items, {});
  results.fail_all(mf::detail::shared(std::move(why)));
}

void plain_batch_intercepted(const BatchMethod& method, const LocalBatch& local, Items requests,
                             Results& results) {
  LocalWay way(method.method, local.target, CallKind::bulk, requests.count, current_call(),
               given_items(requests));
  way.begin();
  auto answer = way.run([&] {
    const auto ran = outcome_of([&] { method.run(local.plain, requests, results.all()); });
    return ran.ok() ? results.take_all() : Answer(ran.failure());
  });
  results.put_all(requests.count, std::move(answer));
  sort_out(method.method, local.target, results, requests.count);
  end_way(way, results, CallKind::bulk);
}

}  // namespace

void local_batch(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                 Items requests, Results& results) {
  check_requests(method, requests);
  const LocalScope scope(method.method.service, local.target, options,
                         local.plain != nullptr
                             ? options.deadline
                             : effective_deadline(options.deadline, method.method.info.deadline));
  if (method.method.info.oneway) return local_oneway_batch(method, local, requests);
  if (local.plain == nullptr) {
    if (local.target.interceptors == nullptr)
      return local_async_batch(method, local, options, requests, results);
    return async_intercepted(method, local.async, local.target, CallKind::bulk, options, requests, results,
                             [&](const std::shared_ptr<LocalAnswers>& answers) {
                               start_items(method, local, options, requests, answers);
                             });
  }
  if (local.target.interceptors != nullptr) return plain_batch_intercepted(method, local, requests, results);
  try {
    method.run(local.plain, requests, results.all());
  } catch (...) {
    fail_items(results, requests.count, mf::detail::handler_failure());
  }
  sort_out(method.method, local.target, results, requests.count);
}

}  // namespace mf::link
