#include "mf/core/log.hpp"

#include <limits.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/log_limit.hpp"
#include "mf/core/hex.hpp"
#include "mf/core/log_output.hpp"
#include "mf/core/peer.hpp"
#include "mf/core/text.hpp"

namespace mf {
namespace {

constexpr std::size_t kMaxLine = PIPE_BUF - 128;  // leaves room for priority, time and level
constexpr std::array<const char*, 5> kLevels{"debug", "info", "warning", "error", "off"};

/// How lines show the identity of a peer that has proved none.
constexpr std::string_view kNoIdentity = "none";

/// Of the whole process, as standard error is. It is never destroyed: threads may log until the very end.
LogLimit& limit_of_warnings() {
  static auto* const limit = new LogLimit();
  return *limit;
}

/// Where lines without a sink go; never destroyed, for the same reason.
LogSink& standard_error() {
  static auto* const sink = new std::shared_ptr<LogSink>(standard_error_log(LogFormat::text));
  return **sink;
}

bool is_plain(char c) noexcept {
  return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '=';
}

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  out += "\\x";
  append_hex(out, c);
}

bool is_printable_ascii(unsigned char c) noexcept {
  return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/// C1 controls, line and paragraph separators and marks that change the direction of text are not printable.
bool is_harmless(std::string_view character) noexcept {
  if (character.size() == 2)
    return !(character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0);
  if (character.size() != 3 || character[0] != '\xe2') return true;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  const bool separator_or_direction = second == 0x80 && third >= 0xa8 && third <= 0xae;
  const bool isolate = second == 0x81 && third >= 0xa6 && third <= 0xa9;
  return !separator_or_direction && !isolate;
}

std::string line_of(std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = log_quoted(event);
  for (const LogField& field : fields) {
    std::string part = " " + log_quoted(field.key()) + "=" + log_quoted(field.text());
    if (line.size() + part.size() > kMaxLine) {
      line += " ...";
      break;
    }
    line += part;
  }
  return line;
}

void write_to(const std::shared_ptr<LogSink>& sink, Level level, std::string_view line) {
  (sink ? *sink : standard_error()).write(level, line);
}

/// The peer that the limit of a warning counts for: the identity that it has proved, or else its host.
std::string_view limited_for(std::initializer_list<LogField> fields) {
  const auto value_of = [&](std::string_view key) {
    const auto* const found =
        std::find_if(fields.begin(), fields.end(), [&](const LogField& field) { return field.key() == key; });
    return found == fields.end() ? std::string_view() : found->text();
  };
  const auto peer = value_of("peer");
  const auto identity = value_of("identity");
  return peer.empty() || identity.empty() || identity == kNoIdentity ? host_of(peer) : identity;
}

/// Whether this warning may be written: each event has a limit for each peer. Also writes how many earlier
/// warnings were left out.
bool may_warn(const std::shared_ptr<LogSink>& sink, std::string_view event,
              std::initializer_list<LogField> fields) {
  std::vector<LogLimit::LeftOut> over;
  const bool may = limit_of_warnings().admits(sink, event, limited_for(fields), mf::now(), over);
  for (const auto& left : over)
    write_to(left.sink, Level::warning,
             line_of("warnings_left_out", {{"of", left.event}, {"host", left.host}, {"count", left.count}}));
  return may;
}

}  // namespace

const char* name(Level level) noexcept {
  return kLevels[std::min<std::size_t>(static_cast<std::size_t>(level), 4)];
}

bool parse_level(std::string_view text, Level& level) noexcept {
  const auto* found = std::find(kLevels.begin(), kLevels.end(), text);
  if (found == kLevels.end()) return false;
  level = static_cast<Level>(found - kLevels.begin());
  return true;
}

std::string log_quoted(std::string_view text, std::size_t limit) {
  const bool cut = text.size() > limit;
  text = text.substr(0, limit);
  if (!cut && !text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out = "\"";
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1 : utf8_length(text);
    if (length == 1 && first < 0x80 ? is_printable_ascii(first)
                                    : length != 0 && is_harmless(text.substr(0, length))) {
      out += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      append_escaped(out, first);
      text.remove_prefix(1);
    }
  }
  out += cut ? "\"..." : "\"";
  return out;
}

void log_escaped_exception(const Log& log, std::string_view where) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    log.write(Level::error, "exception_escaped", {{"from", where}, {"what", error.what()}});
  } catch (...) {
    log.write(Level::error, "exception_escaped", {{"from", where}, {"what", "no std::exception"}});
  }
}

bool Log::try_write(Level level, std::string_view event,
                    std::initializer_list<LogField> fields) const noexcept {
  if (!wants(level) || level == Level::off) return false;
  try {
    if (level == Level::warning && !may_warn(sink_, event, fields)) return false;
    write_to(sink_, level, line_of(event, fields));
    return true;
  } catch (...) {
    return false;  // out of memory while logging: the running operation matters more than its log line
  }
}

}  // namespace mf
