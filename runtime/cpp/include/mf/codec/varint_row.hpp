// R1. Rows of LEB128 integers, as lists of them are made of: eight at a time while they are small.
//
// The bytes are those of varint.hpp, one number after the other. T is an integer of 2 to 8 bytes; signed ones
// are folded by zigzag first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "mf/codec/reader.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/writer.hpp"

namespace mf::codec {

namespace detail {

inline constexpr std::size_t kVarintBlock = 8;
inline constexpr std::uint64_t kLongVarints = 0x8080808080808080U;  // bit 7 of each byte

/// The number that goes onto the wire, in the width of T.
template <std::integral T>
constexpr std::make_unsigned_t<T> folded(T value) noexcept {
  using Unsigned = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>) {
    return static_cast<Unsigned>(zigzag(value));
  } else {
    return value;
  }
}

template <std::integral T>
constexpr T unfolded(std::make_unsigned_t<T> number) noexcept {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(unzigzag(number));
  } else {
    return number;
  }
}

/// All bits that any of the next eight numbers has.
template <std::integral T>
std::uint64_t block_bits(const T* from) noexcept {
  std::make_unsigned_t<T> bits = 0;
  for (std::size_t i = 0; i < kVarintBlock; ++i) {
    bits = static_cast<std::make_unsigned_t<T>>(bits | folded(from[i]));
  }
  return bits;
}

}  // namespace detail

template <std::integral T>
[[nodiscard]] std::size_t varint_row_size(std::span<const T> values) noexcept {
  std::size_t sum = 0;
  std::size_t i = 0;
  for (; i + detail::kVarintBlock <= values.size(); i += detail::kVarintBlock) {
    const T* const block = values.data() + i;
    if (detail::block_bits(block) < 0x80) {
      sum += detail::kVarintBlock;
      continue;
    }
    for (std::size_t k = 0; k < detail::kVarintBlock; ++k) {
      sum += varint_size(detail::folded(block[k]));
    }
  }
  for (; i < values.size(); ++i) {
    sum += varint_size(detail::folded(values[i]));
  }
  return sum;
}

template <std::integral T>
void write_varint_row(Writer& writer, std::span<const T> values) noexcept {
  Writer local = writer;  // a copy whose address is not taken stays in a register
  std::size_t i = 0;
  for (; i + detail::kVarintBlock <= values.size(); i += detail::kVarintBlock) {
    const T* const block = values.data() + i;
    if (detail::block_bits(block) < 0x80) {
      std::byte* const to = local.skip(detail::kVarintBlock);
      for (std::size_t k = 0; k < detail::kVarintBlock; ++k) {
        to[k] = static_cast<std::byte>(detail::folded(block[k]));
      }
      continue;
    }
    for (std::size_t k = 0; k < detail::kVarintBlock; ++k) {
      write_varint(local, detail::folded(block[k]));
    }
  }
  for (; i < values.size(); ++i) {
    write_varint(local, detail::folded(values[i]));
  }
  writer = local;
}

/// False after a failure; the path then has the index.
template <std::integral T>
[[nodiscard]] bool read_varint_row(Reader& reader, std::span<T> values) {
  std::size_t i = 0;
  while (i < values.size()) {
    if (values.size() - i >= detail::kVarintBlock && reader.left() >= detail::kVarintBlock) {
      std::uint64_t block = 0;
      std::memcpy(&block, reader.peek(), sizeof(block));
      if ((block & detail::kLongVarints) == 0) {
        const std::byte* const from = reader.peek();
        for (std::size_t k = 0; k < detail::kVarintBlock; ++k) {
          values[i + k] = detail::unfolded<T>(std::to_integer<std::uint8_t>(from[k]));
        }
        reader.advance(detail::kVarintBlock);
        i += detail::kVarintBlock;
        continue;
      }
    }
    // Not all small: so many one by one before it is tried again.
    for (std::size_t k = 0; k < detail::kVarintBlock && i < values.size(); ++k, ++i) {
      std::make_unsigned_t<T> number = 0;
      if (!read_varint(reader, number)) [[unlikely]] {
        return reader.inside(i);
      }
      values[i] = detail::unfolded<T>(number);
    }
  }
  return true;
}

}  // namespace mf::codec
