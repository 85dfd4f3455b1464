#include "mf/codec/varint.hpp"

namespace mf::codec {

std::byte* write_long_varint(std::byte* to, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7U) {
    *to++ = static_cast<std::byte>(value | 0x80U);
  }
  *to++ = static_cast<std::byte>(value);
  return to;
}

bool read_long_varint(Reader& reader, std::uint64_t max, std::uint64_t& value) {
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
