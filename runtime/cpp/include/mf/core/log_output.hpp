#pragma once
// Where lines of a log go if they have no sink of a program: standard error, for people or for programs.
//
//     2026-11-20T19:05:08.123Z warning connection_broken peer=127.0.0.1:4000 code=PROTOCOL_ERROR
//     {"time":"2026-11-20T19:05:08.123Z","level":"warning","event":"connection_broken","peer":"127.0.0.1:4000",…}
//
// A thread of its own writes, so that nothing else waits for the reader of the log: 10,000 lines are kept for
// it, and what is beyond them, or what standard error refuses, is counted in a line (`lines_left_out`). One
// line is one write of at most PIPE_BUF bytes. If standard error is the journal of systemd, <N> with the
// priority of syslog is in front. A process that ends by exit() or by returning from main() writes what is
// kept, unless a line takes longer than 0.25 s; one that is killed or aborted may lose its last lines.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mf/core/log.hpp"

namespace mf {

enum class LogFormat : std::uint8_t { text, json };

/// "text", "json"; false if it is none of them.
[[nodiscard]] bool parse_log_format(std::string_view text, LogFormat& format) noexcept;

/// A sink that writes to standard error. Log() has none, and writes there as text.
[[nodiscard]] std::shared_ptr<LogSink> standard_error_log(LogFormat format);

/// Waits until the lines that were logged before are written; false: one of them takes longer than 0.25 s.
/// To be called before other text goes to standard error that belongs behind them.
bool flush_standard_error_log() noexcept;

/// The line that a sink gets ("event key=value …") as one JSON object, whose values are strings. `before` are
/// its first members. At most `limit` bytes: further fields are left out, and "cut" is true.
[[nodiscard]] std::string log_line_as_json(std::string_view before, std::string_view line, std::size_t limit);

}  // namespace mf
