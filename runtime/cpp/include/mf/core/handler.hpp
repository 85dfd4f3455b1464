#pragma once
// How a handler ends, the same in-process and across hosts: a value, an error that the method declares, or a
// failure.
//
// A handler that throws an mf::Error says INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED or OVERLOADED
// to its caller by it. Any other mf::Error (of a call that the handler made itself, say) and any other
// exception is HANDLER_FAILED; so is a declared error that the method does not declare. All of them may have
// run.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/core/unique_function.hpp"

namespace mf {

namespace detail {

template <class List>
struct Declares;
template <class... Errors>
struct Declares<ErrorList<Errors...>> {
  static bool contains([[maybe_unused]] const DeclaredError& error) noexcept {
    return (... || (dynamic_cast<const Errors*>(&error) != nullptr));
  }
};

/// In a catch block: the failure that the exception being handled stands for; declared errors as they are.
[[nodiscard]] Failure handler_failure();
[[nodiscard]] Failure undeclared(const Failure& failure);

}  // namespace detail

/// In a catch block: how a handler of a method with these errors has ended.
template <class Errors>
[[nodiscard]] Failure handler_failure() {
  auto failure = detail::handler_failure();
  if (failure.declared && !detail::Declares<Errors>::contains(*failure.declared))
    return detail::undeclared(failure);
  return failure;
}

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

/// The duty to answer one call, from any thread, once. One that is dropped unanswered answers HANDLER_FAILED.
template <class T>
class Responder {
 public:
  explicit Responder(UniqueFunction<void(Outcome<T>&&)> answer) : answer_(std::move(answer)) {}
  Responder(Responder&& other) noexcept : answer_(std::exchange(other.answer_, nullptr)) {}
  Responder& operator=(Responder&&) = delete;
  ~Responder() {
    if (answer_) {
      respond(Failure{.code = Code::handler_failed,
                      .execution = Execution::unknown,
                      .message = "the handler gave up the call without answering it",
                      .declared = nullptr});
    }
  }

  /// A value, a declared error or a failure. Later answers are ignored.
  void respond(Outcome<T> outcome) {
    if (auto answer = std::exchange(answer_, nullptr)) answer(std::move(outcome));
  }

 private:
  UniqueFunction<void(Outcome<T>&&)> answer_;
};

}  // namespace mf
