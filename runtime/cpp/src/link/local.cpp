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

void local_oneway_batch(const BatchMethod& method, const LocalBatch& local, Items requests) {
  try {
    if (local.plain != nullptr) return method.run(local.plain, requests, nullptr);
    for (std::size_t item = 0; item < requests.count; ++item) {
      Requests copied(method.request);
      copied.copy(requests, item);
      method.begin(local.async, copied.at(0), item, nullptr);
    }
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
                const std::shared_ptr<LocalAnswers>& answers) {
  mf::detail::Beginning beginning(answers.get(), item);
  try {
    begin(servant, request, item, answers);
  } catch (...) {
    beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
  }
}

/// Passes a copy of each request to an asynchronous servant and waits for the answers.
void local_async_batch(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                       Items requests, Results& results) {
  const auto answers = std::make_shared<LocalAnswers>(results, current_call().deadline);
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
  answers->wait(options.stop);
  sort_out(method.method, local.target, results, requests.count);
}

}  // namespace

void local_async(const Method& method, BeginItem begin, void* servant, const LocalTarget& target,
                 const CallOptions& options, void* request, Results& results) {
  const auto answers = std::make_shared<LocalAnswers>(results, current_call().deadline);
  begin_item(begin, servant, request, 0, answers);
  answers->wait(options.stop);
  sort_out(method, target, results, 1);
}

void local_batch(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                 Items requests, Results& results) {
  check_requests(method, requests);
  const LocalScope scope(method.method.service, local.target, options,
                         local.plain != nullptr
                             ? options.deadline
                             : effective_deadline(options.deadline, method.method.info.deadline));
  if (method.method.info.oneway) return local_oneway_batch(method, local, requests);
  if (local.plain == nullptr) return local_async_batch(method, local, options, requests, results);
  try {
    method.run(local.plain, requests, results.all());
  } catch (...) {
    const auto failure = mf::detail::shared(mf::detail::handler_failure());
    results.remap(requests.count, {});
    results.fail_all(failure);
  }
  sort_out(method.method, local.target, results, requests.count);
}

}  // namespace mf::link
