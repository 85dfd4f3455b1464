#include "mf/codec/varint.hpp"

#include <bit>
#include <cstring>

#include "mf/codec/varint_word.hpp"

namespace mf::codec {

namespace {

/// A number of up to eight bytes, without a branch a byte: false if it is longer, or anything is wrong.
bool read_eight_bytes(Reader& reader, std::uint64_t max, std::uint64_t& value) noexcept {
  if (reader.left() < 8) {
    return false;
  }
  std::uint64_t eight = 0;
  std::memcpy(&eight, reader.peek(), sizeof(eight));
  const std::uint64_t ends = ~eight & 0x8080'8080'8080'8080U;
  if (ends == 0) {
    return false;
  }
  const auto bits = static_cast<unsigned>(std::countr_zero(ends));  // 7 in the first byte, 15 in the second
  const std::uint64_t sum = join_groups(eight & (ends ^ (ends - 1)));
  const std::uint64_t longest_of_fewer_bytes = (std::uint64_t{1} << (bits / 8 * 7)) - 1;
  if (sum > max || (sum <= longest_of_fewer_bytes && bits > 7)) {
    return false;
  }
  reader.advance(bits / 8 + 1);
  value = sum;
  return true;
}

}  // namespace

std::byte* write_long_varint(std::byte* to, std::uint64_t value) noexcept {
  if (value < 0x20'0000) {
    const auto two = static_cast<std::uint16_t>((value & 0x7FU) | ((value << 1U) & 0x7F00U) | 0x8080U);
    std::memcpy(to, &two, sizeof(two));
    to[2] = static_cast<std::byte>(value >> 14U);
    return to + 3;
  }
  if (value < std::uint64_t{1} << 56U) {
    // Two halves that overlap: 4 to 8 bytes, without a branch a byte.
    const std::size_t size = varint_size(value);
    const std::uint64_t more = 0x0080'8080'8080'8080U >> (64 - 8 * size);
    const std::uint64_t bytes = split_groups(value) | more;
    const auto low = static_cast<std::uint32_t>(bytes);
    const auto high = static_cast<std::uint32_t>(bytes >> (8 * size - 32));
    std::memcpy(to, &low, sizeof(low));
    std::memcpy(to + size - sizeof(high), &high, sizeof(high));
    return to + size;
  }
  for (; value >= 0x80; value >>= 7U) {
    *to++ = static_cast<std::byte>(value | 0x80U);
  }
  *to++ = static_cast<std::byte>(value);
  return to;
}

bool read_long_varint(Reader& reader, std::uint64_t max, std::uint64_t& value) {
  if (read_eight_bytes(reader, max, value)) [[likely]] {
    return true;
  }
  const std::size_t start = reader.offset();
  std::uint64_t sum = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (reader.left() == 0) {
      return reader.fail(Fault::truncated, "the value ends inside a number", start);
    }
    const auto group = std::to_integer<std::uint64_t>(*reader.peek());
    const std::uint64_t bits = group & 0x7FU;
    if (shift == 63 && group >= 0x80) {
      return reader.fail(Fault::malformed_number, "a number is longer than ten bytes", start);
    }
    if (shift == 63 && bits > 1) {
      return reader.fail(Fault::number_out_of_range, "a number does not fit in its type", start);
    }
    reader.advance(1);
    sum |= bits << shift;
    if (group < 0x80) {
      if (group == 0 && shift != 0) {
        return reader.fail(Fault::malformed_number, "a number is not in its shortest form", start);
      }
      break;
    }
  }
  if (sum > max) {
    return reader.fail(Fault::number_out_of_range, "a number does not fit in its type", start);
  }
  value = sum;
  return true;
}

}  // namespace mf::codec
