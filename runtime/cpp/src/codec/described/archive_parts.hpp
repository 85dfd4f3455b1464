#pragma once
// R1. Where the fields of an archive's message stand, which may come in any order and in parts. The message
// was looked at before (archive_check.hpp), so nothing can be wrong with it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/described/archive_check.hpp"
#include "codec/described/numbers.hpp"
#include "mf/codec/archive_value.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/codec/reader.hpp"

namespace mf::described {

/// A field that was met: what stands behind its tag, and behind its length.
struct Part {
  std::uint32_t field = 0;  // its place in its type
  codec::archive::Wire wire{};
  std::span<const std::byte> bytes{};
};
using Parts = std::span<const Part>;

/// The parts of a message that was looked at, in the order of their fields, and else as they came. `place_of`
/// gives the place of a field by its tag, or nothing.
template <class PlaceOf>
[[nodiscard]] std::vector<Part> find_parts(std::span<const std::byte> message, const PlaceOf& place_of) {
  using codec::archive::Wire;
  std::vector<Part> parts;
  codec::Reader reader(message);
  bool ascending = true;
  while (reader.left() != 0) {
    const std::size_t start = reader.offset();
    std::uint64_t tag = 0;
    if (!codec::archive::read_number(reader, tag)) break;
    const auto wire = static_cast<Wire>(tag & 7U);
    const std::optional<std::size_t> place = place_of(static_cast<std::uint32_t>(tag));
    std::size_t length = 0;
    if (place && wire == Wire::length && !codec::archive::read_length(reader, length)) break;
    const std::byte* const from = reader.peek();
    if (place && wire == Wire::length) {
      reader.advance(length);
    } else if (!codec::archive::skip_value(reader, static_cast<std::uint32_t>(tag), start)) {
      break;
    }
    if (!place) continue;
    const auto field = static_cast<std::uint32_t>(*place);
    ascending = ascending && (parts.empty() || parts.back().field <= field);
    parts.push_back({field, wire, {from, static_cast<std::size_t>(reader.peek() - from)}});
  }
  if (!ascending) {
    // Of one field, as they came.
    std::sort(parts.begin(), parts.end(), [](const Part& left, const Part& right) {
      return left.field != right.field ? left.field < right.field : left.bytes.data() < right.bytes.data();
    });
  }
  return parts;
}

[[nodiscard]] inline Parts parts_of(const std::vector<Part>& parts, std::size_t field) noexcept {
  const auto [first, last] =
      std::equal_range(parts.begin(), parts.end(), Part{static_cast<std::uint32_t>(field), {}, {}},
                       [](const Part& left, const Part& right) { return left.field < right.field; });
  return {parts.data() + (first - parts.begin()), static_cast<std::size_t>(last - first)};
}

/// Were no value, or, of an array, no elements sent? A packed row may be there and hold none.
[[nodiscard]] inline bool is_missing(const Schema& schema, const Type& type, Parts parts) noexcept {
  const auto empty = [](const Part& part) {
    return part.wire == codec::archive::Wire::length && part.bytes.empty();
  };
  return parts.empty() || (type.kind == Kind::array && is_number(schema.type(type.element)) &&
                           std::all_of(parts.begin(), parts.end(), empty));
}

/// The parts of a message as one; `joined` holds it if there are several.
[[nodiscard]] inline std::span<const std::byte> join(Parts parts, std::vector<std::byte>& joined) {
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front().bytes;
  for (const Part& part : parts) joined.insert(joined.end(), part.bytes.begin(), part.bytes.end());
  return joined;
}

}  // namespace mf::described
