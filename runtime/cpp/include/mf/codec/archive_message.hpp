// R1. The messages of tier archive, field by field: tags, varints as protobuf has them, what is unknown.
//
// A Message walks the fields of one message, which is whatever the reader has left (Reader::narrow).
// Generated code switches over tags; where fields come in the order of their numbers, follows() goes from
// each case to the next one without a switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <span>
#include <string_view>
#include <vector>

#include "mf/codec/reader.hpp"
#include "mf/codec/unknown_fields.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/varint_word.hpp"
#include "mf/core/function_ref.hpp"

namespace mf::codec::archive {

/// The wire type of a field; the numbers are protobuf's.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, length = 2, group = 3, end_group = 4, fixed32 = 5 };

[[nodiscard]] constexpr std::uint32_t tag_of(std::uint32_t number, Wire wire) noexcept {
  return number << 3U | static_cast<std::uint32_t>(wire);
}

/// How the elements of a repeated field lie: each behind a tag of its own, or packed too.
enum class Elements : std::uint8_t { none, tagged, varint, fixed32, fixed64 };

/// A field that the type of a message declares.
struct KnownField {
  std::uint32_t number;
  std::string_view name;
  Elements elements = Elements::none;  // not repeated
};
using KnownFields = std::span<const KnownField>;

/// Of a message around one value, and of an entry of a map: their fields have no place in paths.
inline constexpr KnownField kAround[] = {{1, ""}, {2, ""}};

/// Where the fields of one message are read: the reader's place as a copy that stays in registers, because
/// only inlined functions see it. A function that passes the reader on stores the place in it before, and
/// loads it again after.
class Cursor {
 public:
  explicit Cursor(const Reader& reader) noexcept : at_(reader.peek()), end_(at_ + reader.left()) {}

  [[nodiscard, gnu::always_inline]] const std::byte* at() const noexcept { return at_; }
  [[nodiscard, gnu::always_inline]] const std::byte* end() const noexcept { return end_; }
  [[nodiscard, gnu::always_inline]] std::size_t left() const noexcept {
    return static_cast<std::size_t>(end_ - at_);
  }
  [[gnu::always_inline]] void move_to(const std::byte* at) noexcept { at_ = at; }

  [[gnu::always_inline]] void put_back(Reader& reader) const noexcept {
    reader.advance(static_cast<std::size_t>(at_ - reader.peek()));
  }
  [[gnu::always_inline]] void take(const Reader& reader) noexcept { at_ = reader.peek(); }

  /// Takes the next tag if it is this one, in its usual form. Message::follows() says the same, and remembers
  /// the tag, which numbers have no use for.
  [[nodiscard, gnu::always_inline]] bool follows(std::uint32_t tag) noexcept {
    if (tag < 0x80) {
      if (at_ == end_ || *at_ != static_cast<std::byte>(tag)) {
        return false;
      }
      ++at_;
      return true;
    }
    const auto two = static_cast<std::uint16_t>((tag & 0x7FU) | 0x80U | (tag >> 7U) << 8U);
    if (tag >= 0x4000 || left() < sizeof(two) || load_word<std::uint16_t>(at_) != two) {
      return false;
    }
    at_ += sizeof(two);
    return true;
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
};

/// A number of any length up to ten bytes, and where it ends: null if it is none, or is cut off.
struct Taken {
  const std::byte* next;
  std::uint64_t number;
};
[[nodiscard]] Taken take_long_number(const std::byte* at, const std::byte* end) noexcept;

[[nodiscard]] bool read_long_number(Reader& reader, std::uint64_t& value);

/// Bytes of a number. Those that are small now and then are not worth a branch; those that are large mostly
/// stay so.
[[nodiscard]] constexpr std::size_t number_size(std::uint32_t number) noexcept {
  const std::size_t size = 1 + static_cast<std::size_t>(number >= 0x80);
  if (number < 0x4000) [[likely]] {
    return size;
  }
  return 3 + static_cast<std::size_t>(number >= 0x20'0000) + static_cast<std::size_t>(number >= 0x1000'0000);
}
[[nodiscard]] constexpr std::size_t number_size(std::uint64_t number) noexcept {
  return varint_size(number);
}

/// A varint of any length up to ten bytes.
[[nodiscard]] inline bool read_number(Reader& reader, std::uint64_t& value) {
  if (reader.left() != 0) [[likely]] {
    const auto first = std::to_integer<unsigned>(*reader.peek());
    if (first < 0x80) [[likely]] {
      reader.advance(1);
      value = first;
      return true;
    }
  }
  return read_long_number(reader, value);
}

/// The length before a text, message or row: no longer than what is left.
[[nodiscard]] bool refuse_length(Reader& reader, std::uint64_t length, std::size_t start);
[[nodiscard]] inline bool read_length(Reader& reader, std::size_t& length) {
  const std::size_t start = reader.offset();
  std::uint64_t number = 0;
  if (!read_number(reader, number)) [[unlikely]] {
    return false;
  }
  length = number;
  return number <= reader.left() || refuse_length(reader, number, start);
}

/// Passes over the value behind a tag.
[[nodiscard]] bool skip_value(Reader& reader, std::uint32_t tag, std::size_t tag_offset);

class Message {
 public:
  explicit Message(Reader& reader) noexcept : reader_(reader), begin_(reader.peek()), at_(begin_) {}

  [[nodiscard]] Reader& reader() const noexcept { return reader_; }
  /// Of the field that is read now.
  [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }

  /// Takes the next tag; false at the end, and after a failure.
  [[nodiscard]] bool next() {
    if (reader_.left() == 0) {
      return false;
    }
    at_ = reader_.peek();
    const auto first = std::to_integer<std::uint32_t>(*at_);
    if (first >= 0x08 && first < 0x80) [[likely]] {
      tag_ = first;
      reader_.advance(1);
      return true;
    }
    return next_long();
  }

  /// The same where a cursor has the place.
  [[nodiscard, gnu::always_inline]] bool next(Cursor& cursor) {
    cursor.put_back(reader_);
    const bool more = next();
    cursor.take(reader_);
    return more;
  }
  [[nodiscard, gnu::always_inline]] bool follows(Cursor& cursor, std::uint32_t tag) noexcept {
    const std::byte* const from = cursor.at();
    if (!cursor.follows(tag)) {
      return false;
    }
    at_ = from;
    tag_ = tag;
    return true;
  }

  /// Takes the next tag if it is this one, in its usual form.
  [[nodiscard]] bool follows(std::uint32_t tag) noexcept {
    Cursor cursor(reader_);
    const bool met = follows(cursor, tag);
    cursor.put_back(reader_);
    return met;
  }

  /// For a tag that no case took: keeps or drops a field that is unknown, refuses another form of a known
  /// one.
  [[nodiscard]] bool skip(KnownFields known, UnknownFields& kept);
  [[nodiscard]] bool skip(KnownFields known);
  [[nodiscard, gnu::always_inline]] bool skip(Cursor& cursor, KnownFields known, auto&... kept) {
    cursor.put_back(reader_);
    const bool passed = skip(known, kept...);
    cursor.take(reader_);
    return passed;
  }

  /// How many values with the present tag, each with a length before it, stand one behind the other from
  /// here.
  [[nodiscard]] std::size_t run_length() const noexcept;

  /// The bytes of all messages of the present field in this message, as one: what protobuf reads where a
  /// field that holds one message comes several times. `place` is where its present one begins; `again`: it
  /// is not the first. The first one alone may have failed for lack of a field that a later one has; if there
  /// is none, that failure stays. All are read at once, so those that follow are passed over. Among joined
  /// parts the first one was not read before: else a message would be read twice as often at each level. The
  /// joined bytes are in `kept` then, if there are any.
  [[nodiscard]] bool merge(const Reader::Place& place, bool again, FunctionRef<bool(Reader&)> read,
                           std::vector<std::byte>* kept = nullptr);

  /// A union has changed its alternative: what came before counts no more. `known` are all its alternatives.
  void start_anew(KnownFields known) noexcept {
    begin_ = at_;
    rivals_ = known;
    merged_.clear();
  }

  /// False: this field is needed, and was not there.
  bool missing(std::string_view name);
  /// False unless an array has got its number of elements.
  [[nodiscard]] bool has_length(std::size_t wanted, std::size_t filled);
  [[nodiscard]] bool has_length(std::size_t wanted, std::size_t filled, std::string_view name) {
    return has_length(wanted, filled) || reader_.inside(name);
  }
  /// False: the union's message has no field that its type declares.
  bool no_alternative();

 private:
  [[nodiscard]] bool next_long();
  [[nodiscard]] bool pass(KnownFields known);
  [[nodiscard]] std::size_t offset_of(const std::byte* at) const noexcept {
    return reader_.offset() - static_cast<std::size_t>(reader_.peek() - at);
  }
  bool fail_incomplete(Fault fault, std::string_view reason);
  [[nodiscard]] std::size_t elements_before(const KnownField& field) const;

  Reader& reader_;
  const std::byte* begin_;
  const std::byte* at_;  // the present tag
  std::uint32_t tag_ = 0;
  bool met_unknown_ = false;
  KnownFields rivals_;
  std::forward_list<std::uint32_t> merged_;  // the tags of which all messages were read, or count no more
};

}  // namespace mf::codec::archive
