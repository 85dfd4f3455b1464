#include "mf/core/log_output.hpp"

#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "mf/core/hex.hpp"

namespace mf {
namespace {

constexpr std::size_t kMaxWrite = PIPE_BUF;  // what a pipe accepts in one piece

/// Lines that standard error did not accept since the last one that it did.
std::atomic<std::uint64_t> lost_lines{0};

/// Whether standard error accepts a line now. An unread pipe must not block a thread that serves connections:
/// POSIX guarantees for a writable pipe that PIPE_BUF bytes are written without blocking.
bool takes_a_line() noexcept {
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&standard_error, 1, 0) == 1;
}

/// Whether standard error is the journal: JOURNAL_STREAM of systemd has its device and inode.
bool is_journal() noexcept {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat found{};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &found) != 0) return false;
  std::array<char, 64> expected{};
  std::snprintf(expected.data(), expected.size(), "%llu:%llu", static_cast<unsigned long long>(found.st_dev),
                static_cast<unsigned long long>(found.st_ino));
  return std::string_view(stream) == expected.data();
}

/// What syslog calls the level, as the journal reads it.
std::string_view priority(Level level) noexcept {
  switch (level) {
    case Level::debug:
      return "<7>";
    case Level::info:
      return "<6>";
    case Level::warning:
      return "<4>";
    default:
      return "<3>";
  }
}

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(millis));
  return text.data();
}

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
  /// What stands for the characters behind a backslash. Returns how many these are. A byte that was no UTF-8
  /// becomes the character of that number.
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

std::string formatted(Level level, std::string_view line, LogFormat format, std::uint64_t lost) {
  std::string text(is_journal() ? priority(level) : "");
  const std::string time = time_now();
  if (format == LogFormat::json) {
    auto before = "\"time\":\"" + time + "\",\"level\":\"" + name(level) + "\"";
    if (lost != 0) before += ",\"lines_lost_before\":\"" + std::to_string(lost) + "\"";
    return text + log_line_as_json(before, line, kMaxWrite - text.size() - 1) + '\n';
  }
  const auto ending = lost == 0 ? std::string() : " lines_lost_before=" + std::to_string(lost);
  text.append(time).append(" ").append(name(level)).append(" ");
  text += line.substr(0, kMaxWrite - 1 - ending.size() - text.size());
  return text.append(ending).append("\n");
}

class StandardError final : public LogSink {
 public:
  explicit StandardError(LogFormat format) : format_(format) {}

  void write(Level level, std::string_view line) noexcept override {
    if (!takes_a_line()) {
      lost_lines.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    try {
      const auto text = formatted(level, line, format_, lost_lines.exchange(0, std::memory_order_relaxed));
      // One write for each line, so that lines of several threads and processes do not mix. A failure to log
      // cannot be reported.
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    } catch (...) {
      // Out of memory while logging: the running operation matters more than its log line.
    }
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
