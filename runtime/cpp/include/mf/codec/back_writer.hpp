// R1. Writes bytes from the end of a memory to its front: what stands before a value, its length, is written
// when the value already is, so that nobody has to work it out twice.
//
// The memory is the caller's; its size was computed before, as for Writer, and every store is unchecked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mf/codec/unknown_fields.hpp"
#include "mf/codec/varint.hpp"

namespace mf::codec {

class BackWriter {
 public:
  explicit BackWriter(std::byte* end) noexcept : cursor_(end) {}

  /// The first byte that was written.
  [[nodiscard]] std::byte* position() const noexcept { return cursor_; }

  void bytes(const void* from, std::size_t size) noexcept {
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
  void unknown(const UnknownFields& fields) noexcept { bytes(fields.bytes.data(), unknown_size(fields)); }

  /// The memory image of a number.
  template <class T>
  void fixed(T value) noexcept {
    cursor_ -= sizeof(T);
    std::memcpy(cursor_, &value, sizeof(T));
  }

  void varint(std::uint64_t value) noexcept {
    if (value < 0x80) {
      *--cursor_ = static_cast<std::byte>(value);
    } else if (value < 0x4000) {
      cursor_ -= 2;
      cursor_[0] = static_cast<std::byte>(value | 0x80U);
      cursor_[1] = static_cast<std::byte>(value >> 7U);
    } else {
      cursor_ -= varint_size(value);
      Writer writer(cursor_);
      write_varint(writer, value);
    }
  }

  /// For codecs that fill `size` bytes themselves; returns where.
  std::byte* skip(std::size_t size) noexcept { return cursor_ -= size; }

 private:
  template <std::size_t kPart>
  void both_ends(const void* from, std::size_t size) noexcept {
    std::memcpy(cursor_, from, kPart);
    std::memcpy(cursor_ + size - kPart, static_cast<const std::byte*>(from) + size - kPart, kPart);
  }

  std::byte* cursor_;
};

}  // namespace mf::codec
