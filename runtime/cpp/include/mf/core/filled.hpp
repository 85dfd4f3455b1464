#pragma once
// An array of the same value throughout, for what must not begin with zeros.

#include <concepts>

namespace mf {

/// A std::array, or one of such arrays.
template <class Array, class T>
[[nodiscard]] constexpr Array filled(T value) noexcept {
  Array array{};
  if constexpr (std::same_as<typename Array::value_type, T>) {
    array.fill(value);
  } else {
    array.fill(filled<typename Array::value_type>(value));
  }
  return array;
}

}  // namespace mf
