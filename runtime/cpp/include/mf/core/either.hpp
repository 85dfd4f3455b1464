#pragma once
// Either<T, E>: a value, or an error; the base of Outcome and Result. It does not use std::variant, which
// takes ten times as long to compile in every stub and decoder for every type.

#include <memory>
#include <type_traits>
#include <utility>

namespace mf::detail {

template <class T, class E>
class Either {
 public:
  template <class... Args>
  explicit Either(std::in_place_index_t<0> /*value*/, Args&&... args)
      : value_(std::forward<Args>(args)...), holds_(Holds::value) {}
  template <class... Args>
  explicit Either(std::in_place_index_t<1> /*error*/, Args&&... args)
      : error_(std::forward<Args>(args)...), holds_(Holds::error) {}

  Either(const Either& other) : holds_(Holds::nothing) { take(other); }
  Either(Either&& other) noexcept(kMoves) : holds_(Holds::nothing) { take(std::move(other)); }
  Either& operator=(const Either& other) { return *this = Either(other); }
  Either& operator=(Either&& other) noexcept(kMoves) {
    if (this != &other) {
      drop();
      take(std::move(other));
    }
    return *this;
  }
  ~Either() { drop(); }

  [[nodiscard]] bool has_value() const noexcept { return holds_ == Holds::value; }
  [[nodiscard]] bool has_error() const noexcept { return holds_ == Holds::error; }
  /// Becomes a value, `T()`, to be assigned in place.
  T& emplace() {
    drop();
    std::construct_at(std::addressof(value_));
    holds_ = Holds::value;
    return value_;
  }
  /// Only if it has a value.
  [[nodiscard]] T& value() noexcept { return value_; }
  [[nodiscard]] const T& value() const noexcept { return value_; }
  [[nodiscard]] const E& error() const noexcept { return error_; }

 private:
  static constexpr bool kMoves = std::is_nothrow_move_constructible_v<T>;
  /// `nothing`: a constructor of T threw while a value was being stored.
  enum class Holds : unsigned char { value, error, nothing };

  template <class Other>
  void take(Other&& other) {
    if (other.holds_ == Holds::value) {
      std::construct_at(std::addressof(value_), std::forward<Other>(other).value_);
    } else if (other.holds_ == Holds::error) {
      std::construct_at(std::addressof(error_), std::forward<Other>(other).error_);
    }
    holds_ = other.holds_;
  }
  void drop() noexcept {
    const auto held = std::exchange(holds_, Holds::nothing);
    if (held == Holds::value) {
      value_.~T();
    } else if (held == Holds::error) {
      error_.~E();
    }
  }

  union {
    T value_;
    E error_;
  };
  Holds holds_;
};

}  // namespace mf::detail
