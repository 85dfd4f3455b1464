// R1. Writes JSON, value by value, into a string of its own (docs/json.md).
//
// What cannot be written, a text that is not UTF-8, an unknown number of a closed enum or a value nested
// deeper than readers take, spoils the whole: error() then says what, and nothing more is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/json_text.hpp"
#include "mf/codec/limits.hpp"

namespace mf::codec {

class JsonWriter {
 public:
  [[nodiscard]] const std::string& text() const& noexcept { return text_; }
  [[nodiscard]] std::string text() && noexcept { return std::move(text_); }
  /// A clause without a full stop; empty while all is well.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  /// The first failure stays.
  void fail(std::string_view reason) {
    if (error_.empty()) {
      error_ = reason;
    }
  }

  /// Objects and arrays. After false their contents are left out.
  [[nodiscard]] bool open_object() { return open('{'); }
  [[nodiscard]] bool open_array() { return open('['); }
  void close_object() { close('}'); }
  void close_array() { close(']'); }
  /// The array that flags are, which is no level of nesting.
  void open_flags() { text_ += '['; }
  void close_flags() { text_ += ']'; }
  /// In front of each element, and of each key of a map.
  void separate() {
    if (text_.back() != '[' && text_.back() != '{') {
      text_ += ',';
    }
  }
  /// In front of a member's value: a name of the schema.
  void member(std::string_view name);

  void null() { text_ += "null"; }
  void boolean(bool value) { text_ += value ? "true" : "false"; }
  void string(std::string_view value);
  /// What needs no escapes.
  void quoted(std::string_view value) { text_.append(1, '"').append(value).append(1, '"'); }
  template <class T>
  void number(T value) {
    json_text::append(text_, value);
  }
  template <class T>
  void quoted_number(const T& value) {
    text_ += '"';
    json_text::append(text_, value);
    text_ += '"';
  }
  template <class F>
  void floating(F value) {
    (value - value == 0) ? number(value) : quoted_number(value);
  }
  void base64(std::span<const std::byte> value);

  /// Puts the members that were written last into another order: `starts` has where each begins in text(), or
  /// would if it was left out.
  void put_in_order(std::span<const std::size_t> starts, std::span<const std::uint32_t> order);

  /// The value that was written from `start` on, which was text().size(), becomes the name of a member.
  void as_key(std::size_t start);

 private:
  bool open(char bracket);
  void close(char bracket) {
    text_ += bracket;
    --level_;
  }

  std::string text_;
  std::string error_;
  unsigned level_ = 0;
};

}  // namespace mf::codec
