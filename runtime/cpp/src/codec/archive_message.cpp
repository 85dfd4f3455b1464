#include "mf/codec/archive_message.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "mf/codec/archive_packed.hpp"
#include "mf/codec/archive_value.hpp"

namespace mf::codec::archive {

namespace {

constexpr std::uint32_t kLargestNumber = (1U << 29U) - 1;
constexpr std::size_t kMergeCost = 64;  // of the budget, so that empty messages are not merged for nothing

[[nodiscard]] Wire wire_of(std::uint32_t tag) noexcept {
  return static_cast<Wire>(tag & 7U);
}

[[nodiscard]] const KnownField* find(KnownFields known, std::uint32_t number) noexcept {
  const auto found = std::ranges::find(known, number, &KnownField::number);
  return found == known.end() ? nullptr : &*found;
}

[[nodiscard]] bool read_tag(Reader& reader, std::uint32_t& tag) {
  const std::size_t start = reader.offset();
  std::uint64_t number = 0;
  if (!read_number(reader, number)) {
    return false;
  }
  if (number < 8 || number >> 3U > kLargestNumber) {
    return reader.fail(Fault::malformed_tag, "a tag has a field number that protobuf does not have", start);
  }
  tag = static_cast<std::uint32_t>(number);
  return true;
}

[[nodiscard]] bool skip_bytes(Reader& reader, std::size_t size) {
  const std::byte* from = nullptr;
  return reader.take(size, from);
}

[[nodiscard]] bool skip_group(Reader& reader, std::uint32_t opened, std::size_t opened_at) {
  if (!reader.enter()) {
    return false;
  }
  while (reader.left() != 0) {
    const std::size_t start = reader.offset();
    std::uint32_t tag = 0;
    if (!read_tag(reader, tag)) {
      return false;
    }
    if (wire_of(tag) == Wire::end_group && tag >> 3U == opened >> 3U) {
      reader.leave();
      return true;
    }
    if (!skip_value(reader, tag, start)) {
      return false;
    }
  }
  return reader.fail(Fault::malformed_tag, "a group is not closed", opened_at);
}

[[nodiscard]] std::size_t packed_count(Elements elements, std::span<const std::byte> bytes) noexcept {
  switch (elements) {
    case Elements::fixed32:
      return bytes.size() / 4;
    case Elements::fixed64:
      return bytes.size() / 8;
    default:
      return count_varints(bytes);
  }
}

/// Where the messages of a field are that are merged.
struct Parts {
  std::span<const std::byte> around;
  Limits limits;
  std::uint32_t tag;
  KnownFields rivals;

  /// Visits each, up to a field that takes their place, or to what cannot be read. True: another alternative
  /// of the union takes their place.
  template <class Visit>
  [[nodiscard]] bool walk(const Visit& visit) const {
    Reader reader(around, limits);
    while (reader.left() != 0) {
      const std::size_t tag_offset = reader.offset();
      std::uint32_t met = 0;
      std::size_t length = 0;
      if (!read_tag(reader, met)) {
        return false;
      }
      if (met == tag) {
        if (!read_length(reader, length)) {
          return false;
        }
        visit(std::span(reader.peek(), length));
        reader.advance(length);
      } else if (find(rivals, met >> 3U) != nullptr) {
        return met >> 3U != tag >> 3U;
      } else if (!skip_value(reader, met, tag_offset)) {
        return false;
      }
    }
    return false;
  }
};

/// Where a byte of the joined parts came from; of their end: the end of the last one.
[[nodiscard]] const std::byte* origin(const Parts& parts, std::size_t offset) {
  const std::byte* from = nullptr;
  std::size_t start = 0;  // of the part among the joined bytes
  bool found = false;
  static_cast<void>(parts.walk([&](std::span<const std::byte> part) {
    if (!found) {
      from = part.data() + (offset - start);
      found = offset - start < part.size();
      start += part.size();
    }
  }));
  return from;
}

}  // namespace

Taken take_long_number(const std::byte* at, const std::byte* end) noexcept {
  constexpr Taken kNone{nullptr, 0};
  const auto left = static_cast<std::size_t>(end - at);
  std::uint64_t number = 0;
  if (left < 10) {
    for (std::size_t i = 0; i < left; ++i) {
      const auto group = std::to_integer<std::uint64_t>(at[i]);
      number |= (group & 0x7FU) << (7 * i);
      if (group < 0x80) {
        return {at + i + 1, number};
      }
    }
    return kNone;
  }
  const auto word = load_word<std::uint64_t>(at);
  if (const std::uint64_t ends = varint_ends(word); ends != 0) [[likely]] {
    const auto bits = static_cast<unsigned>(std::countr_zero(ends)) + 1;
    return {at + bits / 8, first_varint(word, bits)};
  }
  const auto ninth = std::to_integer<std::uint64_t>(at[8]);
  const auto tenth = std::to_integer<std::uint64_t>(at[9]);
  number = join_groups(word) | ninth << 56U;
  if (ninth < 0x80) {
    return {at + 9, number};
  }
  number = (number & ~(std::uint64_t{1} << 63U)) | tenth << 63U;
  return tenth <= 1 ? Taken{at + 10, number} : kNone;
}

bool read_long_number(Reader& reader, std::uint64_t& value) {
  const auto [next, taken] = take_long_number(reader.peek(), reader.peek() + reader.left());
  if (next != nullptr) [[likely]] {
    reader.advance(static_cast<std::size_t>(next - reader.peek()));
    value = taken;
    return true;
  }
  if (reader.left() < 10) {
    return reader.fail(Fault::truncated, "the value ends inside of a number");
  }
  const bool longer = reader.peek()[9] >= std::byte{0x80};
  return reader.fail(longer ? Fault::malformed_number : Fault::number_out_of_range,
                     longer ? "a number is longer than ten bytes" : "a number does not fit in its type");
}

bool refuse_length(Reader& reader, std::uint64_t length, std::size_t start) {
  return reader.fail(Fault::count_too_large,
                     "a length of " + std::to_string(length) + " is more than the " +
                         std::to_string(reader.left()) + " bytes left",
                     start);
}

bool skip_value(Reader& reader, std::uint32_t tag, std::size_t tag_offset) {
  std::uint64_t number = 0;
  std::size_t length = 0;
  switch (wire_of(tag)) {
    case Wire::varint:
      return read_number(reader, number);
    case Wire::fixed64:
      return skip_bytes(reader, 8);
    case Wire::length:
      return read_length(reader, length) && skip_bytes(reader, length);
    case Wire::group:
      return skip_group(reader, tag, tag_offset);
    case Wire::end_group:
      return reader.fail(Fault::malformed_tag, "a group ends that was not opened", tag_offset);
    case Wire::fixed32:
      return skip_bytes(reader, 4);
  }
  return reader.fail(Fault::malformed_tag, "a tag has a wire type that protobuf does not have", tag_offset);
}

bool Message::next_long() {
  return read_tag(reader_, tag_);
}

bool Message::pass(KnownFields known) {
  const std::size_t start = offset_of(at_);
  const auto* const field = find(known, tag_ >> 3U);
  const auto wire = static_cast<unsigned>(wire_of(tag_));
  if (field != nullptr && wire != 4 && wire < 6) {
    reader_.fail(Fault::wrong_wire_type, "a field has another form on the wire than its type", start);
    if (field->elements != Elements::none) {
      reader_.inside(elements_before(*field));
    }
    return field->name.empty() ? false : reader_.inside(field->name);
  }
  met_unknown_ = true;
  return skip_value(reader_, tag_, start);
}

/// They are counted only for the path of an error: all bytes before the present tag were read already.
std::size_t Message::elements_before(const KnownField& field) const {
  const std::span<const std::byte> before(begin_, at_);
  Reader reader(before, {reader_.place().levels_left, before.size()});
  std::size_t count = 0;
  while (reader.left() != 0) {
    const std::size_t start = reader.offset();
    std::uint32_t tag = 0;
    std::size_t length = 0;
    if (!read_tag(reader, tag)) {
      break;
    }
    const bool counts = tag >> 3U == field.number;
    if (!counts || wire_of(tag) != Wire::length || field.elements == Elements::tagged) {
      count += static_cast<std::size_t>(counts);
      if (!skip_value(reader, tag, start)) {
        break;
      }
      continue;
    }
    if (!read_length(reader, length)) {
      break;
    }
    count += packed_count(field.elements, {reader.peek(), length});
    reader.advance(length);
  }
  return count;
}

bool Message::skip(KnownFields known) {
  return pass(known);
}

bool Message::skip(KnownFields known, UnknownFields& kept) {
  if (!pass(known)) {
    return false;
  }
  const auto size = static_cast<std::size_t>(reader_.peek() - at_);
  if (!reader_.charge(size, 1)) {
    return false;
  }
  kept.bytes.insert(kept.bytes.end(), at_, at_ + size);
  codec::detail::mark_unknown(kept);
  return true;
}

std::size_t Message::run_length() const noexcept {
  Cursor cursor(reader_);
  std::size_t count = 0;
  do {
    const std::byte* const at = cursor.at();
    const bool is_short = cursor.left() != 0 && *at < std::byte{0x80};
    const auto length =
        is_short ? Taken{at + 1, std::to_integer<unsigned>(*at)} : take_long_number(at, cursor.end());
    if (length.next == nullptr || length.number > static_cast<std::size_t>(cursor.end() - length.next)) {
      break;
    }
    ++count;
    cursor.move_to(length.next + length.number);
  } while (cursor.follows(tag_));
  return count == 0 ? 1 : count;
}

bool Message::merge(const Reader::Place& place, bool again, FunctionRef<bool(Reader&)> read,
                    std::vector<std::byte>* kept) {
  if (!again && !reader_.joined() && !reader_.incomplete()) {
    return false;
  }
  std::size_t present = 0;
  if (again && std::ranges::find(merged_, tag_) != merged_.end()) {
    return read_length(reader_, present) && skip_bytes(reader_, present);
  }
  const std::span<const std::byte> around(begin_, place.end);
  const Parts parts{around, {place.levels_left, around.size()}, tag_, rivals_};
  std::size_t count = 0;
  std::size_t size = 0;
  const bool superseded = parts.walk([&](std::span<const std::byte> part) {
    ++count;
    size += part.size();
  });
  if (!again && count < 2 && !superseded) {
    return reader_.joined() && read_bounded(reader_, [&] { return read(reader_); });
  }
  reader_.return_to(place);
  if (!read_length(reader_, present)) {  // of the last one, which was not looked at yet
    return false;
  }
  merged_.push_front(tag_);
  if (!reader_.charge(size + kMergeCost, 1)) {
    return false;
  }
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  static_cast<void>(parts.walk(
      [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); }));
  const Limits limits = reader_.limits_left();
  Reader merged(bytes, limits);
  merged.set_joined();
  // What an alternative lacks that is not the last one, the value will not miss.
  if (!read(merged) && !(superseded && merged.lacks(0))) {
    const DecodeError& error = merged.error();
    const std::ptrdiff_t shift = origin(parts, error.offset) - reader_.peek();
    const auto offset = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(reader_.offset()) + shift);
    static_cast<void>(merged.incomplete()
                          ? reader_.fail_incomplete(error.fault, error.reason, offset, reader_.offset())
                          : reader_.fail(error.fault, error.reason, offset));
    return error.path.empty() ? false : reader_.inside(error.path);
  }
  if (kept != nullptr) kept->swap(bytes);
  reader_.advance(present);
  return reader_.charge(limits.decoded_bytes - merged.limits_left().decoded_bytes, 1);
}

bool Message::fail_incomplete(Fault fault, std::string_view reason) {
  return reader_.fail_incomplete(fault, reason, reader_.offset(), offset_of(begin_));
}

bool Message::missing(std::string_view name) {
  fail_incomplete(Fault::missing_field, "a field is missing that has no default");
  return reader_.inside(name);
}

bool Message::has_length(std::size_t wanted, std::size_t filled) {
  if (filled == wanted) {
    return true;
  }
  if (filled == 0) {
    return fail_incomplete(Fault::missing_field, "the elements of an array are missing");
  }
  return fail_incomplete(Fault::wrong_length, "an array has " + std::to_string(filled) + " elements, not " +
                                                  std::to_string(wanted));
}

bool Message::no_alternative() {
  return met_unknown_ ? fail_incomplete(Fault::unknown_alternative,
                                        "a union has an alternative that its type does not know")
                      : fail_incomplete(Fault::missing_field, "a union holds none of its alternatives");
}

}  // namespace mf::codec::archive
