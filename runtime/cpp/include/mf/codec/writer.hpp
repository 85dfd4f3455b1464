// R1. Writes bytes into memory whose size was computed before: unchecked, so that encoding is a row of
// stores.
//
// The memory is the caller's; a Writer is a cursor into it and nothing more. An encoder calls size() first,
// reserves so many bytes, writes, and finds position() at the end: a difference is a bug of the codec. Of a
// message that is gathered, position() ends before the bytes that were not copied.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mf/core/gathered.hpp"

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec {

static_assert(std::endian::native == std::endian::little, "all encodings are little-endian memory images");

namespace detail {

using Sixteen [[gnu::vector_size(16)]] = char;  // a register; arrays would be memory that is waited for

template <class Part>
Part load_part(const std::byte* from) noexcept {
  Part part;
  std::memcpy(&part, from, sizeof(part));
  return part;
}
template <class Part>
void store_part(std::byte* to, Part part) noexcept {
  std::memcpy(to, &part, sizeof(part));
}

/// Both ends of up to twice as many bytes; gives the bits of all of them. All is loaded before anything is
/// stored: nothing is loaded again in fear that it has changed.
template <class Part>
Part copy_ends(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const auto first = load_part<Part>(from);
  const auto last = load_part<Part>(from + size - sizeof(Part));
  store_part(to, first);
  store_part(to + size - sizeof(Part), last);
  return first | last;
}
inline Sixteen copy_double_ends(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const auto first = load_part<Sixteen>(from);
  const auto second = load_part<Sixteen>(from + 16);
  const auto last_but_one = load_part<Sixteen>(from + size - 32);
  const auto last = load_part<Sixteen>(from + size - 16);
  store_part(to, first);
  store_part(to + 16, second);
  store_part(to + size - 32, last_but_one);
  store_part(to + size - 16, last);
  return first | second | last_but_one | last;
}

/// What is not from 32 to 64 bytes.
inline void copy_few_or_many(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size > 64) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    copy_ends<Sixteen>(to, from, size);
  } else if (size >= 8) {
    copy_ends<std::uint64_t>(to, from, size);
  } else if (size >= 4) {
    copy_ends<std::uint32_t>(to, from, size);
  } else if (size != 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}

/// Up to 64 bytes go in parts that overlap, titles and the like without a call. `from` of an empty container
/// may be null.
[[gnu::always_inline]] inline void copy_bytes(std::byte* to, const std::byte* from,
                                              std::size_t size) noexcept {
  if (size - 32 <= 64 - 32) {
    copy_double_ends(to, from, size);
  } else {
    copy_few_or_many(to, from, size);
  }
}

}  // namespace detail

class Writer {
 public:
  explicit Writer(std::byte* to) noexcept : cursor_(to) {}

  [[nodiscard]] std::byte* position() const noexcept { return cursor_; }

  void byte(std::byte value) noexcept { *cursor_++ = value; }

  /// Inline: only the position is passed on, so that a Writer whose address is not stored stays in a
  /// register.
  [[gnu::always_inline]] void bytes(const void* from, std::size_t size) noexcept {
    detail::copy_bytes(cursor_, static_cast<const std::byte*>(from), size);
    cursor_ += size;
  }

  /// A value of type `bytes`: a large one stays where it is, while a GatherScope is there for this memory.
  [[gnu::always_inline]] void shared(const Bytes& value) noexcept {
    if (value.size() >= Gathered::kFrom && GatherScope::take(cursor_, value)) [[unlikely]]
      return;
    bytes(value.data(), value.size());
  }

  void zeros(std::size_t size) noexcept {
    if (size != 0) {
      std::memset(cursor_, 0, size);
      cursor_ += size;
    }
  }

  /// For codecs that fill `size` bytes themselves; returns where.
  std::byte* skip(std::size_t size) noexcept {
    std::byte* const start = cursor_;
    cursor_ += size;
    return start;
  }

  /// Goes on behind what was written by other means.
  void continue_at(std::byte* position) noexcept { cursor_ = position; }

 private:
  std::byte* cursor_;  // alone, so that a Writer is a register
};

}  // namespace mf::codec

#pragma GCC diagnostic pop
