#pragma once
// Runs interceptors around calls: those of clients (mf/client/intercepted.hpp) and those of handlers, at
// servers (mf/server/intercepted.hpp) and in light (mf/link/local.hpp).
//
// Calls that an interceptor makes itself through a client which has this interceptor go past the interceptors
// of that client: otherwise none could call without end.

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "mf/core/function_ref.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/core/log.hpp"

namespace mf::detail {

/// Those of one client, server or mf::Light.
class InterceptorList {
 public:
  /// Throws Error(INVALID_ARGUMENT) for a null pointer.
  InterceptorList(Interceptors given, Log log);

  [[nodiscard]] std::span<const std::shared_ptr<Interceptor>> all() const noexcept { return all_; }
  /// Those that are around calls, the outermost first.
  [[nodiscard]] std::span<AroundInterceptor* const> around() const noexcept { return around_; }
  /// What they throw where no caller can get it is written here.
  [[nodiscard]] const Log& log() const noexcept { return log_; }

 private:
  const Interceptors all_;
  std::vector<AroundInterceptor*> around_;
  const Log log_;
};

/// Null without interceptors: calls then pay nothing for them.
[[nodiscard]] std::shared_ptr<const InterceptorList> interceptors_of(const Interceptors& given,
                                                                     const Log& log);

/// The interceptors whose code this thread runs; null: none's.
extern constinit thread_local const InterceptorList* inside_interceptors;

/// Marks the thread for a scope.
class InsideInterceptors {
 public:
  explicit InsideInterceptors(const InterceptorList* now) noexcept : before_(inside_interceptors) {
    inside_interceptors = now;
  }
  ~InsideInterceptors() { inside_interceptors = before_; }
  InsideInterceptors(const InsideInterceptors&) = delete;
  InsideInterceptors& operator=(const InsideInterceptors&) = delete;

 private:
  const InterceptorList* before_;
};

/// One call and its way through interceptors. By one thread at a time, but for end().
class Intercepting {
 public:
  /// `all` lives as long as this.
  Intercepting(const InterceptorList& all, const ServiceInfo& service, std::string_view agent,
               const MethodInfo& info, CallKind kind, std::size_t items, const CallInfo* served) noexcept
      : call(service, agent, info, kind, items, served), all_(all) {}
  Intercepting(const Intercepting&) = delete;
  Intercepting& operator=(const Intercepting&) = delete;

  [[nodiscard]] const InterceptorList& all() const noexcept { return all_; }
  /// Whether there are interceptors around the call, so that it goes on through Onward.
  [[nodiscard]] bool has_around() const noexcept { return !all_.around().empty(); }

  void set_arguments(ArgumentSource source) noexcept { call.arguments_ = source; }
  /// The arguments are not there any more, unless one has asked for them.
  void forget_arguments() noexcept { call.arguments_ = {}; }
  /// The parameters as they have come, which stay until begin() has returned.
  void set_encoded_requests(std::span<const std::byte> requests) noexcept {
    call.request_bytes_ = requests.size();
    call.encoded_requests_ = requests;
  }
  /// Those of a bulk, which stay until begin() has returned; and their places among the outcomes, which stay
  /// until the end: none if they are the same.
  void set_encoded_items(const EncodedItems& items, std::span<const std::size_t> places) noexcept {
    call.encoded_items_ = &items;
    call.places_ = places;
  }
  /// Copies the texts that the call refers to: it outlives its message.
  void make_lasting();

  /// Begins at `now`. Returns what one of them refuses the call with, as `failure` makes it of the current
  /// exception; those before have ended with it.
  using Thrown = Failure (*)();
  [[nodiscard]] std::optional<Failure> begin(TimePoint now, Thrown failure);
  /// Once, on any thread; later ends are ignored.
  void end(CallEnd&& how) noexcept;
  /// The same for a failure, which may be a declared error.
  void fail(const Failure& failure, CallEnd&& facts = {}) noexcept;
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

  InterceptedCall call;

 private:
  const InterceptorList& all_;
  std::size_t begun_ = 0;
  std::atomic<bool> ended_{false};
};

/// The end of a call with this outcome, without further facts.
template <class T>
[[nodiscard]] CallEnd end_of(const Outcome<T>& outcome) noexcept {
  CallEnd end;
  if (!outcome.ok()) {
    end.failure = &outcome.failure();
    end.code = end.failure->code;
  } else if constexpr (!std::is_void_v<T>) {
    end.result = &outcome.value();
    end.result_type = &type_mark<T>;
  } else {
    end.result_type = &type_mark<void>;
  }
  return end;
}

/// The same for an answer, which lives as long as the end.
[[nodiscard]] CallEnd end_of(const Answer& answer) noexcept;

/// What code that is compiled once for all methods does with the Outcome<Result> of one call.
struct OutcomeType {
  /// The answer with the outcome that `fill` sets.
  Answer (*answer)(FunctionRef<void(void* outcome)> fill);
  /// An answer with a value of another type is an INTERNAL failure.
  void (*put)(void* outcome, Answer&& answer);
  CallEnd (*end)(const void* outcome) noexcept;
  const void* mark;  // of Result
};

template <class Result>
inline constexpr OutcomeType kOutcomeType{
    .answer =
        [](FunctionRef<void(void* outcome)> fill) {
          Outcome<Result> outcome;
          fill(&outcome);
          return Answer(std::move(outcome));
        },
    .put =
        [](void* outcome, Answer&& answer) {
          *static_cast<Outcome<Result>*>(outcome) = std::move(answer).template take<Result>();
        },
    .end = [](const void* outcome) noexcept { return end_of(*static_cast<const Outcome<Result>*>(outcome)); },
    .mark = &type_mark<Result>,
};

/// The failure for the current exception that an interceptor of a client has thrown: unlike a handler's, a
/// mistake of it is INTERNAL.
[[nodiscard]] Failure interceptor_failure();

/// A stop_token that stops when either of two does.
class EitherStop {
 public:
  EitherStop(const std::stop_token& one, const std::stop_token& other)
      : one_(one, Stop{source_}), other_(other, Stop{source_}) {}
  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Stop> one_;
  std::stop_callback<Stop> other_;
};

/// A call with interceptors around it. It is held by those that go on later.
class Onward : public std::enable_shared_from_this<Onward> {
 public:
  Onward() = default;
  Onward(const Onward&) = delete;
  Onward& operator=(const Onward&) = delete;
  virtual ~Onward() = default;

  /// Through all of them, for a call that blocks. The object may be on the caller's stack.
  [[nodiscard]] Answer run();
  /// The same for one that answers later; this object is owned by a shared_ptr. Throws nothing.
  void start(AnswerDone done);

 protected:
  /// Behind the innermost.
  virtual Answer go_on() = 0;
  virtual void go_on_later(AnswerDone done, const std::stop_token& stop) = 0;
  [[nodiscard]] virtual Intercepting& way() noexcept = 0;
  /// Call it in a catch block: the answer where an interceptor has thrown from call_async().
  [[nodiscard]] virtual Failure thrown() { return interceptor_failure(); }
  /// The answer where one has dropped the call.
  [[nodiscard]] virtual Failure given_up();
  [[nodiscard]] virtual bool may_wait() const { return true; }

 private:
  friend class mf::Proceed;
  class Handed;
  Answer run_from(std::size_t at, const std::shared_ptr<Onward>& self);
  void start_from(std::size_t at, const std::shared_ptr<Onward>& self, AnswerDone done,
                  const std::stop_token& stop);
};

/// The failure for the current exception that an interceptor around a handler has thrown. Before the handler
/// has run, an Error or a declared error is the caller's as it is; anything else follows the rules of
/// handlers.
[[nodiscard]] Failure refusal_or_handler_failure(bool handler_ran);
[[nodiscard]] Failure refusal();

/// A handler with interceptors around it, which runs once for a call.
class HandlerOnward : public Onward {
 protected:
  [[nodiscard]] Failure thrown() override { return refusal_or_handler_failure(ran_.load()); }
  [[nodiscard]] Failure given_up() override;
  /// Throws std::logic_error the second time.
  void run_once();

  std::atomic<bool> ran_{false};
};

/// A handler that is run and awaited by the thread that has called it.
class BlockingHandler final : public HandlerOnward {
 public:
  BlockingHandler(Intercepting& way, FunctionRef<Answer()> handler) noexcept : way_(way), handler_(handler) {}
  /// Through the interceptors; what is thrown is the answer.
  [[nodiscard]] Answer run_all();

 private:
  [[nodiscard]] Intercepting& way() noexcept override { return way_; }
  Answer go_on() override;
  void go_on_later(AnswerDone done, const std::stop_token& stop) override;

  Intercepting& way_;
  FunctionRef<Answer()> handler_;
};

/// A handler that answers later. `begin` starts it, once.
class LaterHandler final : public HandlerOnward {
 public:
  using Begin = UniqueFunction<void(AnswerDone)>;
  LaterHandler(std::shared_ptr<Intercepting> way, Begin begin) noexcept
      : way_(std::move(way)), begin_(std::move(begin)) {}

 private:
  [[nodiscard]] Intercepting& way() noexcept override { return *way_; }
  Answer go_on() override;
  void go_on_later(AnswerDone done, const std::stop_token& stop) override;

  const std::shared_ptr<Intercepting> way_;
  Begin begin_;
};

}  // namespace mf::detail
