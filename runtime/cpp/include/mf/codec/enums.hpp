// R1. What a codec needs of an enum. Generated code specialises it beside each enum.
#pragma once

#include <type_traits>

namespace mf::codec {

/// `static constexpr bool kOpen`, and `static constexpr bool valid(E)`: is it one of the members? (open: any
/// number is.) Of closed ones `static constexpr std::size_t kMembers` too, how many there are.
template <class E>
struct EnumTraits;

template <class E>
concept DeclaredEnum = std::is_enum_v<E> && requires(E value) {
  EnumTraits<E>::kOpen;
  EnumTraits<E>::valid(value);
};

}  // namespace mf::codec
