// R1. Result<T>: what a decoder made of bytes or text that may be anything: a value, or why there is none.
//
//   if (auto hit = mf::from_json<Hit>(text)) use(*hit); else log(hit.error().message());
//
// Decoding itself never throws; value() does, for callers that prefer exceptions.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "mf/codec/reader.hpp"
#include "mf/core/either.hpp"
#include "mf/core/error.hpp"

namespace mf {

namespace codec {

/// The bytes are in order, and the value breaks a constraint: code INVALID_ARGUMENT, no fault, no offset.
[[nodiscard]] DecodeError violated(std::string_view type, std::string_view violation);

}  // namespace codec

using codec::DecodeError;
using codec::Fault;

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /// A new value, made where it stays.
  explicit Result(std::in_place_t /*tag*/) : state_(std::in_place_index<0>) {}
  Result(DecodeError error) : state_(std::in_place_index<1>, std::move(error)) {}

  /// There is no value, after all.
  void refuse(DecodeError error) { *this = Result(std::move(error)); }

  [[nodiscard]] bool ok() const noexcept { return state_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// Only when ok().
  [[nodiscard]] T& operator*() & noexcept { return state_.value(); }
  [[nodiscard]] const T& operator*() const& noexcept { return state_.value(); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(state_.value()); }
  [[nodiscard]] T* operator->() noexcept { return std::addressof(state_.value()); }
  [[nodiscard]] const T* operator->() const noexcept { return std::addressof(state_.value()); }

  /// Only when !ok().
  [[nodiscard]] const DecodeError& error() const noexcept { return state_.error(); }

  /// The value; throws Error(DECODE_ERROR) if there is none.
  [[nodiscard]] T& value() & {
    check();
    return state_.value();
  }
  [[nodiscard]] const T& value() const& {
    check();
    return state_.value();
  }
  [[nodiscard]] T&& value() && {
    check();
    return std::move(state_.value());
  }

 private:
  void check() const {
    if (!ok()) [[unlikely]]
      throw Error(error().code, Execution::unknown, error().message());
  }

  detail::Either<T, DecodeError> state_;
};

/// What was made went elsewhere, or there is only to know whether it could be.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  Result(DecodeError error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// Only when !ok().
  [[nodiscard]] const DecodeError& error() const noexcept { return *error_; }

  /// Throws Error(DECODE_ERROR) unless ok().
  void value() const {
    if (!ok()) [[unlikely]] {
      throw Error(error_->code, Execution::unknown, error_->message());
    }
  }

 private:
  std::optional<DecodeError> error_;
};

}  // namespace mf
