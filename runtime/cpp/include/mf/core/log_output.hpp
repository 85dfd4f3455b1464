#pragma once
// Where lines of a log go if they have no sink of a program: standard error, for people or for programs.
//
//     2026-11-20T19:05:08.123Z warning connection_broken peer=127.0.0.1:4000 code=PROTOCOL_ERROR
//     {"time":"2026-11-20T19:05:08.123Z","level":"warning","event":"connection_broken","peer":"127.0.0.1:4000",…}
//
// One line is one write of at most PIPE_BUF bytes, and a line for which a pipe has no room is left out and
// counted (`lines_lost_before` of the next one), so that nothing waits for the reader. If standard error is
// the journal of systemd, <N> with the priority of syslog stands in front.

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

/// The line that a sink gets ("event key=value …") as one JSON object, whose values are strings. `before` are
/// its first members. At most `limit` bytes: further fields are left out, and "cut" is true.
[[nodiscard]] std::string log_line_as_json(std::string_view before, std::string_view line, std::size_t limit);

}  // namespace mf
