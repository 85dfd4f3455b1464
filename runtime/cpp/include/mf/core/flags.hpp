#pragma once
// The arithmetic of `flags`: an enum class whose values are sets of bits, named ones and others.
//
// Generated code defines operators (| & ^ ~ and their assignments) and has() for each flags type by these
// functions. All of them keep bits without a name: a newer program may have named them.

#include <type_traits>

namespace mf::flags {

template <class F>
using Bits = std::underlying_type_t<F>;

template <class F>
[[nodiscard]] constexpr Bits<F> bits(F value) noexcept {
  return static_cast<Bits<F>>(value);
}

template <class F>
[[nodiscard]] constexpr F either(F left, F right) noexcept {
  return static_cast<F>(bits(left) | bits(right));
}

template <class F>
[[nodiscard]] constexpr F both(F left, F right) noexcept {
  return static_cast<F>(bits(left) & bits(right));
}

template <class F>
[[nodiscard]] constexpr F differing(F left, F right) noexcept {
  return static_cast<F>(bits(left) ^ bits(right));
}

template <class F>
[[nodiscard]] constexpr F inverse(F value) noexcept {
  return static_cast<F>(static_cast<Bits<F>>(~bits(value)));
}

}  // namespace mf::flags
