// R1. Writes bytes into memory whose size was computed before: unchecked, so that encoding is a row of
// stores.
//
// The memory is the caller's; a Writer is a cursor into it and nothing more. Who encodes a value calls size()
// first, reserves so many bytes, writes, and finds position() at the end: a difference is a bug of the codec.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

namespace mf::codec {

static_assert(std::endian::native == std::endian::little, "all encodings are little-endian memory images");

class Writer {
 public:
  explicit Writer(std::byte* to) noexcept : cursor_(to) {}

  [[nodiscard]] std::byte* position() const noexcept { return cursor_; }

  void byte(std::byte value) noexcept { *cursor_++ = value; }

  /// `from` of an empty container may be null. Up to 32 bytes go in two stores that overlap, without a call.
  void bytes(const void* from, std::size_t size) noexcept {
    const auto* const source = static_cast<const std::byte*>(from);
    if (size > 32) {
      std::memcpy(cursor_, source, size);
    } else if (size >= 16) {
      ends<16>(source, size);
    } else if (size >= 8) {
      ends<8>(source, size);
    } else if (size >= 4) {
      ends<4>(source, size);
    } else if (size != 0) {
      cursor_[0] = source[0];
      cursor_[size / 2] = source[size / 2];
      cursor_[size - 1] = source[size - 1];
    }
    cursor_ += size;
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
  template <std::size_t kPart>
  void ends(const std::byte* source, std::size_t size) noexcept {
    std::byte first[kPart];
    std::byte last[kPart];
    std::memcpy(first, source, kPart);
    std::memcpy(last, source + size - kPart, kPart);
    std::memcpy(cursor_, first, kPart);
    std::memcpy(cursor_ + size - kPart, last, kPart);
  }

  std::byte* cursor_;
};

}  // namespace mf::codec
