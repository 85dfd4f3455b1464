// R1. Vectors that are overwritten at once: memory that they have is used again, and nothing is zeroed
// before.
//
// std::vector has no such step: resize() writes every new element, insert() copies one by one whatever has
// default values. So this sets the end of a vector of libstdc++ itself, as folly's and struct_pack's do; with
// another standard library it is resize(). Only for types that any bytes make, and that need no destructor.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace mf::codec::detail {

// Checked vectors keep more than an end.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_SANITIZE_VECTOR)
#define MF_VECTOR_END_CAN_BE_SET 1
#else
#define MF_VECTOR_END_CAN_BE_SET 0
#endif

#if MF_VECTOR_END_CAN_BE_SET
template <class T>
struct VectorEnd : std::vector<T> {
  static void set(std::vector<T>& values, std::size_t count) noexcept {
    auto& place = values.*(&VectorEnd::_M_impl);
    place._M_finish = place._M_start + count;
  }
};
#endif

/// Gives the vector `count` elements, and their place. The caller writes all of them before anything else
/// looks at them.
template <class T>
  requires(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>)
[[nodiscard]] T* overwrite(std::vector<T>& values, std::size_t count) {
#if MF_VECTOR_END_CAN_BE_SET
  if (count > values.capacity()) {
    values.clear();
    values.reserve(count);
  }
  VectorEnd<T>::set(values, count);
#else
  values.resize(count);
#endif
  return values.data();
}

}  // namespace mf::codec::detail

#undef MF_VECTOR_END_CAN_BE_SET
