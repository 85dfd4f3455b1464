#pragma once
// How a handler ends, the same in-process and across hosts: a value, an error that the method declares, or a
// failure.
//
// A handler that throws an mf::Error says INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED or OVERLOADED
// to its caller by it. Any other mf::Error (of a call that the handler made itself, say) and any other
// exception is HANDLER_FAILED; so is a declared error that the method does not declare. All of them may have
// run. Of an asynchronous handler the same holds for what it throws before it has handed its responder on.

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"

namespace mf {

namespace detail {

/// In a catch block: the failure that the exception being handled stands for; declared errors as they are.
[[nodiscard]] Failure handler_failure();
[[nodiscard]] Failure undeclared(const Failure& failure);

}  // namespace detail

/// What `handler()` gives or throws, as an outcome. Errors that the method does not declare are sorted out by
/// who sends it.
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

/// Where the answers to a message's items go, without their type. Thread-safe.
class Answers {
 public:
  virtual ~Answers() = default;
  /// Moves from `outcome`, an Outcome<T>.
  virtual void answer(std::size_t item, void* outcome) = 0;
  virtual void fail(std::size_t item, const SharedFailure& failure) = 0;
};

/// What a responder is but for its type.
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

/// While an asynchronous handler begins, on this thread: what it throws before it has handed its responder on
/// is its answer, though the responder dies first, of that very exception.
class Beginning {
 public:
  Beginning(const Answers* answers, std::size_t item) noexcept;
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;
  /// A responder that died of an exception which the handler caught was given up.
  ~Beginning();
  /// In a catch block: answers, if the responder died of what is caught.
  void fail(const SharedFailure& failure);

 private:
  friend class Duty;
  /// Whether it answers instead.
  static bool takes(std::shared_ptr<Answers>& answers, std::size_t item) noexcept;

  Beginning* const outer_;
  const Answers* const answers_;
  const std::size_t item_;
  const int exceptions_;
  std::shared_ptr<Answers> left_;  // by the responder
};

/// Hands the one answer to a function.
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

/// The duty to answer one call, from any thread, once. One that is dropped unanswered answers HANDLER_FAILED.
template <class T>
class Responder : detail::Duty {
 public:
  using Duty::Duty;
  /// `function(Outcome<T>&&)` gets the answer: for tests of servants, and for calls that are passed on.
  template <class Function>
    requires std::is_invocable_v<Function&, Outcome<T>&&>
  explicit Responder(Function function)
      : Duty(std::make_shared<detail::AnswerTo<T, Function>>(std::move(function)), 0) {}

  /// A value, a declared error or a failure. Later answers are ignored.
  void respond(Outcome<T> outcome) { answer(&outcome); }
};

}  // namespace mf
