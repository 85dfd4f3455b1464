// R1. Tier memcpy: a value's bytes are its little-endian memory layout (docs/protocol.md, section 8).
//
// Memcpy<T> describes a type. All have
//   kSize            bytes on the wire
//   kAllBitsValid    no byte pattern is refused (then nothing needs to look at the bytes)
//   kHasPadding      some bytes belong to no field
//   valid(from)      do kSize bytes hold only valid bools and enums?
//   explain(reader, from, at)   fails with the first that is not valid; `at` is the offset of `from`. Only
//                    where some bits are not valid
// Types whose memory *is* that layout ("images": everything but declared errors and structs with empty
// fields) have
//   clear_padding(at)      zeroes the bytes that belong to no field, in the encoded value
// The others are moved slot by slot:
//   store(to, value)       into zeroed memory
//   load(from, value)      from bytes that are valid
// Generated code specialises it for the structs of this tier; the rest is here.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mf/codec/enums.hpp"
#include "mf/codec/overwrite.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/types.hpp"

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec {

template <class T>
struct Memcpy;

/// Is each of the bytes 0 or 1?
[[nodiscard]] bool all_bools(std::span<const std::byte> bytes) noexcept;

/// A type of tier memcpy.
template <class T>
concept FixedLayout = requires { Memcpy<T>::kSize; };

/// Its memory is its wire form, so that a whole row of them is one copy.
template <class T>
concept MemoryImage = FixedLayout<T> && Memcpy<T>::kSize == sizeof(T) &&
                      requires(std::byte* at) { Memcpy<T>::clear_padding(at); };

namespace detail {

template <class T>
struct PlainScalar {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kSize = sizeof(T);
  static constexpr bool kAllBitsValid = true;
  static constexpr bool kHasPadding = false;
  static void clear_padding(std::byte* /*at*/) noexcept {}
  static bool valid(const std::byte* /*from*/) noexcept { return true; }
};

struct BoolByte {
  static constexpr std::size_t kSize = 1;
  static constexpr bool kAllBitsValid = false;
  static constexpr bool kHasPadding = false;
  static void clear_padding(std::byte* /*at*/) noexcept {}
  static bool valid(const std::byte* from) noexcept { return std::to_integer<unsigned>(*from) <= 1; }
  static bool explain(Reader& reader, const std::byte* /*from*/, std::size_t at) {
    return reader.fail(Fault::invalid_bool, "a bool is neither 0 nor 1", at);
  }
};

}  // namespace detail

template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool> && sizeof(T) <= 8)
struct Memcpy<T> : detail::PlainScalar<T> {};

template <>
struct Memcpy<Uuid> : detail::PlainScalar<Uuid> {};
template <>
struct Memcpy<Timestamp> : detail::PlainScalar<Timestamp> {};
template <>
struct Memcpy<Duration> : detail::PlainScalar<Duration> {};

template <>
struct Memcpy<bool> : detail::BoolByte {
  static_assert(sizeof(bool) == 1);
};
template <>
struct Memcpy<Bool> : detail::BoolByte {
  static_assert(sizeof(Bool) == 1);
};

template <DeclaredEnum E>
struct Memcpy<E> : detail::PlainScalar<E> {
  static constexpr bool kAllBitsValid = EnumTraits<E>::kOpen;
  static bool valid(const std::byte* from) noexcept {
    std::underlying_type_t<E> number{};
    std::memcpy(&number, from, sizeof(number));
    return EnumTraits<E>::valid(static_cast<E>(number));
  }
  static bool explain(Reader& reader, const std::byte* /*from*/, std::size_t at) {
    return reader.fail(Fault::unknown_enum_value, "an enum has a value that its type does not know", at);
  }
};

/// Stands for "no value": the result of a method without results.
template <>
struct Memcpy<std::monostate> {
  static constexpr std::size_t kSize = 0;
  static constexpr bool kAllBitsValid = true;
  static constexpr bool kHasPadding = false;
  static bool valid(const std::byte* /*from*/) noexcept { return true; }
  static void store(std::byte* /*to*/, std::monostate /*value*/) noexcept {}
  static void load(const std::byte* /*from*/, std::monostate& /*value*/) noexcept {}
};

template <FixedLayout T, std::size_t N>
struct Memcpy<std::array<T, N>> {
  static constexpr std::size_t kSize = Memcpy<T>::kSize * N;
  static constexpr bool kAllBitsValid = Memcpy<T>::kAllBitsValid;
  static constexpr bool kHasPadding = Memcpy<T>::kHasPadding;

  static void clear_padding(std::byte* at) noexcept
    requires MemoryImage<T>
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::clear_padding(at + i * Memcpy<T>::kSize);
    }
  }
  static bool valid(const std::byte* from) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
      if (!Memcpy<T>::valid(from + i * Memcpy<T>::kSize)) {
        return false;
      }
    }
    return true;
  }
  static bool explain(Reader& reader, const std::byte* from, std::size_t at) {
    std::size_t i = 0;
    while (Memcpy<T>::valid(from + i * Memcpy<T>::kSize)) {
      ++i;
    }
    Memcpy<T>::explain(reader, from + i * Memcpy<T>::kSize, at + i * Memcpy<T>::kSize);
    return reader.inside(i);
  }
  static void store(std::byte* to, const std::array<T, N>& value) noexcept
    requires(!MemoryImage<T>)
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::store(to + i * Memcpy<T>::kSize, value[i]);
    }
  }
  static void load(const std::byte* from, std::array<T, N>& value) noexcept
    requires(!MemoryImage<T>)
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::load(from + i * Memcpy<T>::kSize, value[i]);
    }
  }
};

/// Puts one value into zeroed memory of Memcpy<T>::kSize bytes; its padding stays zero.
template <FixedLayout T>
void store(std::byte* to, const T& value) noexcept {
  if constexpr (MemoryImage<T>) {
    std::memcpy(to, &value, sizeof(T));
    if constexpr (Memcpy<T>::kHasPadding) {
      Memcpy<T>::clear_padding(to);
    }
  } else {
    Memcpy<T>::store(to, value);
  }
}

/// The opposite, from bytes that Memcpy<T>::valid() has approved.
template <FixedLayout T>
void load(const std::byte* from, T& value) noexcept {
  if constexpr (MemoryImage<T>) {
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
  } else {
    Memcpy<T>::load(from, value);
  }
}

/// Are all values of a row valid? Without a branch a value.
template <FixedLayout T>
[[nodiscard]] bool all_valid(const std::byte* from, std::size_t count) noexcept {
  constexpr std::size_t kSize = Memcpy<T>::kSize;
  if constexpr (std::same_as<T, bool> || std::same_as<T, Bool>) {
    return all_bools({from, count});
  } else {
    bool good = true;
    for (std::size_t i = 0; i < count; ++i) {
      good = static_cast<bool>(static_cast<unsigned>(good) &
                               static_cast<unsigned>(Memcpy<T>::valid(from + i * kSize)));
    }
    return good;
  }
}

/// Encoded size of `count` values.
template <FixedLayout T>
[[nodiscard]] constexpr std::size_t memcpy_size(std::size_t count) noexcept {
  return count * Memcpy<T>::kSize;
}

namespace detail {

/// Values of a row that are looked at and copied together, while they are in the nearest cache.
template <class T>
inline constexpr std::size_t kChunk = sizeof(T) < 1024 ? 1024 / sizeof(T) : 1;

/// Copies as many of the values as fill whole registers, without what their padding holds; gives how many.
template <MemoryImage T>
std::size_t copy_registers_without_padding(std::byte* to, const T* values, std::size_t count) noexcept {
  using Lanes [[gnu::vector_size(16)]] = std::uint8_t;
  constexpr std::size_t kBytes = std::lcm(sizeof(T), sizeof(Lanes));
  constexpr std::size_t kValues = kBytes / sizeof(T);
  if constexpr (kBytes > 128) {
    return 0;  // more masks than registers
  } else {
    std::array<std::byte, kBytes> bytes;
    bytes.fill(std::byte{0xFF});
    for (std::size_t i = 0; i < kValues; ++i) {
      Memcpy<T>::clear_padding(bytes.data() + i * sizeof(T));
    }
    Lanes masks[kBytes / sizeof(Lanes)];
    std::memcpy(masks, bytes.data(), kBytes);
    const auto* from = reinterpret_cast<const std::byte*>(values);
    const std::size_t whole = count - count % kValues;
    for (const std::byte* const end = from + whole * sizeof(T); from != end; from += kBytes, to += kBytes) {
      [=, &masks]<std::size_t... kI>(std::index_sequence<kI...>) noexcept {
        const auto copy = [=](std::size_t at, Lanes mask) noexcept {
          Lanes lanes;
          std::memcpy(&lanes, from + at, sizeof(lanes));
          lanes &= mask;
          std::memcpy(to + at, &lanes, sizeof(lanes));
        };
        (copy(kI * sizeof(Lanes), masks[kI]), ...);
      }(std::make_index_sequence<kBytes / sizeof(Lanes)>());
    }
    return whole;
  }
}

/// Copies values without what their padding holds: what fills no registers word by word through a mask.
template <MemoryImage T>
void copy_without_padding(std::byte* to, const T* values, std::size_t count) noexcept {
  using Word = std::conditional_t<
      sizeof(T) % 8 == 0, std::uint64_t,
      std::conditional_t<sizeof(T) % 4 == 0, std::uint32_t,
                         std::conditional_t<sizeof(T) % 2 == 0, std::uint16_t, std::uint8_t>>>;
  using Words = std::array<Word, sizeof(T) / sizeof(Word)>;
  Words mask;
  mask.fill(static_cast<Word>(-1));
  Memcpy<T>::clear_padding(reinterpret_cast<std::byte*>(mask.data()));
  for (std::size_t i = copy_registers_without_padding(to, values, count); i < count; ++i) {
    Words words;
    std::memcpy(words.data(), static_cast<const void*>(values + i), sizeof(T));
    for (std::size_t k = 0; k < words.size(); ++k) {
      words[k] = static_cast<Word>(words[k] & mask[k]);
    }
    std::memcpy(to + i * sizeof(T), words.data(), sizeof(T));
  }
}

}  // namespace detail

/// Writes a row of values, nothing between them.
template <FixedLayout T>
void memcpy_write(Writer& writer, std::span<const T> values) noexcept {
  constexpr std::size_t kSize = Memcpy<T>::kSize;
  if constexpr (MemoryImage<T> && Memcpy<T>::kHasPadding) {
    detail::copy_without_padding(writer.skip(values.size_bytes()), values.data(), values.size());
  } else if constexpr (MemoryImage<T>) {
    writer.bytes(values.data(), values.size_bytes());
  } else {
    for (const T& value : values) {
      std::byte* const to = writer.position();
      writer.zeros(kSize);
      store(to, value);
    }
  }
}

template <FixedLayout T>
void memcpy_write(Writer& writer, const T& value) noexcept {
  if constexpr (MemoryImage<T>) {
    store(writer.skip(sizeof(T)), value);  // so many bytes as the compiler knows: without a call
  } else {
    memcpy_write(writer, std::span<const T>(&value, 1));
  }
}

/// Part of a struct's explain(): true if the field is valid, else the reader fails with it.
template <FixedLayout T>
[[nodiscard]] bool explain_field(Reader& reader, std::string_view name, const std::byte* from,
                                 std::size_t at) {
  if (Memcpy<T>::valid(from)) {
    return true;
  }
  Memcpy<T>::explain(reader, from, at);
  return reader.inside(name);
}

/// Fails unless the value at `from`, which was just taken from the reader, is valid.
template <FixedLayout T>
[[nodiscard]] bool check_valid(Reader& reader, const std::byte* from) {
  if constexpr (!Memcpy<T>::kAllBitsValid) {
    if (!Memcpy<T>::valid(from)) [[unlikely]] {
      return Memcpy<T>::explain(reader, from, reader.offset() - Memcpy<T>::kSize);
    }
  }
  return true;
}

/// The same for `count` values at `from`, the first of which is number `first` of a row and stands at `at`.
template <FixedLayout T>
[[nodiscard]] bool check_valid_row(Reader& reader, const std::byte* from, std::size_t count,
                                   std::size_t first, std::size_t at) {
  if constexpr (!Memcpy<T>::kAllBitsValid) {
    if (!all_valid<T>(from, count)) [[unlikely]] {
      constexpr std::size_t kSize = Memcpy<T>::kSize;
      std::size_t i = 0;
      while (Memcpy<T>::valid(from + i * kSize)) {
        ++i;
      }
      Memcpy<T>::explain(reader, from + i * kSize, at + i * kSize);
      return reader.inside(first + i);
    }
  }
  return true;
}

template <FixedLayout T>
[[nodiscard]] bool memcpy_read(Reader& reader, T& value) {
  const std::byte* from = nullptr;
  if (!reader.take(Memcpy<T>::kSize, from) || !check_valid<T>(reader, from)) [[unlikely]] {
    return false;
  }
  load(from, value);
  return true;
}

/// Reads `count` values; the reader has shown that so many bytes are left.
template <FixedLayout T>
[[nodiscard]] bool memcpy_read(Reader& reader, std::size_t count, std::vector<T>& values) {
  constexpr std::size_t kSize = Memcpy<T>::kSize;
  const std::size_t at = reader.offset();
  const std::byte* from = nullptr;
  if (!reader.charge(count, sizeof(T)) || !reader.take(memcpy_size<T>(count), from)) [[unlikely]] {
    return false;
  }
  if constexpr (!MemoryImage<T>) {
    if (!check_valid_row<T>(reader, from, count, 0, at)) [[unlikely]] {
      return false;
    }
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      load(from + i * kSize, values[i]);
    }
  } else if constexpr (Memcpy<T>::kAllBitsValid) {
    T* const to = detail::overwrite(values, count);
    if (count != 0) {
      std::memcpy(static_cast<void*>(to), from, count * kSize);
    }
  } else {
    T* const to = detail::overwrite(values, count);
    for (std::size_t first = 0; first < count; first += detail::kChunk<T>) {
      const std::size_t here = std::min(detail::kChunk<T>, count - first);
      const std::byte* const part = from + first * kSize;
      if (!check_valid_row<T>(reader, part, here, first, at + first * kSize)) [[unlikely]] {
        values.clear();
        return false;
      }
      std::memcpy(static_cast<void*>(to + first), part, here * kSize);
    }
  }
  return true;
}

}  // namespace mf::codec

#pragma GCC diagnostic pop
