#pragma once
// Outcome<T>: the end of a call, or of one item of a batch: a value, a declared error, or a failure with code
// and execution. A value costs nothing beyond T; the details of a failure are shared and immutable, so
// outcomes copy cheaply. A default-constructed outcome is an INTERNAL failure: an item that was never
// answered must not look like a value.

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/core/either.hpp"
#include "mf/core/error.hpp"

namespace mf {

struct Failure {
  Code code = Code::internal;
  Execution execution = Execution::unknown;
  /// How much of the message, from its start, says where or when this happened: see in_context().
  std::uint32_t context_size = 0;
  std::string message;
  std::shared_ptr<const DeclaredError> declared{};  // set if and only if code is Code::declared
  /// The message is the text of an exception that a handler did not mean for its caller: a server logs it,
  /// and sends a reference to the line instead (ServerOptions::error_texts).
  bool unexpected = false;

  /// The message without its context, for texts that name place and time themselves.
  [[nodiscard]] std::string_view reason() const noexcept {
    return std::string_view(message).substr(context_size);
  }
  /// Throws the declared error as its own type, or mf::Error.
  [[noreturn]] void raise() const;
  /// The failure for the current exception: call it in a catch block. Anything that is neither an Error nor a
  /// DeclaredError becomes HANDLER_FAILED, which may have run.
  [[nodiscard]] static Failure from_current_exception();
  [[nodiscard]] static Failure of(const DeclaredError& error);
};

namespace detail {
/// The failure of an outcome that was never set.
[[nodiscard]] const Failure& unset_failure() noexcept;
using SharedFailure = std::shared_ptr<const Failure>;
[[nodiscard]] SharedFailure shared(Failure failure);
[[nodiscard]] SharedFailure shared(const Error& error);
[[nodiscard]] SharedFailure shared(const DeclaredError& error);
}  // namespace detail

template <class T>
class [[nodiscard]] Outcome {
 public:
  using Value = T;

  Outcome() noexcept : state_(std::in_place_index<1>) {}
  Outcome(const T& value) : state_(std::in_place_index<0>, value) {}
  Outcome(T&& value) noexcept(std::is_nothrow_move_constructible_v<T>)
      : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : Outcome(detail::shared(std::move(failure))) {}
  Outcome(const Error& error) : Outcome(detail::shared(error)) {}
  Outcome(const DeclaredError& error) : Outcome(detail::shared(error)) {}
  /// Shares the failure, for the items of a message that all ended in the same way.
  explicit Outcome(detail::SharedFailure failure) noexcept
      : state_(std::in_place_index<1>, std::move(failure)) {}

  [[nodiscard]] bool ok() const noexcept { return state_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// The value; throws the declared error or mf::Error if there is none.
  [[nodiscard]] const T& value() const& {
    check();
    return state_.value();
  }
  [[nodiscard]] T& value() & {
    check();
    return state_.value();
  }
  [[nodiscard]] T&& value() && {
    check();
    return std::move(state_.value());
  }

  /// Becomes a value, `T()`, to be assigned in place.
  T& emplace() { return state_.emplace(); }

  /// Only if !ok().
  [[nodiscard]] const Failure& failure() const noexcept {
    return state_.has_error() && state_.error() ? *state_.error() : detail::unset_failure();
  }
  /// The declared error if it is of that type, otherwise null.
  template <std::derived_from<DeclaredError> E>
  [[nodiscard]] const E* error_as() const noexcept {
    return ok() ? nullptr : dynamic_cast<const E*>(failure().declared.get());
  }

 private:
  void check() const {
    if (!ok()) [[unlikely]]
      failure().raise();
  }

  detail::Either<T, detail::SharedFailure> state_;
};

template <>
class [[nodiscard]] Outcome<void> {
 public:
  using Value = void;

  Outcome() noexcept = default;  // nothing to return: success is the absence of a failure
  Outcome(Failure failure) : failure_(detail::shared(std::move(failure))) {}
  Outcome(const Error& error) : failure_(detail::shared(error)) {}
  Outcome(const DeclaredError& error) : failure_(detail::shared(error)) {}
  explicit Outcome(detail::SharedFailure failure) noexcept : failure_(std::move(failure)) {}

  [[nodiscard]] bool ok() const noexcept { return failure_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  void value() const {
    if (failure_ != nullptr) [[unlikely]]
      failure_->raise();
  }
  [[nodiscard]] const Failure& failure() const noexcept {
    return failure_ ? *failure_ : detail::unset_failure();
  }
  template <std::derived_from<DeclaredError> E>
  [[nodiscard]] const E* error_as() const noexcept {
    return ok() ? nullptr : dynamic_cast<const E*>(failure().declared.get());
  }

 private:
  detail::SharedFailure failure_;
};

template <class T>
using Outcomes = std::vector<Outcome<T>>;

/// The result or exception of `call()` as an outcome, unchanged. (Handlers use outcome_of().)
template <class Call>
[[nodiscard]] auto attempt(Call&& call) -> Outcome<std::invoke_result_t<Call&>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (...) {
    return Failure::from_current_exception();
  }
}

}  // namespace mf
