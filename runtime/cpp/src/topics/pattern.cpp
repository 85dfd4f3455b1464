#include "mf/topics/pattern.hpp"

#include "mf/core/text.hpp"

namespace mf::topics {
namespace {

/// The first segment, which is taken from the text; `more` says whether a dot was behind it.
std::string_view next_segment(std::string_view& text, bool& more) noexcept {
  const auto dot = text.find('.');
  more = dot != std::string_view::npos;
  const auto segment = text.substr(0, dot);
  text = more ? text.substr(dot + 1) : std::string_view();
  return segment;
}

}  // namespace

std::optional<std::string> pattern_refusal(std::string_view topic, bool per_agent, std::string_view pattern) {
  if (!per_agent) {
    if (pattern.empty()) return std::nullopt;
    return "topic " + std::string(topic) + " has no agents, and \"" + shortened(pattern) + "\" asks for one";
  }
  if (pattern.empty()) return "topic " + std::string(topic) + " has agents: say which, \"*\" for all";
  const auto whole = pattern;
  for (bool more = true; more;) {
    const auto segment = next_segment(pattern, more);
    if (segment.empty()) return "a segment between dots is empty: \"" + shortened(whole) + "\"";
    if (segment != "*" && segment.find('*') != std::string_view::npos)
      return "'*' matches a whole segment between dots, not a part of one: \"" + shortened(segment) + "\"";
  }
  return std::nullopt;
}

bool pattern_matches(std::string_view pattern, std::string_view agent) noexcept {
  if (pattern == agent) return true;
  if (pattern.empty() || agent.empty()) return false;
  for (;;) {
    bool more_pattern = false;
    bool more_agent = false;
    const auto wanted = next_segment(pattern, more_pattern);
    const auto given = next_segment(agent, more_agent);
    if (wanted != "*" && wanted != given) return false;
    if (wanted == "*" && !more_pattern) return true;
    if (more_pattern != more_agent) return false;
    if (!more_pattern) return true;
  }
}

}  // namespace mf::topics
