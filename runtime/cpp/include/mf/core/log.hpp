#pragma once
// Structured log lines: a level, an event name, and key=value fields.
//
//     log.write(Level::warning, "connection_broken", {{"peer", peer}, {"code", name(code)}});
//
// writes
//
//     2026-11-20T19:05:08.123Z warning connection_broken peer=127.0.0.1:4000 code=PROTOCOL_ERROR
//
// Values come from peers. So a value never reaches a line raw: control characters, quotes, backslashes and
// bytes that are not UTF-8 are escaped (\n, \x1b), a value is cut at 512 bytes and a line at 4,096. One call
// is one line, whatever is in it. Log is a cheap handle, copied freely, used from any thread; the sink must
// allow that.

#include <atomic>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mf {

enum class Level : std::uint8_t { debug = 0, info = 1, warning = 2, error = 3, off = 4 };

[[nodiscard]] const char* name(Level level) noexcept;
/// "debug", "info", "warning", "error", "off"; false if it is none of them.
[[nodiscard]] bool parse_level(std::string_view text, Level& level) noexcept;

namespace detail {

/// What set_log_level() has set; kNoLevel: nothing.
inline constexpr std::uint8_t kNoLevel = 0xff;
inline constinit std::atomic<std::uint8_t> level_of_process{kNoLevel};

}  // namespace detail

/// All logs of this process take lines from `level` on, whatever level they were made with; without a level
/// each has its own again. Any thread.
inline void set_log_level(std::optional<Level> level) noexcept {
  detail::level_of_process.store(level ? static_cast<std::uint8_t>(*level) : detail::kNoLevel,
                                 std::memory_order_relaxed);
}

class LogField {
 public:
  LogField(std::string_view key, std::string_view value) : key_(key), text_(value) {}
  LogField(std::string_view key, const std::string& value) : key_(key), text_(value) {}
  LogField(std::string_view key, const char* value) : key_(key), text_(value) {}
  template <std::integral N>
  LogField(std::string_view key, N number) : key_(key) {
    // The view into digits_ is made by text(), since a field may be copied into an initializer list.
    digits_size_ =
        static_cast<std::uint8_t>(std::to_chars(digits_, digits_ + sizeof digits_, +number).ptr - digits_);
  }

  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  [[nodiscard]] std::string_view text() const noexcept {
    return digits_size_ != 0 ? std::string_view(digits_, digits_size_) : text_;
  }

 private:
  std::string_view key_;
  std::string_view text_;
  char digits_[24]{};
  std::uint8_t digits_size_ = 0;
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  /// One line without its newline and without a time. Called on the thread that logs, which may serve all
  /// connections: it must not wait.
  virtual void write(Level level, std::string_view line) noexcept = 0;
};

class Log {
 public:
  /// To standard error, with the time in front of each line (log_output.hpp).
  Log() = default;
  explicit Log(Level level) : level_(level) {}
  explicit Log(std::shared_ptr<LogSink> sink, Level level = Level::info)
      : sink_(std::move(sink)), level_(level) {}

  /// The least important lines that are written now.
  [[nodiscard]] Level level() const noexcept {
    const auto of_process = detail::level_of_process.load(std::memory_order_relaxed);
    return of_process == detail::kNoLevel ? level_ : static_cast<Level>(of_process);
  }
  [[nodiscard]] bool wants(Level level) const noexcept { return level >= this->level(); }
  void write(Level level, std::string_view event,
             std::initializer_list<LogField> fields = {}) const noexcept {
    (void)try_write(level, event, fields);
  }
  /// The same; false: no line was written, since the level is not wanted, or the limit of warnings has left
  /// it out.
  [[nodiscard]] bool try_write(Level level, std::string_view event,
                               std::initializer_list<LogField> fields) const noexcept;

 private:
  std::shared_ptr<LogSink> sink_;
  Level level_ = Level::info;
};

/// Call it in a catch block: writes one line of level error about an exception that nothing else handles, and
/// its place.
void log_escaped_exception(const Log& log, std::string_view where) noexcept;

/// `text` with everything escaped that is not allowed in a line, cut at `limit` bytes; quoted if necessary.
[[nodiscard]] std::string log_quoted(std::string_view text, std::size_t limit = 512);

}  // namespace mf
