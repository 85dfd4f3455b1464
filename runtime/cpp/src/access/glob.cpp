#include "mf/access/glob.hpp"

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

}  // namespace mf::access
