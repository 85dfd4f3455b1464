#include "tokens.hpp"

namespace testbed {

namespace {

// The locale must not matter, so <cctype> is of no use. 0: not part of a token.
constexpr char folded(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '\0';
}

}  // namespace

std::vector<std::string> tokens(std::string_view text) {
  std::vector<std::string> found;
  std::string token;
  for (const char c : text) {
    if (const char letter = folded(c); letter != '\0') {
      token.push_back(letter);
    } else if (!token.empty()) {
      found.push_back(token);
      token.clear();
    }
  }
  if (!token.empty()) found.push_back(token);
  return found;
}

}  // namespace testbed
