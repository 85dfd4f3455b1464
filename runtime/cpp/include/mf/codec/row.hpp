// R1. Rows of integers, as febird's lists, arrays and sets of them are: blocks of 256 values, each block in
// the smallest width that holds its values (docs/protocol.md, section 8, "Rows").
//
//   list, set    head (count x 4 + code of block 0), codes of the other blocks, values
//   array        codes of all blocks, values
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "mf/codec/enums.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/row_kernel.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/vector_place.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/types.hpp"

namespace mf::codec::detail {

inline constexpr std::size_t kRowBlock = 256;

template <class T>
struct RowBase {
  using Type = void;
};
template <std::integral T>
  requires(sizeof(T) > 1)
struct RowBase<T> {
  using Type = T;
};
template <>
struct RowBase<Duration> {
  using Type = std::int64_t;
};
template <DeclaredEnum E>
  requires(sizeof(E) > 1)
struct RowBase<E> {
  using Type = std::underlying_type_t<E>;
};

/// An integer of 2 to 8 bytes, whatever it is called.
template <class T>
concept RowElement = !std::is_void_v<typename RowBase<T>::Type>;

template <RowElement T>
[[nodiscard]] constexpr typename RowBase<T>::Type row_number(T value) noexcept {
  if constexpr (std::same_as<T, Duration>) {
    return value.count();
  } else {
    return static_cast<typename RowBase<T>::Type>(value);
  }
}

template <class T>
inline constexpr unsigned kMaxCode = std::bit_width(sizeof(T)) - 1;

constexpr std::size_t row_blocks(std::size_t count) noexcept {
  return (count + kRowBlock - 1) / kRowBlock;
}
/// Bytes of so many codes.
constexpr std::size_t code_bytes(std::size_t codes) noexcept {
  return (codes + 3) / 4;
}
/// Bytes of the codes behind the head.
constexpr std::size_t tail_code_bytes(std::size_t count) noexcept {
  return count <= kRowBlock ? 0 : code_bytes(row_blocks(count) - 1);
}

// --- writing

/// Where a row's values come from: block(i) gives the memory of the i-th 256 of them, or of what is left.
/// They are asked for in order, and again from 0 on.
template <class T>
struct SpanBlocks {
  std::span<const T> values;
  const T* block(std::size_t index, std::size_t /*count*/) noexcept {
    return values.data() + index * kRowBlock;
  }
};

constexpr std::size_t block_count(std::size_t count, std::size_t block) noexcept {
  return (std::min)(kRowBlock, count - block * kRowBlock);
}

/// Bytes of the values alone.
template <class T, class Blocks>
[[nodiscard]] std::size_t row_values_size(Blocks&& blocks, std::size_t count) noexcept {
  using Base = typename RowBase<T>::Type;
  std::size_t sum = 0;
  for (std::size_t block = 0, left = count; left != 0; ++block) {
    const std::size_t here = (std::min)(kRowBlock, left);
    sum += here << row_code<Base>(blocks.block(block, here), here);
    left -= here;
  }
  return sum;
}

/// Writes the codes from block `first` on, and behind them all values; gives the place behind them.
template <class T, class Blocks>
[[nodiscard]] std::byte* write_blocks(std::byte* start, Blocks&& blocks, std::size_t count,
                                      std::size_t first) noexcept {
  using Base = typename RowBase<T>::Type;
  const std::size_t all = row_blocks(count);
  const std::size_t coded = code_bytes(all - first);
  std::byte* const codes = start;
  std::byte* to = start + coded;
  if (all == 0) {
    return start;  // which may be null
  }
  std::memset(codes, 0, coded);
  for (std::size_t block = 0; block < all; ++block) {
    const std::size_t here = block_count(count, block);
    const T* const from = blocks.block(block, here);
    const unsigned code = row_code<Base>(from, here);
    if (block >= first) {
      const std::size_t at = block - first;
      codes[at / 4] |= static_cast<std::byte>(code << (at % 4 * 2));
    }
    narrow<Base>(to, from, here, code);
    to += here << code;
  }
  return to;
}

/// Rows that a dedicated path is worth for: a head of one byte, one block, nothing to loop over.
constexpr bool is_short_row(std::size_t count) noexcept {
  return count - 8 < 32 - 8;
}

template <class T>
[[nodiscard, gnu::always_inline]] inline std::size_t short_row_size(const T* values,
                                                                    std::size_t count) noexcept {
  using Base = typename RowBase<T>::Type;
  const auto* const from = reinterpret_cast<const std::byte*>(values);
  return 1 + (count << BitsOf<Base>::code_of(short_row_bits<Base>(from, count)));
}

template <class T>
[[nodiscard, gnu::always_inline]] inline std::byte* write_short_row(std::byte* to, const T* values,
                                                                    std::size_t count) noexcept {
  using Base = typename RowBase<T>::Type;
  const auto* const from = reinterpret_cast<const std::byte*>(values);
  return write_short<Base>(to, from, count, BitsOf<Base>::used(short_row_bits<Base>(from, count)));
}

/// Bytes of a row at most, whatever its values are.
template <class T>
constexpr std::size_t row_bound(std::size_t count) noexcept {
  return kMaxVarint<std::size_t> + 1 + count / (4 * kRowBlock) + count * sizeof(T);
}

/// Above this bound, the size of a row is computed; below, memory for the bound is reserved, which is faster.
inline constexpr std::size_t kMaxRowBound = std::size_t{64} << 10U;

template <class T, class Blocks>
[[nodiscard]] std::size_t row_size(Blocks&& blocks, std::size_t count) noexcept {
  return varint_size(count * 4) + tail_code_bytes(count) + row_values_size<T>(blocks, count);
}

/// Returns the place behind the row: a cursor whose address is not taken stays in a register.
template <class T, class Blocks>
[[nodiscard]] std::byte* write_row(std::byte* to, Blocks&& blocks, std::size_t count) noexcept {
  using Base = typename RowBase<T>::Type;
  Writer writer(to);
  if (count == 0) {
    writer.byte(std::byte{0});
    return writer.position();
  }
  const std::size_t here = (std::min)(kRowBlock, count);
  const T* const from = blocks.block(0, here);
  const unsigned code = row_code<Base>(from, here);
  write_varint(writer, count * 4 + code);
  if (count <= kRowBlock) [[likely]] {
    narrow<Base>(writer.position(), from, here, code);
    return writer.position() + (here << code);
  }
  return write_blocks<T>(writer.position(), blocks, count, 1);
}

// --- reading

[[nodiscard]] bool read_long_row_head(Reader& reader, unsigned max_code, std::size_t& count, unsigned& code);

/// A list's or set's head. The count has been held against the bytes left, the code against `max_code`.
[[nodiscard]] inline bool read_row_head(Reader& reader, unsigned max_code, std::size_t& count,
                                        unsigned& code) {
  if (reader.left() != 0) [[likely]] {
    const auto head = std::to_integer<unsigned>(*reader.peek());
    count = head >> 2U;
    code = head & 3U;
    if (head - 4 < 0x80 - 4 && count < reader.left() && code <= max_code) [[likely]] {
      reader.advance(1);
      return true;
    }
  }
  std::size_t long_count = 0;  // the caller's stay in registers
  unsigned any_code = 0;
  if (!read_long_row_head(reader, max_code, long_count, any_code)) [[unlikely]] {
    return false;
  }
  count = long_count;
  code = any_code;
  return true;
}

/// Takes `codes` codes, of which none may be more than `max_code`.
[[nodiscard]] bool take_codes(Reader& reader, std::size_t codes, unsigned max_code, const std::byte*& at);

[[nodiscard]] inline unsigned code_at(const std::byte* codes, std::size_t index) noexcept {
  return std::to_integer<unsigned>(codes[index / 4] >> (index % 4 * 2)) & 3U;
}

/// All values of a row must be there before the first one is looked at.
template <class CodeOf>
[[nodiscard]] bool check_values_left(Reader& reader, std::size_t count, const CodeOf& code_of) {
  std::size_t size = 0;
  for (std::size_t block = 0, first = 0; first < count; ++block, first += kRowBlock) {
    size += (std::min)(kRowBlock, count - first) << code_of(block);
  }
  return reader.need(size);
}

/// Fails unless its enum has the value, the `index`-th of a row that begins at `start`.
template <class T>
[[nodiscard]] bool check_value(Reader& reader, const T& value, std::size_t index, std::size_t start) {
  if constexpr (DeclaredEnum<T>) {
    if (!EnumTraits<T>::valid(value)) [[unlikely]] {
      reader.fail(Fault::unknown_enum_value, "an enum has a value that its type does not know", start);
      return reader.inside(index);
    }
  }
  return true;
}

/// A closed enum: what was read may be no value of it.
template <class T>
inline constexpr bool kMayBeUnknown = false;
template <DeclaredEnum T>
inline constexpr bool kMayBeUnknown<T> = !EnumTraits<T>::kOpen;

/// The same for a block that was just taken; `first` is the index of its first value.
template <class T>
[[nodiscard]] bool check_block(Reader& reader, const T* values, std::size_t first, std::size_t count,
                               unsigned code) {
  if constexpr (kMayBeUnknown<T>) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!check_value(reader, values[i], first + i, reader.offset() - ((count - i) << code))) [[unlikely]] {
        return false;
      }
    }
  }
  return true;
}

/// Reads all blocks: `sink.room(first, n)` gives memory for n values, `sink.take(first, n, code)` checks and
/// accepts them. `codes` holds the codes from block `skipped` on; block 0 may have come with a head.
template <class T, class Sink>
[[nodiscard]] bool read_blocks(Reader& reader, std::size_t count, unsigned head_code, std::size_t skipped,
                               const std::byte* codes, Sink& sink) {
  using Base = typename RowBase<T>::Type;
  const auto code_of = [&](std::size_t block) noexcept {
    return block < skipped ? head_code : code_at(codes, block - skipped);
  };
  if (!check_values_left(reader, count, code_of)) [[unlikely]] {
    return false;
  }
  for (std::size_t block = 0, first = 0; first < count; ++block) {
    const unsigned code = code_of(block);
    const std::size_t here = (std::min)(kRowBlock, count - first);
    const std::byte* const from = reader.peek();
    reader.advance(here << code);
    T* const to = sink.room(first, here);
    widen<Base>(to, from, here, code);
    if (!sink.take(reader, first, here, code)) [[unlikely]] {
      return false;
    }
    first += here;
  }
  return true;
}

/// The rest of a list or set behind its head.
template <class T, class Sink>
[[nodiscard]] bool read_row(Reader& reader, std::size_t count, unsigned code, Sink& sink) {
  const std::byte* codes = nullptr;
  if (count > kRowBlock && !take_codes(reader, row_blocks(count) - 1, kMaxCode<T>, codes)) [[unlikely]] {
    return false;
  }
  return read_blocks<T>(reader, count, code, 1, codes, sink);
}

/// Values that land where they belong.
template <class T>
struct SpanSink {
  T* values;
  T* room(std::size_t first, std::size_t /*count*/) noexcept { return values + first; }
  [[nodiscard]] bool take(Reader& reader, std::size_t first, std::size_t count, unsigned code) {
    return check_block(reader, values + first, first, count, code);
  }
};

/// The same where a refused block, of at most kMost values, must not be seen.
template <class T, std::size_t kMost>
struct CheckedSink {
  T* values;
  std::array<T, kMost> block{};
  T* room(std::size_t /*first*/, std::size_t /*count*/) noexcept { return block.data(); }
  [[nodiscard]] bool take(Reader& reader, std::size_t first, std::size_t count, unsigned code) {
    if (!check_block(reader, block.data(), first, count, code)) [[unlikely]] {
      return false;
    }
    std::copy_n(block.data(), count, values + first);
    return true;
  }
};

/// The rest of a vector of several blocks.
template <class T>
[[nodiscard, gnu::noinline]] bool read_long_row(Reader& reader, std::size_t count, unsigned code,
                                                std::vector<T>& values) {
  const std::byte* codes = nullptr;
  if (!take_codes(reader, row_blocks(count) - 1, kMaxCode<T>, codes)) [[unlikely]] {
    return false;
  }
  SpanSink<T> sink{overwrite(values, count)};
  if (!read_blocks<T>(reader, count, code, 1, codes, sink)) [[unlikely]] {
    values.clear();
    return false;
  }
  return true;
}

/// The memory of a vector is not zeroed before the values are written; after a failure, the part that was not
/// written cannot be reached.
template <class T>
[[nodiscard]] bool read_row(Reader& reader, std::vector<T>& values) {
  using Base = typename RowBase<T>::Type;
  std::size_t count = 0;
  unsigned code = 0;
  if (!read_row_head(reader, kMaxCode<T>, count, code) || !reader.charge(count, sizeof(T))) [[unlikely]] {
    return false;
  }
  if (count > kRowBlock) [[unlikely]] {
    return read_long_row(reader, count, code, values);
  }
  const std::byte* from = nullptr;
  if (!reader.take(count << code, from)) [[unlikely]] {
    return false;
  }
  T* const to = overwrite(values, count);
  widen<Base>(to, from, count, code);
  if (!check_block(reader, to, 0, count, code)) [[unlikely]] {
    values.clear();
    return false;
  }
  return true;
}

template <class T, std::size_t N>
[[nodiscard]] bool read_array_row(Reader& reader, std::array<T, N>& values) {
  const std::byte* codes = nullptr;
  if (!take_codes(reader, row_blocks(N), kMaxCode<T>, codes)) [[unlikely]] {
    return false;
  }
  std::conditional_t<kMayBeUnknown<T>, CheckedSink<T, (std::min)(N, kRowBlock)>, SpanSink<T>> sink{
      values.data()};
  return read_blocks<T>(reader, N, 0, 0, codes, sink);
}

}  // namespace mf::codec::detail
