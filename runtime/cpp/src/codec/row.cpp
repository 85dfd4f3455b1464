#include "mf/codec/row.hpp"

#include <limits>

#include "mf/codec/tree_row.hpp"

namespace mf::codec::detail {
namespace {

bool check_row_head(Reader& reader, std::uint64_t head, unsigned max_code, std::size_t start) {
  const std::uint64_t count = head >> 2U;
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return reader.fail(Fault::number_out_of_range, "a number does not fit in its type", start);
  }
  if (count == 0) {
    return head == 0 || reader.fail(Fault::malformed_number, "a row of no values has a width", start);
  }
  if ((head & 3U) > max_code) {
    return reader.fail(Fault::number_out_of_range, "a row is wider than its type", start);
  }
  return reader.check_count(static_cast<std::size_t>(count), 1, start);
}

}  // namespace

bool read_long_row_head(Reader& reader, unsigned max_code, std::size_t& count, unsigned& code) {
  const std::size_t start = reader.offset();
  std::uint64_t head = 0;
  if (!read_varint(reader, head)) {
    return false;
  }
  count = static_cast<std::size_t>(head >> 2U);
  code = static_cast<unsigned>(head & 3U);
  const bool good = count <= reader.left() && count - 1 < 0xFFFF'FFFFU && code <= max_code;
  return good || head == 0 || check_row_head(reader, head, max_code, start);
}

bool take_codes(Reader& reader, std::size_t codes, unsigned max_code, const std::byte*& at) {
  const std::size_t start = reader.offset();
  if (!reader.take(code_bytes(codes), at)) {
    return false;
  }
  for (std::size_t i = 0; i < code_bytes(codes) * 4; ++i) {
    const unsigned code = code_at(at, i);
    if (i >= codes && code != 0) {
      return reader.fail(Fault::malformed_number, "unused bits of a row's widths are set", start + i / 4);
    }
    if (code > max_code) {
      return reader.fail(Fault::number_out_of_range, "a row is wider than its type", start + i / 4);
    }
  }
  return true;
}

bool read_map_codes(Reader& reader, MapCodes widest, MapCodes& codes) {
  const std::size_t start = reader.offset();
  const std::byte* at = nullptr;
  if (!reader.take(1, at)) {
    return false;
  }
  const auto both = std::to_integer<unsigned>(*at);
  codes = {.key = both & 3U, .value = both >> 2U};
  if (codes.value > 3) {
    return reader.fail(Fault::malformed_number, "unused bits of a block's widths are set", start);
  }
  if (codes.key > widest.key || codes.value > widest.value) {
    return reader.fail(Fault::number_out_of_range, "a row is wider than its type", start);
  }
  return true;
}

}  // namespace mf::codec::detail
