// What a request asks for: a method with what is said of its call, or a topic.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "http/calls.hpp"
#include "http/feed.hpp"
#include "http/problem.hpp"

namespace mf::http {

struct Visit {
  bool is_topic = false;
  std::string name{};    // of the service, or topic
  std::string method{};  // empty for a topic
  std::string token{};
  Settings settings{};
  Subscribing subscribing{};
};

/// "1.5s", "250ms", "1.500s"; nothing: it is no such time, not above zero, or more than a day.
[[nodiscard]] std::optional<std::chrono::nanoseconds> deadline_of(std::string_view text) noexcept;
/// Text whose bytes may be written %XX; nothing: what is behind a % are no two digits, or it is not UTF-8.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);
/// Splits /v1/SERVICE/METHOD and /v1/topics/TOPIC; false: the path is none of these.
[[nodiscard]] bool read_path(std::string_view path, Visit& into);
/// Why this member of the first message of a WebSocket, or this field, cannot be used; nothing: it is set.
[[nodiscard]] std::optional<Problem> set_deadline(Settings& settings, std::string_view text);
[[nodiscard]] std::optional<Problem> set_metadata(Settings& settings, std::string_view key,
                                                  std::string_view value);

}  // namespace mf::http
