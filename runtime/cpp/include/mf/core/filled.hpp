#pragma once
// An array with the same value in all elements, for arrays that must not start with zeros.

#include <concepts>

namespace mf {

/// A std::array, or an array of arrays.
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
