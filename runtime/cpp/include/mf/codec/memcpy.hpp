// R1. Tier memcpy: values, and rows of them with nothing between, in the layout that memcpy_layout.hpp
// describes.
//
// What has no padding is copied as it is; what is read is looked at only where some bits are not valid.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "mf/codec/memcpy_layout.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/vector_place.hpp"
#include "mf/codec/writer.hpp"

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec {

namespace detail {

/// Values of a row that are looked at and copied together, while they are in the nearest cache.
template <class T>
inline constexpr std::size_t kChunk = sizeof(T) < 8192 ? 8192 / sizeof(T) : 1;

/// Rows whose values, one or several, fill whole registers: few enough for a pattern of bytes to stay there.
using Lanes [[gnu::vector_size(16)]] = std::uint8_t;
template <FixedLayout T>
inline constexpr std::size_t kRegisterBytes = [] {
  std::size_t bytes = std::lcm(Memcpy<T>::kSize, sizeof(Lanes));
  while (bytes != 0 && bytes <= 32) {
    bytes *= 2;  // more of them behind each other, so that there is less to count
  }
  return bytes;
}();
template <FixedLayout T>
inline constexpr std::size_t kRegisterValues = [] {
  constexpr bool kFew = kRegisterBytes<T> != 0 && kRegisterBytes<T> <= 128;
  return kFew ? kRegisterBytes<T> / std::max<std::size_t>(Memcpy<T>::kSize, 1) : 0;
}();

/// So many registers of 0xFF, changed by `mark` for each value.
template <FixedLayout T>
struct Registers {
  template <class Mark>
  explicit Registers(const Mark& mark) noexcept {
    std::array<std::byte, kRegisterBytes<T>> bytes;
    bytes.fill(std::byte{0xFF});
    for (std::size_t i = 0; i < kRegisterValues<T>; ++i) {
      mark(bytes.data() + i * Memcpy<T>::kSize);
    }
    std::memcpy(lanes, bytes.data(), sizeof(lanes));
  }
  /// Calls use(offset, lanes of the pattern) for each register, without a loop.
  template <class Use>
  void each(const Use& use) const noexcept {
    [&]<std::size_t... kI>(std::index_sequence<kI...>) noexcept {
      (use(kI * sizeof(Lanes), lanes[kI]), ...);
    }(std::make_index_sequence<kRegisterBytes<T> / sizeof(Lanes)>());
  }

  Lanes lanes[kRegisterBytes<T> / sizeof(Lanes)];
};

[[nodiscard]] inline Lanes load_lanes(const std::byte* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

/// Not 0 in the bytes that are more than `most`.
[[nodiscard]] inline Lanes excess(Lanes lanes, Lanes most) noexcept {
#if defined(__SSE2__)
  return reinterpret_cast<Lanes>(
      _mm_subs_epu8(reinterpret_cast<__m128i>(lanes), reinterpret_cast<__m128i>(most)));
#else
  return reinterpret_cast<Lanes>(lanes > most);
#endif
}

/// Is no byte more than the most that is valid in its place? Of whole registers of values.
template <ByteLimited T>
[[nodiscard]] bool within_limits(const std::byte* from, std::size_t count) noexcept {
  const Registers<T> limits([](std::byte* at) noexcept { Memcpy<T>::limit(at); });
  Lanes over{};
  for (const std::byte* const end = from + count * Memcpy<T>::kSize; from != end; from += kRegisterBytes<T>) {
    limits.each([&](std::size_t at, Lanes most) noexcept { over |= excess(load_lanes(from + at), most); });
  }
  std::uint64_t halves[2];
  std::memcpy(halves, &over, sizeof(halves));
  return (halves[0] | halves[1]) == 0;
}

}  // namespace detail

/// Are all values of a row valid? Without a branch a value.
template <FixedLayout T>
[[nodiscard]] bool all_valid(const std::byte* from, std::size_t count) noexcept {
  bool good = true;
  std::size_t i = 0;
  if constexpr (ByteLimited<T> && detail::kRegisterValues<T> != 0) {
    i = count - count % detail::kRegisterValues<T>;
    good = detail::within_limits<T>(from, i);
  }
  for (; i < count; ++i) {
    good = static_cast<bool>(static_cast<unsigned>(good) &
                             static_cast<unsigned>(Memcpy<T>::valid(from + i * Memcpy<T>::kSize)));
  }
  return good;
}

/// Encoded size of `count` values.
template <FixedLayout T>
[[nodiscard]] constexpr std::size_t memcpy_size(std::size_t count) noexcept {
  return count * Memcpy<T>::kSize;
}

namespace detail {

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
  std::size_t i = 0;
  if constexpr (kRegisterValues<T> != 0) {
    const Registers<T> masks([](std::byte* at) noexcept { Memcpy<T>::clear_padding(at); });
    for (; i + kRegisterValues<T> <= count; i += kRegisterValues<T>) {
      const auto* const from = reinterpret_cast<const std::byte*>(values + i);
      std::byte* const here = to + i * sizeof(T);
      masks.each([=](std::size_t at, Lanes kept) noexcept {
        const Lanes lanes = load_lanes(from + at) & kept;
        std::memcpy(here + at, &lanes, sizeof(lanes));
      });
    }
  }
  for (; i < count; ++i) {
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
void memcpy_write(Writer& writer, const T* values, std::size_t count) noexcept {
  constexpr std::size_t kSize = Memcpy<T>::kSize;
  if constexpr (MemoryImage<T> && Memcpy<T>::kHasPadding) {
    detail::copy_without_padding(writer.skip(count * kSize), values, count);
  } else if constexpr (MemoryImage<T>) {
    writer.bytes(values, count * kSize);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const to = writer.position();
      writer.zeros(kSize);
      store(to, values[i]);
    }
  }
}

template <FixedLayout T>
void memcpy_write(Writer& writer, const T& value) noexcept {
  if constexpr (MemoryImage<T>) {
    store(writer.skip(sizeof(T)),
          value);  // the compiler has the size: no call
  } else {
    memcpy_write(writer, &value, 1);
  }
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

/// The same for `count` values at `from`, the first of which is number `first` of a row and has offset `at`.
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

/// Reads a row of values into their place.
template <FixedLayout T>
[[nodiscard]] bool memcpy_read(Reader& reader, std::size_t count, T* to) {
  constexpr std::size_t kSize = Memcpy<T>::kSize;
  const std::size_t at = reader.offset();
  const std::byte* from = nullptr;
  if (!reader.take(memcpy_size<T>(count), from)) [[unlikely]] {
    return false;
  }
  if constexpr (!MemoryImage<T>) {
    if (!check_valid_row<T>(reader, from, count, 0, at)) [[unlikely]] {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      load(from + i * kSize, to[i]);
    }
  } else if constexpr (Memcpy<T>::kAllBitsValid) {
    detail::copy_bytes(reinterpret_cast<std::byte*>(to), from, count * kSize);
  } else {
    for (std::size_t first = 0; first < count; first += detail::kChunk<T>) {
      const std::size_t here = (std::min)(detail::kChunk<T>, count - first);
      const std::byte* const part = from + first * kSize;
      if (!check_valid_row<T>(reader, part, here, first, at + first * kSize)) [[unlikely]] {
        return false;
      }
      std::memcpy(static_cast<void*>(to + first), part, here * kSize);
    }
  }
  return true;
}

/// Reads `count` values; the reader has shown that so many bytes are left.
template <FixedLayout T>
[[nodiscard]] bool memcpy_read(Reader& reader, std::size_t count, std::vector<T>& values) {
  if (!reader.charge(count, sizeof(T))) [[unlikely]] {
    return false;
  }
  if constexpr (MemoryImage<T> && Memcpy<T>::kAllBitsValid) {
    T* const to = detail::overwrite(values, count);
    detail::copy_bytes(reinterpret_cast<std::byte*>(to), reader.peek(), count * sizeof(T));
    reader.advance(count * sizeof(T));
    return true;
  } else {
    T* to = nullptr;
    if constexpr (MemoryImage<T>) {
      to = detail::overwrite(values, count);
    } else {
      values.resize(count);
      to = values.data();
    }
    if (!memcpy_read(reader, count, to)) [[unlikely]] {
      values.clear();
      return false;
    }
    return true;
  }
}

}  // namespace mf::codec

#pragma GCC diagnostic pop
