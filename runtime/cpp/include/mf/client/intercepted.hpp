// Calls of a client with its interceptors around them (mf/core/intercepting.hpp). The typed layer (call.hpp,
// stream.hpp) and the functions over items (src/client/call.cpp) come here if Target::is_intercepted(); what
// they call on with is the same code that calls without interceptors run.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "mf/client/target.hpp"
#include "mf/core/async.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/gathered.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/core/options.hpp"

namespace mf::client {

/// One call of a client. It refers to the target and the options, which live as long.
class ClientWay final : public mf::detail::Intercepting {
 public:
  ClientWay(const Target& target, const CallOptions& options, const MethodInfo& info, CallKind kind,
            std::size_t items);

  /// Throws what one refuses the call with.
  void begin();

  /// What one request is made with.
  struct Next {
    const CallOptions& options;
    TimePoint made;  // the deadline counts from here
    const std::shared_ptr<CallFacts>* facts;
  };
  /// Calls `use` with the options as interceptors have left them.
  void next(FunctionRef<void(const Next&)> use);

  using GoOn = FunctionRef<void(const Next&, void* outcome)>;
  using Start = FunctionRef<void(const Next&, AnswerDone, const std::stop_token&)>;
  /// Goes on with a call that blocks, through those that are around it, and ends it. `go_on` makes a request
  /// and sets its outcome, which is of `type`; `start` starts one. Throws what an interceptor throws, which
  /// has ended the call.
  void run(const mf::detail::OutcomeType& type, void* outcome, GoOn go_on, Start start);
  /// Goes on with what cannot be started to end later, and does not end the call.
  [[nodiscard]] Answer run(FunctionRef<Answer(const Next&)> go_on);

  /// The end with what the requests were.
  template <class T>
  void end(const Outcome<T>& outcome) noexcept {
    end_with(mf::detail::end_of(outcome));
  }
  /// Of a call of many items.
  void end(const ItemOutcomes& outcomes) noexcept;
  void end_with(CallEnd&& how) noexcept;
  void fail_with(const Failure& failure) noexcept;
  /// The caller has given it up, perhaps because of what note_failure() has noted.
  void give_up() noexcept;
  void note_failure(const Failure& failure);

  /// Whether asynchronous calls of the client complete on this thread.
  [[nodiscard]] bool on_completing_thread() const;
  /// The call ends later, when the target of its caller may be gone.
  void keep_target();

 private:
  [[nodiscard]] Answer run_around(FunctionRef<Answer(const Next&)> go_on, Start start);
  void share_facts();

  const Target* target_;
  const CallOptions& options_;
  TimePoint deadline_ = kNever;  // before interceptors have changed it
  std::atomic<bool> went_on_{false};
  CallFacts own_facts_;
  std::shared_ptr<CallFacts> facts_;
  std::shared_ptr<Core> core_;  // set by keep_target()
  std::mutex mutex_;
  std::optional<Failure> noted_;
};

/// An asynchronous call with its interceptors, which goes on after its caller has left. It is owned by a
/// shared_ptr.
class LaterWay : public mf::detail::Onward {
 public:
  /// `result` is the detail::type_mark of the method's result.
  LaterWay(const Target& target, const CallOptions& options, const MethodInfo& info, CallKind kind,
           const void* result, AnswerDone done, std::stop_token stop);

  /// Begins the call, and makes its requests. Throws nothing: what an interceptor throws is the answer.
  void begin();

 protected:
  /// Starts one request. `last`: no other one follows it.
  virtual void make(const ClientWay::Next& next, AnswerDone done, const std::stop_token& stop, bool last) = 0;

  [[nodiscard]] ClientWay& way() noexcept final { return way_; }
  [[nodiscard]] const Target& target() const noexcept { return target_; }

 private:
  Answer go_on() final;
  void go_on_later(AnswerDone done, const std::stop_token& stop) final;
  void finish(Answer&& answer);

  const Target target_;
  const CallOptions options_;
  const void* const result_;
  AnswerDone done_;
  const std::stop_token stop_;
  ClientWay way_;
};

/// Passes the answer of a call on to its completion.
template <class Result>
[[nodiscard]] AnswerDone answer_to(Callback<Result>&& done) {
  return AnswerDone(
      [done = std::move(done)](Answer&& answer) mutable { done(std::move(answer).template take<Result>()); });
}

namespace detail {

[[nodiscard]] Gathered copied(const Gathered& payload);
/// The bytes of a message that may be in several places.
[[nodiscard]] Buffer in_one_piece(const Gathered& payload);

}  // namespace detail

}  // namespace mf::client
