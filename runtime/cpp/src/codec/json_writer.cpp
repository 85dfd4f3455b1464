#include "codec/json_writer.hpp"

#include <span>

#include "codec/json_chars.hpp"
#include "mf/codec/utf8.hpp"
#include "mf/core/hex.hpp"

namespace mf::codec {
namespace {

void append_escaped(std::string& to, char each) {
  constexpr std::string_view kMeant = "\"\\\b\f\n\r\t";
  constexpr std::string_view kMarks = "\"\\bfnrt";
  to += '\\';
  if (const std::size_t which = kMeant.find(each); which != std::string_view::npos) {
    to += kMarks[which];
  } else {
    append_hex(to.append("u00"), static_cast<unsigned char>(each));
  }
}

}  // namespace

void JsonWriter::member(std::string_view name) {
  separate();
  text_.append(1, '"').append(name).append("\":");
}

void JsonWriter::string(std::string_view value) {
  const std::size_t good = valid_utf8_prefix(std::as_bytes(std::span(value)));
  if (good != value.size()) {
    fail("a string is not UTF-8, at byte " + std::to_string(good) + " of it");
    quoted("");
    return;
  }
  text_ += '"';
  std::size_t at = 0;
  while (at < value.size()) {
    std::size_t end = at;
    while (end < value.size() && is_plain(value[end])) {
      ++end;
    }
    text_.append(value.substr(at, end - at));
    if (end < value.size()) {
      append_escaped(text_, value[end++]);
    }
    at = end;
  }
  text_ += '"';
}

void JsonWriter::base64(std::span<const std::byte> value) {
  text_ += '"';
  json_text::append_base64(text_, value);
  text_ += '"';
}

void JsonWriter::put_in_order(std::span<const std::size_t> starts, std::span<const std::uint32_t> order) {
  const std::size_t begin = starts.front();
  const std::string members = text_.substr(begin);
  text_.resize(begin);
  for (const std::uint32_t each : order) {
    const std::size_t end = each + 1 < starts.size() ? starts[each + 1] - begin : members.size();
    std::string_view member(members.data() + (starts[each] - begin), end - (starts[each] - begin));
    if (member.empty()) continue;
    if (member.front() == ',') member.remove_prefix(1);
    separate();
    text_ += member;
  }
}

void JsonWriter::as_key(std::size_t start) {
  if (text_[start] != '"') {
    text_.insert(start, 1, '"');
    text_ += '"';
  }
  text_ += ':';
}

bool JsonWriter::open(char bracket) {
  constexpr unsigned kDepth = Limits{}.depth;
  if (level_ == kDepth || !error_.empty()) {
    fail("a value is nested deeper than " + std::to_string(kDepth) + " objects and arrays");
    null();
    return false;
  }
  text_ += bracket;
  ++level_;
  return true;
}

}  // namespace mf::codec
