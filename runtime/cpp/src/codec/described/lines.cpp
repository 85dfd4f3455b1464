#include "codec/described/lines.hpp"

#include <algorithm>

namespace mf::described {

std::string quoted(std::string_view text) {
  constexpr std::size_t kMaxShown = 80;
  return "`" + std::string(text.substr(0, kMaxShown)) + "`";
}

std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool Lines::next(Line& line) noexcept {
  if (left_.empty()) return false;
  offset_ = static_cast<std::size_t>(left_.data() - text_.data());
  std::string_view whole = take_until(left_, '\n');
  line.depth = std::min(whole.find_first_not_of(' '), whole.size());
  whole.remove_prefix(line.depth);
  line.word = take_until(whole, ' ');
  line.rest = whole;
  return true;
}

}  // namespace mf::described
