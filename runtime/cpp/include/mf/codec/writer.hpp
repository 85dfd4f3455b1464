// R1. Writes bytes into memory whose size was computed before: unchecked, so that encoding is a row of
// stores.
//
// The memory is the caller's; a Writer is a cursor into it and nothing more. Who encodes a value calls size()
// first, reserves so many bytes, writes, and finds position() at the end: a difference is a bug of the codec.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec {

static_assert(std::endian::native == std::endian::little, "all encodings are little-endian memory images");

class Writer {
 public:
  explicit Writer(std::byte* to) noexcept : cursor_(to) {}

  [[nodiscard]] std::byte* position() const noexcept { return cursor_; }

  void byte(std::byte value) noexcept { *cursor_++ = value; }

  /// `from` of an empty container may be null. Up to 64 bytes go in two parts that overlap, without a call.
  void bytes(const void* from, std::size_t size) noexcept {
    const auto* const source = static_cast<const std::byte*>(from);
    if (size > 64) {
      std::memcpy(cursor_, source, size);
    } else if (size >= 32) {
      double_ends(source, size);
    } else if (size >= 16) {
      ends<Sixteen>(source, size);
    } else if (size >= 8) {
      ends<std::uint64_t>(source, size);
    } else if (size >= 4) {
      ends<std::uint32_t>(source, size);
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
  using Sixteen [[gnu::vector_size(16)]] = char;  // a register; arrays would be memory that is waited for

  template <class Part>
  static Part load(const std::byte* from) noexcept {
    Part part;
    std::memcpy(&part, from, sizeof(part));
    return part;
  }
  template <class Part>
  static void store(std::byte* to, Part part) noexcept {
    std::memcpy(to, &part, sizeof(part));
  }

  /// All is loaded before anything is stored: nothing is loaded again in fear that it has changed.
  template <class Part>
  void ends(const std::byte* source, std::size_t size) noexcept {
    std::byte* const to = cursor_;
    const auto first = load<Part>(source);
    const auto last = load<Part>(source + size - sizeof(Part));
    store(to, first);
    store(to + size - sizeof(Part), last);
  }
  void double_ends(const std::byte* source, std::size_t size) noexcept {
    std::byte* const to = cursor_;
    const auto first = load<Sixteen>(source);
    const auto second = load<Sixteen>(source + 16);
    const auto last_but_one = load<Sixteen>(source + size - 32);
    const auto last = load<Sixteen>(source + size - 16);
    store(to, first);
    store(to + 16, second);
    store(to + size - 32, last_but_one);
    store(to + size - 16, last);
  }

  std::byte* cursor_;
};

}  // namespace mf::codec

#pragma GCC diagnostic pop
