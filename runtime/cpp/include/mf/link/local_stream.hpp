// Streams within a process: values are passed one by one through a queue of 64, without encoding. A plain
// handler runs on a thread of its own (LocalServants::run), an asynchronous one is started there. Completions
// of asynchronous reads and writes run there, too, and never inside a blocking call of the other side.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/core/stream.hpp"
#include "mf/link/local.hpp"
#include "mf/link/stream_values.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::link {

/// The state of an in-process call with streams that both sides share, without its types. `deadline`: of the
/// whole call; `idle`: the longest time that one wait of the caller may take.
class LocalStream : public mf::detail::CallHandle, public std::enable_shared_from_this<LocalStream> {
 public:
  LocalStream(std::shared_ptr<const LocalServants> servants, const CallOptions& options, const Method& method,
              const LocalTarget& target);
  virtual ~LocalStream();
  LocalStream(const LocalStream&) = delete;
  LocalStream& operator=(const LocalStream&) = delete;

  /// The time by which a wait that begins now must end.
  [[nodiscard]] TimePoint wait_until(bool callers) const;
  [[nodiscard]] TimePoint deadline() const noexcept { return deadline_; }
  /// Ends the call if its deadline has passed; for operations that never wait.
  void look_at_deadline();
  void run(UniqueFunction<void()> work) { servants_->run(std::move(work)); }
  /// The failure of a write after LocalQueue::end_here(); the call continues.
  [[nodiscard]] Failure ended_here() const { return link::ended_here(method_); }

  /// Ends all directions that have not ended, once; `why` is null for success. `set` runs before the end
  /// becomes visible, if this call ends them.
  void end(std::shared_ptr<const Failure> why, FunctionRef<void()> set);
  /// Cancels the call for the caller, or because time has run out: the handler is asked to stop.
  void give_up(Failure why);
  /// Waits for the end of the call; throws if the deadline passes first.
  void wait_for_end();
  void when_ended(UniqueFunction<void()> done);
  /// Makes the call end at its deadline although no thread waits for it, or because a stop token was
  /// requested.
  void watch_deadline();
  [[nodiscard]] std::shared_ptr<const Failure> why() const;
  /// Logs a failure of the handler.
  void note_failure(const Failure& failure) const noexcept {
    servants_->failures().note(method_, {.agent = agent_, .peer = "light:"}, failure);
  }

  [[nodiscard]] std::stop_token stop_token() override {
    watch_deadline();
    return stop_.get_token();
  }
  [[nodiscard]] bool cancelled() noexcept override { return stop_.stop_requested(); }
  [[nodiscard]] const Metadata& metadata() noexcept override { return metadata_; }
  void set_reply_metadata(std::string_view key, std::string_view value) override;

 protected:
  virtual void end_queues(const std::shared_ptr<const Failure>& why) = 0;

 private:
  [[nodiscard]] bool late() const;
  [[nodiscard]] bool ended() const;

  const std::shared_ptr<const LocalServants> servants_;
  const Method& method_;
  const std::string agent_;
  const TimePoint deadline_;
  const std::chrono::nanoseconds idle_;
  Metadata metadata_;
  std::stop_source stop_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;

  mutable std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  bool watched_ = false;
  std::shared_ptr<const Failure> why_;
  UniqueFunction<void()> done_;
  Metadata* reply_metadata_;
};

[[noreturn]] void refuse_late();
/// Cancelled by the caller, or otherwise by the handler.
[[nodiscard]] Failure cancelled_by(bool caller);

/// One direction.
template <class T>
class LocalQueue {
 public:
  static constexpr std::size_t kMost = 64;

  LocalQueue(LocalStream& call, bool to_handler) noexcept : call_(call), to_handler_(to_handler) {}

  /// False if the reader wants no more values.
  bool push(const T& value) {
    std::unique_lock lock(mutex_);
    const auto may = [&] { return values_.size() < kMost || closed_ || stopped_; };
    wait(lock, to_handler_, may);
    return put(lock, value);
  }
  void async_push(const T& value, Callback<bool> done) {
    std::unique_lock lock(mutex_);
    auto put_now = attempt([&] { return put(lock, value); });
    if (!lock.owns_lock()) lock.lock();
    if (!put_now || values_.size() < kMost || closed_ || stopped_) {
      lock.unlock();
      return done(std::move(put_now));
    }
    pushed_ = std::move(done);
    lock.unlock();
    call_.watch_deadline();
  }
  bool pop(T& value) {
    if (++popped_count_ % kMost == 0) call_.look_at_deadline();
    std::unique_lock lock(mutex_);
    const auto may = [&] { return !values_.empty() || closed_ || abandoned_; };
    wait(lock, !to_handler_, may);
    return take(lock, value);
  }
  void async_pop(Callback<std::optional<T>> done) {
    std::unique_lock lock(mutex_);
    if (values_.empty() && !closed_ && !abandoned_) {
      popped_ = std::move(done);
      lock.unlock();
      return call_.watch_deadline();
    }
    auto popped = attempt([&] {
      auto value = fresh<T>();
      return take(lock, value) ? std::optional<T>(std::move(value)) : std::nullopt;
    });
    if (lock.owns_lock()) lock.unlock();
    done(std::move(popped));
  }
  /// Ends the stream; `why` is null if all values have been written.
  void close(std::shared_ptr<const Failure> why) {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    why_ = std::move(why);
    wake(lock);
  }
  /// Called when the writer ends the stream; false if it has done so before.
  bool end_here() {
    const Lock lock(mutex_);
    return !std::exchange(ended_here_, true);
  }
  /// Called when the reader wants no more values; a pending read ends as CANCELLED, unless it has seen the
  /// end.
  void abandon() {
    Lock lock(mutex_);
    if (seen_ || std::exchange(abandoned_, true)) return;
    stopped_ = true;
    values_.clear();
    wake(lock);
  }
  /// Called when no reader is left.
  void stop() {
    std::unique_lock lock(mutex_);
    if (stopped_ || closed_) return;
    stopped_ = true;
    values_.clear();
    wake(lock);
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  template <class May>
  void wait(Lock& lock, bool callers, May may) {
    if (may()) return;
    lock.unlock();
    const mf::detail::HandlerWait gives_place;
    blocking();
    const auto until = call_.wait_until(callers);
    lock.lock();
    if (until == kNever) {
      changed_.wait(lock, may);
    } else if (!transport::wait_until(changed_, lock, until, may)) {
      lock.unlock();
      refuse_late();
    }
  }
  bool put(Lock& lock, const T& value) {
    if (ended_here_) call_.ended_here().raise();
    if (closed_ && why_) why_->raise();
    if (closed_ || stopped_) return false;
    values_.push_back(value);
    wake(lock);
    return true;
  }
  bool take(Lock& lock, T& value) {
    if (abandoned_) cancelled_by(!to_handler_).raise();
    if (values_.empty()) {
      seen_ = true;
      if (why_) why_->raise();
      return false;
    }
    value = std::move(values_.front());
    values_.pop_front();
    wake(lock);
    return true;
  }
  /// Wakes waiting threads, and runs waiting completions.
  void wake(Lock& lock) {
    Callback<std::optional<T>> popped;
    Callback<bool> pushed;
    if (!values_.empty() || closed_ || abandoned_) popped = std::exchange(popped_, nullptr);
    if (values_.size() < kMost || closed_ || stopped_) pushed = std::exchange(pushed_, nullptr);
    const auto why = closed_ ? why_ : nullptr;
    const bool more = !closed_ && !stopped_;
    lock.unlock();
    changed_.notify_all();
    if (popped)
      call_.run([self = call_.shared_from_this(), this, popped = std::move(popped)]() mutable {
        async_pop(std::move(popped));
      });
    if (pushed)
      call_.run([pushed = std::move(pushed), why, more]() mutable {
        pushed(why ? Outcome<bool>(why) : Outcome<bool>(more));
      });
  }

  LocalStream& call_;
  const bool to_handler_;
  std::size_t popped_count_ = 0;  // values that the reader took
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
  bool ended_here_ = false;
  bool closed_ = false;
  bool stopped_ = false;
  bool abandoned_ = false;
  bool seen_ = false;  // the reader knows that the stream has ended
  std::shared_ptr<const Failure> why_;
  Callback<std::optional<T>> popped_;
  Callback<bool> pushed_;
};

struct NoQueue {
  NoQueue(LocalStream& /*call*/, bool /*to_handler*/) noexcept {}
  void close(const std::shared_ptr<const Failure>& /*why*/) noexcept {}
  void stop() noexcept {}
  bool end_here() noexcept { return true; }
};

namespace detail {

template <class M, Streams kStreams>
struct ElementsOf;
template <class M>
struct ElementsOf<M, Streams::params> {
  using Params = LocalQueue<typename M::ParamElement>;
  using Results = NoQueue;
};
template <class M>
struct ElementsOf<M, Streams::results> {
  using Params = NoQueue;
  using Results = LocalQueue<typename M::ResultElement>;
};
template <class M>
struct ElementsOf<M, Streams::both> {
  using Params = LocalQueue<typename M::ParamElement>;
  using Results = LocalQueue<typename M::ResultElement>;
};

}  // namespace detail

template <class M>
class LocalStreamOf final : public LocalStream {
  using Elements = detail::ElementsOf<M, M::kInfo.streams>;

 public:
  using LocalStream::LocalStream;

  typename Elements::Params params{*this, true};
  typename Elements::Results results{*this, false};
  Outcome<typename M::Result> outcome;  // set before the call ends

 private:
  void end_queues(const std::shared_ptr<const Failure>& why) override {
    params.stop();
    params.close(why);
    results.close(why);
  }
};

/// The reader or writer of either side; `callers`: dropping it cancels the call.
template <class T, class M>
class LocalValues final : public mf::detail::Values<T> {
 public:
  LocalValues(std::shared_ptr<LocalStreamOf<M>> call, LocalQueue<T>& queue, bool callers) noexcept
      : call_(std::move(call)), queue_(queue), callers_(callers) {}
  bool next(T& value) override { return queue_.pop(value); }
  void async_next(Callback<std::optional<T>> done) override { queue_.async_pop(std::move(done)); }
  void cancel() noexcept override {
    if (callers_) call_->give_up(cancelled_by(true));  // first, so that no handler takes this for an end
    queue_.abandon();
  }

 private:
  std::shared_ptr<LocalStreamOf<M>> call_;
  LocalQueue<T>& queue_;
  const bool callers_;
};

template <class T, class M>
class LocalSink final : public mf::detail::Sink<T>, public mf::detail::Closing {
 public:
  LocalSink(std::shared_ptr<LocalStreamOf<M>> call, LocalQueue<T>& queue, Violation<T> violation,
            bool callers) noexcept
      : call_(std::move(call)), queue_(queue), violation_(violation), callers_(callers) {}
  bool write(const T& value) override {
    check(value);
    return queue_.push(value);
  }
  void async_write(const T& value, Callback<bool> done) override {
    if (const auto fine = attempt([&] { check(value); }); !fine) return done(fine.failure());
    queue_.async_push(value, std::move(done));
  }
  void flush() override {}
  void done_writing() override {
    if (queue_.end_here()) queue_.close(nullptr);
  }

 private:
  void check(const T& value) const {
    if (violation_ == nullptr) return;
    auto bad = codec::too_deep(value);
    if (!bad) bad = violation_(value);
    if (!bad) [[likely]]
      return;
    if (callers_)
      throw Error(Code::invalid_argument, Execution::not_executed, "a value of the stream: " + *bad);
    throw std::invalid_argument("a value of the result stream breaks the schema: " + *bad);
  }

  std::shared_ptr<LocalStreamOf<M>> call_;
  LocalQueue<T>& queue_;
  const Violation<T> violation_;
  const bool callers_;
};

template <class M>
class LocalEnding final : public mf::detail::Ending<typename M::Result> {
  using Result = typename M::Result;

 public:
  explicit LocalEnding(std::shared_ptr<LocalStreamOf<M>> call) noexcept : call_(std::move(call)) {}
  Result finish() override {
    if (!call_->params.end_here()) call_->ended_here().raise();
    call_->params.close(nullptr);
    call_->wait_for_end();
    return std::move(call_->outcome).value();
  }
  void async_finish(Callback<Result> done) override {
    if (!call_->params.end_here()) return done(call_->ended_here());
    call_->params.close(nullptr);
    call_->when_ended([call = call_, done = std::move(done)]() mutable {
      if (const auto why = call->why()) return done(Outcome<Result>(why));
      done(std::move(call->outcome));
    });
  }
  void cancel() noexcept override { call_->give_up(cancelled_by(true)); }

 private:
  std::shared_ptr<LocalStreamOf<M>> call_;
};

namespace detail {

template <class M>
constexpr auto param_violation() -> Violation<typename M::ParamElement> {
  if constexpr (requires { &M::param_element_violation; }) {
    return &M::param_element_violation;
  } else {
    return nullptr;
  }
}

template <class M>
constexpr auto result_violation_of_element() -> Violation<typename M::ResultElement> {
  if constexpr (requires { &M::result_element_violation; }) {
    return &M::result_element_violation;
  } else {
    return nullptr;
  }
}

template <class M>
auto handlers_reader(const std::shared_ptr<LocalStreamOf<M>>& call) {
  using T = typename M::ParamElement;
  return StreamReader<T>(std::make_shared<LocalValues<T, M>>(call, call->params, false));
}

template <class M>
auto handlers_writer(const std::shared_ptr<LocalStreamOf<M>>& call) {
  using T = typename M::ResultElement;
  return StreamWriter<T>(
      std::make_shared<LocalSink<T, M>>(call, call->results, result_violation_of_element<M>(), false));
}

/// Ends the call with the handler's outcome; errors that the method does not declare become failures.
template <class M>
void end_local(LocalStreamOf<M>& call, Outcome<typename M::Result>&& outcome) {
  (void)call.results.end_here();
  std::shared_ptr<const Failure> why;
  if (!outcome.ok()) {
    const auto& failure = outcome.failure();
    why = mf::detail::shared(failure.declared ? declared_or_failed(kMethod<M>, failure) : failure);
    call.note_failure(*why);
  }
  call.end(why, [&] { call.outcome = why ? Outcome<typename M::Result>(why) : std::move(outcome); });
}

template <class M>
typename M::Result invoke_local(typename M::Servant& servant, const typename M::Request& request,
                                const std::shared_ptr<LocalStreamOf<M>>& call) {
  if constexpr (M::kInfo.streams == Streams::params) {
    auto reader = handlers_reader<M>(call);
    return M::invoke(servant, request, reader);
  } else if constexpr (M::kInfo.streams == Streams::results) {
    auto writer = handlers_writer<M>(call);
    return M::invoke(servant, request, writer);
  } else {
    auto reader = handlers_reader<M>(call);
    auto writer = handlers_writer<M>(call);
    return M::invoke(servant, request, reader, writer);
  }
}

template <class M>
void invoke_local_async(typename M::AsyncServant& servant, typename M::Request&& request,
                        const std::shared_ptr<LocalStreamOf<M>>& call,
                        Responder<typename M::Result> responder) {
  if constexpr (M::kInfo.streams == Streams::params) {
    M::invoke(servant, std::move(request), handlers_reader<M>(call), std::move(responder));
  } else if constexpr (M::kInfo.streams == Streams::results) {
    M::invoke(servant, std::move(request), handlers_writer<M>(call), std::move(responder));
  } else {
    M::invoke(servant, std::move(request), handlers_reader<M>(call), handlers_writer<M>(call),
              std::move(responder));
  }
}

/// The caller may have given the call up.
template <class M>
void end_intercepted(LocalStreamOf<M>& call, LocalWay& way, Outcome<typename M::Result>&& outcome) {
  call.look_at_deadline();
  if (const auto why = call.why()) {
    way.end_with({.code = why->code, .failure = why.get()});
  } else if (call.cancelled()) {  // the handler was faster than the end that its caller makes
    const auto given_up = cancelled_by(true);
    way.end_with({.code = given_up.code, .failure = &given_up});
  } else {
    way.end_with(mf::detail::end_of(outcome));
  }
  end_local<M>(call, std::move(outcome));
}

/// The handler of a stream, plain or asynchronous, with interceptors around it.
template <class M>
[[gnu::noinline]] void run_local_intercepted(InterceptorsRef interceptors, const CallInfo& info,
                                             typename M::Servant* plain, typename M::AsyncServant* async,
                                             typename M::Request&& request,
                                             const std::shared_ptr<LocalStreamOf<M>>& call) {
  using Result = typename M::Result;
  const auto way =
      std::make_shared<LocalWay>(kMethod<M>, LocalTarget{.agent = info.agent, .interceptors = interceptors},
                                 CallKind::stream, 1, info, given_items({&request, 1}));
  if (const auto begun = attempt([&] { way->begin(); }); !begun.ok())
    return end_local<M>(*call, begun.failure());
  if (plain != nullptr) {
    const auto handler = [&] {
      return outcome_of([&] { return invoke_local<M>(*plain, std::as_const(request), call); });
    };
    return end_intercepted<M>(
        *call, *way,
        way->has_around() ? way->run([&] { return Answer(handler()); }).template take<Result>() : handler());
  }
  way->make_lasting();
  way->forget_arguments();
  auto begin = [async, call, moved = std::move(request)](AnswerDone done) mutable {
    const auto answers =
        std::make_shared<mf::detail::AnswerTo<Result, std::function<void(Outcome<Result>&&)>>>(
            [kept = std::make_shared<AnswerDone>(std::move(done))](Outcome<Result>&& outcome) {
              (*kept)(Answer(std::move(outcome)));
            });
    mf::detail::Beginning beginning(answers.get(), 0);
    try {
      invoke_local_async<M>(*async, std::move(moved), call, Responder<Result>(answers, 0));
    } catch (...) {
      beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
    }
  };
  std::make_shared<mf::detail::LaterHandler>(way, std::move(begin))
      ->start(AnswerDone([call, way](Answer&& answer) {
        end_intercepted<M>(*call, *way, std::move(answer).template take<Result>());
      }));
}

}  // namespace detail

/// Starts a call of a servant of this process. `keep` keeps the servant alive.
template <class M, class... Args>
std::shared_ptr<LocalStreamOf<M>> local_stream(const LocalOf<M>& local, std::shared_ptr<Servant> keep,
                                               std::shared_ptr<const LocalServants> servants,
                                               const CallOptions& options, const Args&... args) {
  check_arguments<M>(args...);
  auto call = std::make_shared<LocalStreamOf<M>>(std::move(servants), options, kMethod<M>, local.target);
  call->run([call, keep = std::move(keep), plain = local.plain, async = local.async,
             agent = std::string(local.target.agent), interceptors = local.target.interceptors,
             request = typename M::Request{args...}]() mutable {
    CallInfo info{.service = M::kService.name,
                  .agent = agent,
                  .peer = "light:",
                  .deadline = call->deadline(),
                  .handle = mf::detail::ScopedHandle(call.get())};
    const CallScope scope(info);
    if (interceptors != nullptr) [[unlikely]]
      return detail::run_local_intercepted<M>(interceptors, info, plain, async, std::move(request), call);
    if (plain != nullptr) {
      detail::end_local<M>(
          *call, outcome_of([&] { return detail::invoke_local<M>(*plain, std::as_const(request), call); }));
      return;
    }
    const auto answers = std::make_shared<
        mf::detail::AnswerTo<typename M::Result, std::function<void(Outcome<typename M::Result>&&)>>>(
        [call](Outcome<typename M::Result>&& outcome) { detail::end_local<M>(*call, std::move(outcome)); });
    mf::detail::Beginning beginning(answers.get(), 0);
    try {
      detail::invoke_local_async<M>(*async, std::move(request), call,
                                    Responder<typename M::Result>(answers, 0));
    } catch (...) {
      beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
    }
  });
  return call;
}

/// The handle for the caller.
template <class M>
auto local_handle(const std::shared_ptr<LocalStreamOf<M>>& call) {
  if constexpr (M::kInfo.streams == Streams::results) {
    using Out = typename M::ResultElement;
    return StreamReader<Out>(std::make_shared<LocalValues<Out, M>>(call, call->results, true));
  } else if constexpr (M::kInfo.streams == Streams::params) {
    using In = typename M::ParamElement;
    return ClientStream<In, typename M::Result>(
        std::make_shared<LocalSink<In, M>>(call, call->params, detail::param_violation<M>(), true),
        std::make_shared<LocalEnding<M>>(call));
  } else {
    using In = typename M::ParamElement;
    using Out = typename M::ResultElement;
    const auto sink =
        std::make_shared<LocalSink<In, M>>(call, call->params, detail::param_violation<M>(), true);
    return DuplexStream<In, Out>(sink, sink,
                                 std::make_shared<LocalValues<Out, M>>(call, call->results, true));
  }
}

}  // namespace mf::link
