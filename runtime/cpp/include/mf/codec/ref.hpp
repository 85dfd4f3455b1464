// R1. `ref<T>`: a shared object of a graph. A pointer that owns nothing: the mf::Graph around the value does.
//
// `ref<T>` and `ref<T>?` are both this type. Null is absent; where the schema wants a reference, a null one
// is refused before anything is sent. Two are equal if they name the same object.
#pragma once

#include <compare>
#include <cstddef>

namespace mf {

class Printer;

namespace detail {
void print_ref(Printer& printer, bool set);
}  // namespace detail

template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}
  constexpr Ref(T* object) noexcept : object_(object) {}
  constexpr Ref(T& object) noexcept : object_(&object) {}

  [[nodiscard]] constexpr T* get() const noexcept { return object_; }
  [[nodiscard]] constexpr bool has_value() const noexcept { return object_ != nullptr; }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  constexpr T& operator*() const noexcept { return *object_; }
  constexpr T* operator->() const noexcept { return object_; }

  friend constexpr bool operator==(const Ref&, const Ref&) noexcept = default;
  /// By address: an order for maps and sets of this process, and of no meaning outside.
  friend constexpr std::strong_ordering operator<=>(const Ref& left, const Ref& right) noexcept {
    return std::compare_three_way{}(left.object_, right.object_);
  }
  friend void print_to(Printer& printer, const Ref& ref) { detail::print_ref(printer, ref.has_value()); }

 private:
  T* object_ = nullptr;
};

}  // namespace mf
