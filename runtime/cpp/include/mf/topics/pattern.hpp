// The agents of a subscription: "eu.*.books". Segments are separated by dots; '*' matches any segment, and at
// the end one or more segments. The pattern is empty if the topic has no agents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mf::topics {

/// Why the pattern is invalid; nothing if it is valid.
[[nodiscard]] std::optional<std::string> pattern_refusal(std::string_view topic, bool per_agent,
                                                         std::string_view pattern);
[[nodiscard]] bool pattern_matches(std::string_view pattern, std::string_view agent) noexcept;

}  // namespace mf::topics
