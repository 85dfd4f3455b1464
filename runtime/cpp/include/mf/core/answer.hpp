#pragma once
// The end of a call without its type: a value, a declared error, or a failure. Interceptors get and give it
// (interceptor.hpp); the runtime turns it into the Outcome<T> of the method and back.

#include <memory>
#include <type_traits>
#include <utility>

#include "mf/core/failure.hpp"
#include "mf/core/outcome.hpp"

namespace mf {

namespace detail {

/// Its address identifies the type. It is not constant, so that no linker merges two of them.
template <class T>
inline char type_mark = 0;

[[nodiscard]] Failure wrong_type_of_answer();

}  // namespace detail

/// Movable; the value is shared by copies.
class [[nodiscard]] Answer {
 public:
  /// An INTERNAL failure: a call that nothing has answered must not look like a value.
  Answer() noexcept = default;
  Answer(Failure why) : failure_(detail::shared(std::move(why))) {}
  Answer(const Error& error) : failure_(detail::shared(error)) {}
  Answer(const DeclaredError& error) : failure_(detail::shared(error)) {}
  template <class T>
  explicit Answer(Outcome<T>&& outcome) {
    if (!outcome.ok()) {
      failure_ = detail::shared(outcome.failure());
    } else if constexpr (std::is_void_v<T>) {
      type_ = &detail::type_mark<void>;
    } else {
      *this = of(std::move(outcome).value());
    }
  }
  /// The value of a call; its type is the Result of the method, or what docs/interceptors.md says for calls
  /// of many items and for streams.
  template <class T>
  static Answer of(T value) {
    return shared(std::make_shared<T>(std::move(value)));
  }
  template <class T>
  static Answer shared(std::shared_ptr<T> value) noexcept {
    Answer answer;
    answer.type_ = &detail::type_mark<T>;
    answer.value_ = std::move(value);
    return answer;
  }
  /// Of a method without a result.
  static Answer nothing() noexcept {
    Answer answer;
    answer.type_ = &detail::type_mark<void>;
    return answer;
  }

  [[nodiscard]] bool ok() const noexcept { return type_ != nullptr; }
  /// Only if !ok().
  [[nodiscard]] const Failure& failure() const noexcept {
    return failure_ ? *failure_ : detail::unset_failure();
  }
  /// Null for a failure, and for a value of another type.
  template <class T>
  [[nodiscard]] T* value() const noexcept {
    return type_ == &detail::type_mark<T> ? static_cast<T*>(value_.get()) : nullptr;
  }
  template <class T>
  [[nodiscard]] std::shared_ptr<T> shared_value() const noexcept {
    return type_ == &detail::type_mark<T> ? std::static_pointer_cast<T>(value_) : nullptr;
  }
  /// Becomes an INTERNAL failure if it has a value of another type than `mark`, a detail::type_mark, is of.
  void require(const void* mark) {
    if (ok() && type_ != mark) *this = detail::wrong_type_of_answer();
  }
  /// The value, and the detail::type_mark of its type; null for a failure.
  [[nodiscard]] const void* any_value() const noexcept { return value_.get(); }
  [[nodiscard]] const void* type() const noexcept { return type_; }
  /// An INTERNAL failure for a value of another type.
  template <class T>
  [[nodiscard]] Outcome<T> take() && {
    if (!ok()) return Outcome<T>(failure_ ? failure_ : detail::shared(detail::unset_failure()));
    if (type_ != &detail::type_mark<T>) return detail::wrong_type_of_answer();
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return std::move(*static_cast<T*>(value_.get()));
    }
  }

 private:
  const void* type_ = nullptr;   // null: there is no value
  std::shared_ptr<void> value_;  // null for void
  detail::SharedFailure failure_;
};

}  // namespace mf
