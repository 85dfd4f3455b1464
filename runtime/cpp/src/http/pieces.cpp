#include "http/pieces.hpp"

#include <algorithm>

namespace mf::http {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The place behind the string that begins at `at`; npos: it has no end.
std::size_t behind_string(std::string_view text, std::size_t at) noexcept {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

/// The place of the first `end` or comma outside of strings and brackets, from `at` on; npos: there is none.
std::size_t end_of_value(std::string_view text, std::size_t at, char end) noexcept {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = behind_string(text, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == end)) return at;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return std::string_view::npos;
      --depth;
    }
    ++at;
  }
  return std::string_view::npos;
}

/// Calls `part` with the text of each part between the brackets; false: it returned false, or the text is
/// nothing between such brackets.
template <class Part>
bool for_each_part(std::string_view json, char begin, char end, const Part& part) {
  const auto text = trimmed(json);
  if (text.size() < 2 || text.front() != begin) return false;
  std::size_t at = 1;
  if (trimmed(text.substr(1)) == std::string_view(&end, 1)) return true;
  for (;;) {
    const auto over = end_of_value(text, at, end);
    if (over == std::string_view::npos) return false;
    if (!part(trimmed(text.substr(at, over - at)))) return false;
    if (text[over] == end) return over + 1 == text.size();
    at = over + 1;
  }
}

}  // namespace

bool is_array(std::string_view json) noexcept {
  return trimmed(json).starts_with('[');
}

std::optional<std::vector<std::string_view>> elements_of(std::string_view json, std::size_t most) {
  std::vector<std::string_view> elements;
  const auto part = [&](std::string_view text) {
    elements.push_back(text);
    return elements.size() <= most;
  };
  if (!for_each_part(json, '[', ']', part)) return std::nullopt;
  return elements;
}

std::optional<Members> members_of(std::string_view json, std::size_t most) {
  Members members;
  const auto part = [&](std::string_view text) {
    if (!text.starts_with('"')) return false;
    const auto over = behind_string(text, 0);
    if (over == std::string_view::npos) return false;
    const auto name = text.substr(1, over - 2);
    const auto value = trimmed(text.substr(over));
    if (!value.starts_with(':') || name.find('\\') != std::string_view::npos) return false;
    if (std::ranges::any_of(members, [&](const auto& member) { return member.first == name; })) return false;
    members.emplace_back(name, trimmed(value.substr(1)));
    return members.size() <= most;
  };
  if (!for_each_part(json, '{', '}', part)) return std::nullopt;
  return members;
}

}  // namespace mf::http
