#include "mf/access/glob.hpp"

#include <algorithm>
#include <cstddef>

namespace mf::access {

// A '*' first takes nothing, and one character more after each mismatch behind it. Only the last '*' needs to
// be tried again: what the ones before it took can stay. At most pattern times text steps.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

// Between their literal ends, two patterns with stars never exclude each other: what is between the stars of
// one is taken by a star of the other.
bool globs_overlap(std::string_view one, std::string_view other) noexcept {
  constexpr auto kNone = std::string_view::npos;
  if (other.find('*') == kNone) return glob_matches(one, other);
  if (one.find('*') == kNone) return glob_matches(other, one);
  const auto head = std::min(one.find('*'), other.find('*'));
  const auto tail = std::min(one.size() - one.rfind('*'), other.size() - other.rfind('*')) - 1;
  return one.substr(0, head) == other.substr(0, head) &&
         one.substr(one.size() - tail) == other.substr(other.size() - tail);
}

}  // namespace mf::access
