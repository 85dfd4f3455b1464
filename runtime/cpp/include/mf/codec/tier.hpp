// R1. Which tier a type has as a value of its own. Generated code declares it for every struct, error and
// union; scalars, enums and arrays of fixed size are their memory, and containers are febird around their
// elements.
#pragma once

#include <string_view>

#include "mf/codec/memcpy.hpp"
#include "mf/core/service.hpp"

namespace mf::codec {

struct TypeInfo {
  Tier tier{};              // that the schema planned
  std::string_view name{};  // that a path begins with: `Hit` in `Hit.positions[3]`
};

/// Of a struct, error or union that a schema declares: generated code specialises it. Empty for all others.
template <class T>
inline constexpr TypeInfo kTypeInfo{};

template <class T>
inline constexpr Tier kPlannedTier = kTypeInfo<T>.tier;
template <class T>
inline constexpr std::string_view kShortName = kTypeInfo<T>.name;

/// A struct, error or union that a schema declares.
template <class T>
concept Declared = kPlannedTier<T> != Tier{};

namespace detail {

template <class T>
consteval Tier tier_of() {
  if constexpr (Declared<T>) {
    return kPlannedTier<T>;
  } else {
    return FixedLayout<T> ? Tier::memcpy : Tier::febird;
  }
}

}  // namespace detail

template <class T>
inline constexpr Tier kTierOf = detail::tier_of<T>();

}  // namespace mf::codec
