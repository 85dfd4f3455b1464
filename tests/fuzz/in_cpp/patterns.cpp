// The agents of a subscription, and behind a zero an agent: a valid pattern without a '*' is met by itself
// alone.

#include <algorithm>

#include "in_cpp/input.hpp"
#include "mf/topics/pattern.hpp"
#include "targets.hpp"

namespace fuzz {

bool patterns(std::span<const std::byte> input) {
  const std::string_view text = text_of(rest_of(input));
  const auto zero = std::min(text.find('\0'), text.size());
  const auto pattern = text.substr(0, zero);
  const auto agent = text.substr(std::min(zero + 1, text.size()));
  const bool matches = mf::topics::pattern_matches(pattern, agent);
  if (const auto refusal = mf::topics::pattern_refusal("a.Topic", way_of(input) % 2 == 0, pattern)) {
    require(!refusal->empty());
    return false;
  }
  if (pattern.find('*') == std::string_view::npos) require(matches == (pattern == agent));
  require(mf::topics::pattern_matches(pattern, pattern));
  return true;
}

}  // namespace fuzz
