// R1. Tier febird: compact, field by field, no tags (docs/protocol.md, section 8).
//
// Febird<T> is the codec of one type:
//   kMinSize                bytes of its smallest encoding
//   kRaw                    perhaps: its encoding is its memory image as in Memcpy<T>: rows of it are one
//   copy size(value)             bytes of its encoding kMaxSize                bytes of its largest encoding,
//   if the type has one bound(value)            else, perhaps: what bound_of() gives write(writer, value)
//   unchecked: size() bytes are there write(writer, values)   perhaps: the same of many, one behind the
//   other, without a call for each read(reader, value)     false: reader.error() says what, where, and the
//   path; `value` is any valid one
// Every scalar, enum, std::optional, vector, array, set, map and every struct of tier memcpy has it from
// here; generated code specialises it for the structs of tier febird. read() overwrites what `value` held and
// reuses its memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "mf/codec/febird_container.hpp"
#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

namespace detail {

template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;

}  // namespace detail

// --- structs of tier memcpy

/// A generated struct (or error) of tier memcpy, inside febird: its layout, without alignment.
template <class T>
  requires(std::is_class_v<T> && FixedLayout<T> && !detail::kIsArray<T> && !std::same_as<T, Boolean> &&
           !std::same_as<T, Uuid> && !std::same_as<T, Timestamp> && !std::same_as<T, Duration>)
struct Febird<T> {
  static constexpr std::size_t kMinSize = Memcpy<T>::kSize;
  static constexpr std::size_t kMaxSize = kMinSize;
  static constexpr bool kRaw = true;
  static std::size_t size(const T& /*value*/) noexcept { return kMinSize; }
  static void write(Writer& writer, const T& value) noexcept { memcpy_write(writer, value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    if (!reader.enter() || !memcpy_read(reader, value)) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }
};

// --- fields and arguments

/// One field of a struct, which a failure names. In line, so that the name is not passed on unless reading
/// fails, and short numbers are read without a call.
template <class T>
[[nodiscard, gnu::always_inline]] inline bool read_field(Reader& reader, std::string_view name, T& value) {
  if constexpr (requires { Febird<T>::read_short(reader, value); }) {
    if (Febird<T>::read_short(reader, value)) [[likely]] {
      return true;
    }
  }
  if (Febird<T>::read(reader, value)) [[likely]] {
    return true;
  }
  return reader.inside(name);
}

// The parameters of a method, or fields of a struct, in order, without the struct that they would make. Folds
// would say the same, were it not that clang refuses one of 257 terms; braces have no such bound.

template <class... Args>
[[nodiscard, gnu::always_inline]] inline std::size_t febird_size(const Args&... args) noexcept {
  std::size_t size = 0;
  [[maybe_unused]] const auto add = [&size](std::size_t more) noexcept { return size += more; };
  [[maybe_unused]] const std::size_t sums[] = {0, add(Febird<Args>::size(args))...};
  return size;
}

template <class... Args>
[[nodiscard, gnu::always_inline]] inline std::size_t febird_bound(const Args&... args) noexcept {
  std::size_t bound = 0;
  [[maybe_unused]] const auto add = [&bound](std::size_t more) noexcept { return bound += more; };
  [[maybe_unused]] const std::size_t sums[] = {0, add(bound_of(args))...};
  return bound;
}

template <class... Args>
[[gnu::always_inline]] inline void febird_write(Writer& writer, const Args&... args) noexcept {
  Writer local = writer;  // a copy whose address is not kept stays in a register
  [[maybe_unused]] const int written[] = {0, (Febird<Args>::write(local, args), 0)...};
  writer = local;
}

}  // namespace mf::codec
