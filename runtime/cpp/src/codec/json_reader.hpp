// R1. Reads JSON of which nothing is known, value by value, as its types ask for it (docs/json.md).
//
// Like Reader: functions return false after a failure, the first one sticks, and callers name the place by
// inside() on the way out. The text is the caller's and outlives the reader. Nothing here throws but what the
// standard library throws when memory is exhausted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "mf/codec/limits.hpp"
#include "mf/codec/reader.hpp"

namespace mf::codec {

/// The kind of a value in a text, by its first byte.
enum class JsonKind : std::uint8_t { nothing, object, array, string, number, boolean, null };

enum class JsonStep : std::uint8_t { item, end, failed };

class JsonReader {
 public:
  static constexpr std::size_t kAnyCount = (std::numeric_limits<std::size_t>::max)();

  explicit JsonReader(std::string_view text, const Limits& limits = {}) noexcept
      : text_(text), bytes_(std::as_bytes(std::span(text)), limits) {}

  /// Before the first value: is the text UTF-8?
  [[nodiscard]] bool begin();
  /// Behind the last one: only blanks may follow.
  [[nodiscard]] bool finish();

  /// Of the next value.
  [[nodiscard]] JsonKind kind();
  /// Where the value, or the name of the member, begins that was met last.
  [[nodiscard]] std::size_t start() const noexcept { return start_; }

  [[nodiscard]] bool read_null();
  [[nodiscard]] bool read_bool(bool& value);
  /// The text may be the reader's own: it is gone when the next string is read.
  [[nodiscard]] bool read_string(std::string_view& text);
  /// A number, or a string that holds one, as it is written.
  [[nodiscard]] bool read_number(std::string_view& number);
  /// A string as it is written, which callers take for something else: `is_number` is false if it holds no
  /// number.
  [[nodiscard]] bool read_name_or_number(std::string_view& text, bool& is_number);

  /// `{` and `[`: levels that the `end` of next_member() and next_element() closes. Flags are no level.
  [[nodiscard]] bool open_object();
  [[nodiscard]] bool open_array();
  [[nodiscard]] bool open_flags();
  /// In front of member or element `index`. A member's name and value are read by read_name() and what its
  /// type has. Of an array with a fixed length, no more and no less.
  [[nodiscard]] JsonStep next_member(std::size_t index);
  [[nodiscard]] JsonStep next_element(std::size_t index, std::size_t length = kAnyCount);
  [[nodiscard]] JsonStep next_flag(std::size_t index);
  /// A member's name, of which start() is the quote; and the colon behind it.
  [[nodiscard]] bool read_name(std::string_view& name) { return read_string(name); }
  [[nodiscard]] bool read_colon();
  /// Only one member was allowed: what follows is the end of the object.
  [[nodiscard]] bool close_object();

  /// Takes memory for `count` times `size` bytes out of the budget.
  [[nodiscard]] bool charge(std::size_t count, std::size_t size) { return bytes_.charge(count, size); }

  /// Going back forgets a failure.
  [[nodiscard]] Reader::Place place() const noexcept { return bytes_.place(); }
  void return_to(const Reader::Place& place) { bytes_.return_to(place); }

  /// All return false. The first failure stays; its offset is start(), or the one given.
  bool fail(Fault fault, std::string_view reason) { return fail(fault, reason, start_); }
  bool fail(Fault fault, std::string_view reason, std::size_t offset) {
    return bytes_.fail(fault, reason, offset);
  }
  bool fail_syntax(std::string_view reason) { return fail(Fault::json_syntax, reason, offset()); }
  bool inside(std::string_view field) { return bytes_.inside(field); }
  bool inside(std::size_t index) { return bytes_.inside(index); }

  [[nodiscard]] std::size_t offset() const noexcept { return bytes_.offset(); }
  [[nodiscard]] const DecodeError& error() const noexcept { return bytes_.error(); }

 private:
  [[nodiscard]] bool done() const noexcept { return bytes_.left() == 0; }
  [[nodiscard]] char next() const noexcept { return text_[offset()]; }
  void skip_blanks() noexcept;
  /// Skips blanks; is this the byte there?
  [[nodiscard]] bool at(char wanted) noexcept;
  [[nodiscard]] bool expect(JsonKind wanted);
  [[nodiscard]] bool open(JsonKind wanted);
  [[nodiscard]] bool fail_kind(std::string_view wanted, JsonKind found);
  [[nodiscard]] bool read_word(std::string_view word);
  [[nodiscard]] bool scan_number(std::string_view& number);
  [[nodiscard]] bool read_escaped(std::size_t start);
  [[nodiscard]] bool read_escape();
  [[nodiscard]] bool read_code_point(std::size_t backslash);
  [[nodiscard]] bool read_code_unit(std::uint32_t& unit);
  [[nodiscard]] JsonStep step(std::size_t index, char close, std::size_t length);

  std::string_view text_;
  Reader bytes_;  // place, budget, depth and failure
  std::size_t start_ = 0;
  std::string unescaped_;
};

}  // namespace mf::codec
