// Which agents a subscription is for: "eu.*.books". Segments stand between dots; one that is '*' stands for
// any, and one at the end for one segment or more. Empty: the topic has no agents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mf::topics {

/// Why nobody may subscribe by it; nothing if somebody may.
[[nodiscard]] std::optional<std::string> pattern_refusal(std::string_view topic, bool per_agent,
                                                         std::string_view pattern);
[[nodiscard]] bool pattern_matches(std::string_view pattern, std::string_view agent) noexcept;

}  // namespace mf::topics
