// R1. New elements of vectors, made just before they are read.
#pragma once

#include <vector>

#include "mf/codec/tier.hpp"
#include "mf/codec/vector_place.hpp"

namespace mf::codec::detail {

/// Generated code gives each member a value. Types of users, which may not, are of the other two tiers: those
/// that stand for a struct of tier memcpy, and those with a codec of their own.
template <class T>
concept GivesEachMemberAValue = kPlannedTier<T> == Tier::febird || kPlannedTier<T> == Tier::archive;

/// A new element at the end, for which there is room.
template <class T>
[[nodiscard]] T& append_new(std::vector<T>& values) {
  if constexpr (GivesEachMemberAValue<T>) {
    return VectorPlace<T>::append(values);
  } else {
    return values.emplace_back();
  }
}

}  // namespace mf::codec::detail
