#include "mf/core/log_output.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/log_writer.hpp"
#include "mf/core/hex.hpp"

namespace mf {
namespace {

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      out += "\\u00";
      append_hex(out, static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

/// The words of a line that Log has made: "event", "key=value", where a value may be in quotes.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  /// Up to one of these, which is skipped, without its quotes and escapes.
  std::string next(std::string_view ends) {
    std::string word;
    bool quoted = false;
    std::size_t at = 0;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == '"')
        quoted = !quoted;
      else if (quoted && c == '\\' && at + 1 < rest_.size())
        at += append_escaped(word, rest_.substr(at + 1));
      else if (!quoted && ends.find(c) != std::string_view::npos)
        break;
      else
        word += c;
    }
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    return word;
  }

 private:
  /// Appends the character that an escape sequence represents, by the characters behind its backslash.
  /// Returns how many these are. A byte that was no UTF-8 becomes the character of that number.
  static std::size_t append_escaped(std::string& word, std::string_view behind) {
    constexpr std::string_view kNames = "nrt";
    if (const auto at = kNames.find(behind.front()); at != std::string_view::npos) {
      word += "\n\r\t"[at];
      return 1;
    }
    unsigned byte = 0;
    if (behind.front() != 'x' || behind.size() < 3 ||
        std::from_chars(behind.data() + 1, behind.data() + 3, byte, 16).ec != std::errc()) {
      word += behind.front();
      return 1;
    }
    if (byte >= 0x80) word += static_cast<char>(0xc0U | (byte >> 6U));
    word += static_cast<char>(byte < 0x80 ? byte : 0x80U | (byte & 0x3fU));
    return 3;
  }

  std::string_view rest_;
};

class StandardError final : public LogSink {
 public:
  explicit StandardError(LogFormat format) : format_(format) {}

  void write(Level level, std::string_view line) noexcept override {
    LogWriter::get().write(level, line, format_);
  }

 private:
  LogFormat format_;
};

}  // namespace

bool parse_log_format(std::string_view text, LogFormat& format) noexcept {
  if (text != "text" && text != "json") return false;
  format = text == "json" ? LogFormat::json : LogFormat::text;
  return true;
}

std::shared_ptr<LogSink> standard_error_log(LogFormat format) {
  return std::make_shared<StandardError>(format);
}

bool flush_standard_error_log() noexcept {
  return LogWriter::get().flush();
}

std::string log_line_as_json(std::string_view before, std::string_view line, std::size_t limit) {
  constexpr std::string_view kCut = ",\"cut\":true}";
  std::string json = "{" + std::string(before) + (before.empty() ? "\"event\":" : ",\"event\":");
  Words words(line);
  append_json(json, words.next(" "));
  while (!words.empty()) {
    const auto key = words.next("= ");
    if (key == "...") return json.append(kCut);  // Log has cut the line
    std::string member = ",";
    append_json(member, key);
    member += ':';
    append_json(member, words.next(" "));
    if (json.size() + member.size() + kCut.size() > limit) return json.append(kCut);
    json += member;
  }
  return json.append("}");
}

}  // namespace mf
