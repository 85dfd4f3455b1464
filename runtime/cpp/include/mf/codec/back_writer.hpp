// R1. Writes bytes from the end of a memory to its front: the length in front of a value is written after the
// value, so that it is not computed twice.
//
// The memory is the caller's; its size was computed before, as for Writer, and every store is unchecked.
// A function that writes several values copies the writer and stores the copy back: a copy whose address is
// not taken stays in a register, where the compiler has to assume of the original that every store of a byte
// changes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mf/codec/unknown_fields.hpp"
#include "mf/codec/varint_word.hpp"

namespace mf::codec {

/// A varint of three bytes or more, so that it ends here; gives its first byte.
[[nodiscard]] std::byte* write_long_varint_before(std::byte* end, std::uint64_t value) noexcept;

class BackWriter {
 public:
  explicit BackWriter(std::byte* end) noexcept : cursor_(end) {}

  /// The first byte that was written.
  [[nodiscard]] std::byte* position() const noexcept { return cursor_; }

  [[gnu::always_inline]] void bytes(const void* from, std::size_t size) noexcept {
    if (size != 0) {  // `from` of an empty container may be null
      cursor_ -= size;
      std::memcpy(cursor_, from, size);
    }
  }

  /// The same for what is often short: two stores that overlap, without a call.
  void text(const void* from, std::size_t size) noexcept {
    cursor_ -= size;
    if (size > 32) {
      std::memcpy(cursor_, from, size);
    } else if (size >= 16) {
      both_ends<16>(from, size);
    } else if (size >= 8) {
      both_ends<8>(from, size);
    } else if (size >= 4) {
      both_ends<4>(from, size);
    } else if (size != 0) {
      const auto* const source = static_cast<const std::byte*>(from);
      cursor_[0] = source[0];
      cursor_[size / 2] = source[size / 2];
      cursor_[size - 1] = source[size - 1];
    }
  }

  /// The fields that a reader did not know; a graph may leave them out.
  [[gnu::always_inline]] void unknown(const UnknownFields& fields) noexcept {
    bytes(fields.bytes.data(), unknown_size(fields));
  }

  /// The memory image of a number.
  template <class T>
  [[gnu::always_inline]] void fixed(T value) noexcept {
    cursor_ -= sizeof(T);
    std::memcpy(cursor_, &value, sizeof(T));
  }

  [[gnu::always_inline]] void varint(std::uint64_t value) noexcept {
    if (value < 0x80) {
      *--cursor_ = static_cast<std::byte>(value);
    } else if (value < 0x4000) {
      cursor_ -= 2;
      store_word(cursor_, static_cast<std::uint16_t>((value & 0x7FU) | 0x80U | ((value << 1U) & 0x7F00U)));
    } else {
      cursor_ = write_long_varint_before(cursor_, value);
    }
  }

  /// For codecs that fill `size` bytes themselves; returns where.
  std::byte* skip(std::size_t size) noexcept { return cursor_ -= size; }

  /// Goes on before what was written by other means.
  void continue_at(std::byte* position) noexcept { cursor_ = position; }

 private:
  template <std::size_t kPart>
  void both_ends(const void* from, std::size_t size) noexcept {
    std::memcpy(cursor_, from, kPart);
    std::memcpy(cursor_ + size - kPart, static_cast<const std::byte*>(from) + size - kPart, kPart);
  }

  std::byte* cursor_;
};

}  // namespace mf::codec
