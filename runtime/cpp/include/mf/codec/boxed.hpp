// R1. The C++ type of an optional field whose type contains itself: a std::optional whose value lives on the
// heap.
//
// Copies are deep; moved-from is absent. T may be incomplete where a Boxed<T> is declared as a member.
#pragma once

#include <compare>
#include <memory>
#include <utility>

namespace mf {

template <class T>
class Boxed {
 public:
  Boxed() noexcept = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // implicit, as std::optional's
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  ~Boxed() = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) {
      Boxed(other).swap(*this);
    }
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;

  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }

  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return value_.get(); }
  const T* operator->() const noexcept { return value_.get(); }

  template <class... Args>
  T& emplace(Args&&... args) {
    value_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *value_;
  }
  void reset() noexcept { value_.reset(); }
  void swap(Boxed& other) noexcept { value_.swap(other.value_); }

  friend bool operator==(const Boxed& left, const Boxed& right) {
    return left.has_value() == right.has_value() && (!left || *left == *right);
  }
  /// Absent comes first, as in a std::optional.
  friend auto operator<=>(const Boxed& left, const Boxed& right) {
    using Order = std::compare_three_way_result_t<T>;
    if (left && right) {
      return Order(*left <=> *right);
    }
    return Order(left.has_value() <=> right.has_value());
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace mf
