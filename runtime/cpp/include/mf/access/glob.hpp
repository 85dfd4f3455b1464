// Patterns of access files: '*' matches any characters, also none; every other character matches itself.
#pragma once

#include <string_view>

namespace mf::access {

[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text) noexcept;
/// Whether there is a text that both patterns match.
[[nodiscard]] bool globs_overlap(std::string_view one, std::string_view other) noexcept;
/// What the texts that match have in common: the pattern up to its first '*'.
[[nodiscard]] constexpr std::string_view literal_prefix(std::string_view pattern) noexcept {
  return pattern.substr(0, pattern.find('*'));
}

}  // namespace mf::access
