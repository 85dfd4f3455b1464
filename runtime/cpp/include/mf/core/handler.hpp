#pragma once
// How a handler ends, in-process and across hosts alike: with a value, a declared error, or a failure.
//
// A handler may throw an mf::Error with INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED or OVERLOADED,
// which its caller gets. Any other mf::Error (for example of a call that the handler made), any other
// exception, and an error that the method does not declare become HANDLER_FAILED. All of them may have run.
// The same holds for exceptions of an asynchronous handler before it has handed over its responder.

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"

namespace mf {

namespace detail {

/// Call it in a catch block: the failure for the current exception; declared errors are kept.
[[nodiscard]] Failure handler_failure();
[[nodiscard]] Failure undeclared(const Failure& failure);

}  // namespace detail

/// The result or exception of `handler()` as an outcome. The sender of the outcome handles errors that the
/// method does not declare.
template <class Handler>
[[nodiscard]] auto outcome_of(Handler&& handler) -> Outcome<std::invoke_result_t<Handler&>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Handler&>>) {
      handler();
      return {};
    } else {
      return handler();
    }
  } catch (...) {
    return detail::handler_failure();
  }
}

namespace detail {

/// Receives the answers to a message's items, without their type. Thread-safe.
class Answers {
 public:
  virtual ~Answers() = default;
  /// Moves from `outcome`, an Outcome<T>.
  virtual void answer(std::size_t item, void* outcome) = 0;
  virtual void fail(std::size_t item, const SharedFailure& failure) = 0;
};

/// The part of a responder that does not depend on its type.
class Duty {
 public:
  Duty(std::shared_ptr<Answers> answers, std::size_t item) noexcept
      : answers_(std::move(answers)), item_(item) {}
  Duty(Duty&&) noexcept = default;
  Duty& operator=(Duty&&) = delete;
  ~Duty();

 protected:
  void answer(void* outcome);

 private:
  std::shared_ptr<Answers> answers_;  // null once answered
  std::size_t item_;
};

/// The start of an asynchronous handler on this thread: an exception before the handler has handed over its
/// responder is its answer, although unwinding destroys the responder first.
class Beginning {
 public:
  Beginning(const Answers* answers, std::size_t item) noexcept;
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;
  /// A responder that was destroyed by an exception which the handler caught counts as dropped.
  ~Beginning();
  /// Call it in a catch block: answers if the current exception has destroyed the responder.
  void fail(const SharedFailure& failure);

 private:
  friend class Duty;
  /// Whether this object answers instead of the responder.
  static bool takes(std::shared_ptr<Answers>& answers, std::size_t item) noexcept;

  Beginning* const outer_;
  const Answers* const answers_;
  const std::size_t item_;
  const int exceptions_;
  std::shared_ptr<Answers> left_;  // taken from the destroyed responder
};

/// Passes the one answer to a function.
template <class T, class Function>
class AnswerTo final : public Answers {
 public:
  explicit AnswerTo(Function function) : function_(std::move(function)) {}

  void answer(std::size_t /*item*/, void* outcome) override {
    function_(std::move(*static_cast<Outcome<T>*>(outcome)));
  }
  void fail(std::size_t /*item*/, const SharedFailure& failure) override { function_(Outcome<T>(failure)); }

 private:
  Function function_;
};

}  // namespace detail

/// The duty to answer one call, from any thread, once. Dropped unanswered, it answers HANDLER_FAILED.
template <class T>
class Responder : detail::Duty {
 public:
  using Duty::Duty;
  /// `function(Outcome<T>&&)` gets the answer: for tests of servants, and for calls that are forwarded.
  template <class Function>
    requires std::is_invocable_v<Function&, Outcome<T>&&>
  explicit Responder(Function function)
      : Duty(std::make_shared<detail::AnswerTo<T, Function>>(std::move(function)), 0) {}

  /// A value, a declared error or a failure. Later answers are ignored.
  void respond(Outcome<T> outcome) { answer(&outcome); }
};

}  // namespace mf
