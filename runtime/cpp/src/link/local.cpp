#include "mf/link/local.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "mf/core/log.hpp"

namespace mf::link {

void refuse_expired() {
  throw Error(Code::deadline_exceeded, Execution::not_executed, "the deadline had passed before the call");
}

void log_oneway_failure(const Method& method) {
  log_oneway_failure(Log(), method, mf::detail::handler_failure());
}

namespace {

/// Errors that the method does not declare are failures; so is all that a servant says who miscounts.
void sort_out(const Method& method, Results& results, std::size_t items) {
  if (const auto answered = results.size(); answered != items) {
    results.remap(items, {});
    results.fail_all(miscounted(answered, items));
  }
  if (results.all_ok()) return;
  for (std::size_t item = 0; item < items; ++item) {
    const auto* failure = results.failure(item);
    if (failure != nullptr && failure->declared) {
      results.fail(item, mf::detail::shared(declared_or_failed(method, *failure)));
    }
  }
}

void local_oneway_batch(const BatchMethod& method, const LocalBatch& local, Items requests) {
  try {
    if (local.plain != nullptr) return method.run(local.plain, requests, nullptr);
    for (std::size_t item = 0; item < requests.count; ++item) {
      method.begin(local.async, requests, item, nullptr);
    }
  } catch (...) {
    log_oneway_failure(method.method);
  }
}

/// What asynchronous servants answer; knows which items have been answered, not by what.
class LocalAnswers final : public mf::detail::Answers {
 public:
  /// `results`: of as many items as there are; not touched once wait() is over.
  explicit LocalAnswers(Results& results)
      : results_(results), answered_(results.size(), 0), open_(results.size()) {}

  void answer(std::size_t item, void* outcome) override {
    ended(item, [&] { results_.set(item, outcome); });
  }
  void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    ended(item, [&] { results_.fail(item, failure); });
  }

  /// Until all are answered, or until the deadline; items without an answer have failed then.
  void wait(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return open_ == 0; };
    if (deadline == kNever) {
      changed_.wait(lock, done);
    } else {
      changed_.wait_until(lock, deadline, done);
    }
    over_ = true;
    if (open_ == 0) return;
    const auto failure = mf::detail::shared(Failure{.code = Code::deadline_exceeded,
                                                    .execution = Execution::unknown,
                                                    .message = "no reply within the deadline",
                                                    .declared = nullptr});
    for (std::size_t item = 0; item < answered_.size(); ++item) {
      if (answered_[item] == 0) results_.fail(item, failure);
    }
  }

 private:
  template <class Set>
  void ended(std::size_t item, Set set) {
    const std::scoped_lock lock(mutex_);
    if (over_) return;
    set();
    answered_[item] = 1;
    if (--open_ == 0) changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Results& results_;
  std::vector<std::uint8_t> answered_;
  std::size_t open_;
  bool over_ = false;
};

}  // namespace

void local_async(const Method& method, BeginItem begin, void* servant, const CallOptions& options,
                 Items requests, Results& results) {
  const auto answers = std::make_shared<LocalAnswers>(results);
  for (std::size_t item = 0; item < requests.count; ++item) {
    mf::detail::Beginning beginning(answers.get(), item);
    try {
      begin(servant, requests, item, answers);
    } catch (...) {
      beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
    }
  }
  answers->wait(deadline_after(std::chrono::steady_clock::now(),
                               effective_deadline(options.deadline, method.info.deadline)));
  sort_out(method, results, requests.count);
}

void local_batch(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                 Items requests, Results& results) {
  check_requests(method, requests);
  const auto info = local_call_info(method.method.service, local.agent, options);
  const CallScope scope(info);
  if (method.method.info.oneway) return local_oneway_batch(method, local, requests);
  if (local.plain == nullptr) {
    return local_async(method.method, method.begin, local.async, options, requests, results);
  }
  try {
    method.run(local.plain, requests, results.all());
  } catch (...) {
    const auto failure = mf::detail::shared(mf::detail::handler_failure());
    results.remap(requests.count, {});
    results.fail_all(failure);
  }
  sort_out(method.method, results, requests.count);
}

}  // namespace mf::link
