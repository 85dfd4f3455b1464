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

  void bytes(const void* from, std::size_t size) noexcept {
    if (size != 0) {  // `from` of an empty container may be null
      std::memcpy(cursor_, from, size);
      cursor_ += size;
    }
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

 private:
  std::byte* cursor_;
};

}  // namespace mf::codec
