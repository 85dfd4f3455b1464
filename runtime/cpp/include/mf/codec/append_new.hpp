// R1. New elements of vectors, made just before they are read.
#pragma once

#include <vector>

#include "mf/codec/tier.hpp"
#include "mf/codec/vector_place.hpp"

namespace mf::codec::detail {

/// A new element at the end, for which there is room.
template <class T>
[[nodiscard]] T& append_new(std::vector<T>& values) {
  if constexpr (Declared<T>) {  // which generated code gives a value for each member
    return VectorPlace<T>::append(values);
  } else {
    return values.emplace_back();
  }
}

}  // namespace mf::codec::detail
