#include "codec/json_reader.hpp"

#include <span>

#include "codec/json_chars.hpp"
#include "mf/codec/json_text.hpp"
#include "mf/codec/utf8.hpp"

namespace mf::codec {
namespace {

bool is_blank(char each) noexcept {
  return each == ' ' || each == '\n' || each == '\r' || each == '\t';
}

std::string_view name_of(JsonKind kind) noexcept {
  switch (kind) {
    case JsonKind::nothing:
      return "nothing";
    case JsonKind::object:
      return "an object";
    case JsonKind::array:
      return "an array";
    case JsonKind::string:
      return "a string";
    case JsonKind::number:
      return "a number";
    case JsonKind::boolean:
      return "a bool";
    case JsonKind::null:
      return "null";
  }
  return "nothing";
}

void append_utf8(std::string& to, std::uint32_t point) {
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    to += static_cast<char>(point);
  } else if (point < 0x800) {
    to += {static_cast<char>(0xC0 | point >> 6U), tail(0)};
  } else if (point < 0x10000) {
    to += {static_cast<char>(0xE0 | point >> 12U), tail(6), tail(0)};
  } else {
    to += {static_cast<char>(0xF0 | point >> 18U), tail(12), tail(6), tail(0)};
  }
}

}  // namespace

bool JsonReader::begin() {
  const std::size_t good = valid_utf8_prefix(std::as_bytes(std::span(text_)));
  return good == text_.size() || fail(Fault::invalid_utf8, "the text is not UTF-8", good);
}

bool JsonReader::finish() {
  skip_blanks();
  return done() || fail(Fault::trailing_bytes, "text follows the end of the value", offset());
}

JsonKind JsonReader::kind() {
  skip_blanks();
  if (done()) {
    return JsonKind::nothing;
  }
  switch (next()) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    case '-':
      return JsonKind::number;
    default:
      return next() >= '0' && next() <= '9' ? JsonKind::number : JsonKind::nothing;
  }
}

bool JsonReader::read_null() {
  return expect(JsonKind::null) && read_word("null");
}

bool JsonReader::read_bool(bool& value) {
  if (!expect(JsonKind::boolean)) {
    return false;
  }
  value = next() == 't';
  return read_word(value ? "true" : "false");
}

bool JsonReader::read_string(std::string_view& text) {
  if (!expect(JsonKind::string)) {
    return false;
  }
  const std::size_t first = start_ + 1;
  std::size_t end = first;
  while (end < text_.size() && is_plain(text_[end])) {
    ++end;
  }
  bytes_.advance(end - start_);
  if (!done() && next() == '"') {
    text = text_.substr(first, end - first);
    bytes_.advance(1);
    return true;
  }
  if (!read_escaped(first)) {
    return false;
  }
  text = unescaped_;
  return true;
}

bool JsonReader::read_number(std::string_view& number) {
  const JsonKind found = kind();
  if (found == JsonKind::string) {
    bool is_number = false;
    return read_name_or_number(number, is_number) &&
           (is_number || fail(Fault::json_wrong_type, "a string holds no number"));
  }
  return expect(JsonKind::number) && scan_number(number);
}

bool JsonReader::read_name_or_number(std::string_view& text, bool& is_number) {
  if (kind() == JsonKind::number) {
    is_number = true;
    return expect(JsonKind::number) && scan_number(text);
  }
  if (!read_string(text)) {
    return false;
  }
  is_number = json_text::scan_number(text, is_number) == text.size() && is_number;
  return true;
}

bool JsonReader::open_object() {
  return open(JsonKind::object);
}

bool JsonReader::open_array() {
  return open(JsonKind::array);
}

bool JsonReader::open(JsonKind wanted) {
  if (!expect(wanted)) {
    return false;
  }
  if (bytes_.limits_left().depth == 0) {
    return fail(Fault::depth_exceeded, "objects and arrays are nested too deep");
  }
  bytes_.advance(1);
  return bytes_.enter();
}

bool JsonReader::open_flags() {
  if (!expect(JsonKind::array)) {
    return false;
  }
  bytes_.advance(1);
  return true;
}

JsonStep JsonReader::next_member(std::size_t index) {
  const JsonStep found = step(index, '}', kAnyCount);
  if (found == JsonStep::end) {
    bytes_.leave();
  } else if (found == JsonStep::item && !at('"')) {
    fail_syntax("a member begins with its name in quotes");
    return JsonStep::failed;
  }
  return found;
}

JsonStep JsonReader::next_element(std::size_t index, std::size_t length) {
  const JsonStep found = step(index, ']', length);
  if (found == JsonStep::end) {
    bytes_.leave();
  }
  return found;
}

JsonStep JsonReader::next_flag(std::size_t index) {
  return step(index, ']', kAnyCount);
}

bool JsonReader::read_colon() {
  if (!at(':')) {
    return fail_syntax("a colon stands behind the name of a member");
  }
  bytes_.advance(1);
  return true;
}

bool JsonReader::close_object() {
  if (at('}')) {
    bytes_.advance(1);
    bytes_.leave();
    return true;
  }
  if (at(',')) {
    return fail(Fault::json_wrong_type, "a union has one member", offset());
  }
  return fail_syntax("an object ends with }");
}

/// Reads the comma or closing bracket behind element `index` - 1, or behind the opening bracket.
JsonStep JsonReader::step(std::size_t index, char close, std::size_t length) {
  if (at(close)) {
    if (length != kAnyCount && index != length) {
      fail(Fault::wrong_length, "an array has too few elements", offset());
      return JsonStep::failed;
    }
    bytes_.advance(1);
    return JsonStep::end;
  }
  if (index > 0 && !at(',')) {
    fail_syntax(close == '}' ? "a comma or } stands behind a member"
                             : "a comma or ] stands behind an element");
    return JsonStep::failed;
  }
  if (index == length && (index > 0 || kind() != JsonKind::nothing)) {
    fail(Fault::wrong_length, "an array has too many elements", offset());
    return JsonStep::failed;
  }
  bytes_.advance(index > 0 ? 1 : 0);
  return JsonStep::item;
}

void JsonReader::skip_blanks() noexcept {
  while (!done() && is_blank(next())) {
    bytes_.advance(1);
  }
}

bool JsonReader::at(char wanted) noexcept {
  skip_blanks();
  return !done() && next() == wanted;
}

bool JsonReader::expect(JsonKind wanted) {
  const JsonKind found = kind();
  start_ = offset();
  return found == wanted || fail_kind(name_of(wanted), found);
}

bool JsonReader::fail_kind(std::string_view wanted, JsonKind found) {
  if (done()) {
    return fail_syntax("the text ends early");
  }
  if (found == JsonKind::nothing) {
    return fail_syntax("no value begins like this");
  }
  std::string reason("expected ");
  reason.append(wanted).append(", found ").append(name_of(found));
  return fail(Fault::json_wrong_type, reason);
}

bool JsonReader::read_word(std::string_view word) {
  if (text_.substr(offset(), word.size()) != word) {
    return fail_syntax("expected true, false or null");
  }
  bytes_.advance(word.size());
  return true;
}

bool JsonReader::scan_number(std::string_view& number) {
  const std::string_view rest = text_.substr(offset());
  bool good = false;
  const std::size_t size = json_text::scan_number(rest, good);
  bytes_.advance(size);
  number = rest.substr(0, size);
  return good || fail_syntax("a number lacks a digit");
}

/// The rest of a string that does not stand for itself, from the first such byte on.
bool JsonReader::read_escaped(std::size_t start) {
  unescaped_.assign(text_.substr(start, offset() - start));
  while (!done()) {
    const char each = next();
    if (each == '"') {
      bytes_.advance(1);
      return true;
    }
    if (each == '\\') {
      if (!read_escape()) {
        return false;
      }
    } else if (is_plain(each)) {
      unescaped_ += each;
      bytes_.advance(1);
    } else {
      return fail_syntax("a control character in a string is not escaped");
    }
  }
  return fail_syntax("a string does not end");
}

bool JsonReader::read_escape() {
  constexpr std::string_view kMarks = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const std::size_t backslash = offset();
  const char mark = backslash + 1 < text_.size() ? text_[backslash + 1] : '\0';
  if (mark == 'u') {
    return read_code_point(backslash);
  }
  const std::size_t which = kMarks.find(mark);
  if (mark == '\0' || which == std::string_view::npos) {
    return fail_syntax("no such escape in a string");
  }
  unescaped_ += kMeant[which];
  bytes_.advance(2);
  return true;
}

bool JsonReader::read_code_point(std::size_t backslash) {
  constexpr std::string_view kLone = "half of a surrogate pair";
  std::uint32_t unit = 0;
  if (!read_code_unit(unit)) {
    return false;
  }
  if (unit >= 0xDC00 && unit < 0xE000) {
    return fail(Fault::json_syntax, kLone, backslash);
  }
  if (unit >= 0xD800 && unit < 0xDC00) {
    std::uint32_t low = 0;
    if (text_.substr(offset(), 2) != "\\u") {
      return fail(Fault::json_syntax, kLone, backslash);
    }
    if (!read_code_unit(low)) {
      return false;
    }
    if (low < 0xDC00 || low >= 0xE000) {
      return fail(Fault::json_syntax, kLone, backslash);
    }
    unit = 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00);
  }
  append_utf8(unescaped_, unit);
  return true;
}

bool JsonReader::read_code_unit(std::uint32_t& unit) {
  constexpr std::size_t kSize = 6;  // \uxxxx
  const std::string_view escape = text_.substr(offset(), kSize);
  unit = 0;
  for (const char each : escape.substr(2)) {
    const char lower = static_cast<char>(each | 0x20);
    const int digit = each >= '0' && each <= '9'     ? each - '0'
                      : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                     : -1;
    if (digit < 0) {
      return fail_syntax("four hexadecimal digits stand behind \\u");
    }
    unit = unit << 4U | static_cast<std::uint32_t>(digit);
  }
  if (escape.size() != kSize) {
    return fail_syntax("four hexadecimal digits stand behind \\u");
  }
  bytes_.advance(kSize);
  return true;
}

}  // namespace mf::codec
