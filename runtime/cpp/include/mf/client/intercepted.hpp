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

  /// Goes on with a call that blocks, through those that are around it. `go_on(next)` makes a request and
  /// returns its Outcome<Result>; `start(next, done, stop)` starts one. Throws what an interceptor throws,
  /// which has ended the call.
  template <class Result, class GoOn, class Start>
  Outcome<Result> run(const GoOn& go_on, const Start& start) {
    if (!has_around()) {
      Outcome<Result> outcome;
      next([&](const Next& now) { outcome = go_on(now); });
      return outcome;
    }
    share_facts();
    return std::move(run_around([&](const Next& now) { return Answer(go_on(now)); },
                                [&](const Next& now, AnswerDone done, const std::stop_token& stop) {
                                  start(now,
                                        Callback<Result>(
                                            [done = std::move(done)](Outcome<Result>&& outcome) mutable {
                                              done(Answer(std::move(outcome)));
                                            }),
                                        stop);
                                }))
        .template take<Result>();
  }
  /// The same without types, for what cannot be started to end later.
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
  using GoOn = FunctionRef<Answer(const Next&)>;
  using Start = FunctionRef<void(const Next&, AnswerDone, const std::stop_token&)>;

  [[nodiscard]] Answer run_around(GoOn go_on, Start start);
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

namespace detail {

/// The answer of `proceed()` where only `proceed.start()` may be used.
[[nodiscard]] Failure must_not_wait();
[[nodiscard]] Gathered copied(const Gathered& payload);
/// The bytes of a message that may be in several places.
[[nodiscard]] Buffer in_one_piece(const Gathered& payload);

}  // namespace detail

}  // namespace mf::client
