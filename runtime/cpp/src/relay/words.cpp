#include "relay/words.hpp"

#include <algorithm>
#include <array>

namespace mf::relay {
namespace {

constexpr std::array<std::string_view, 8> kBegins{"tcp://",   "tls://",       "mf://",  "mf+tls://",
                                                  "relay://", "relay+tls://", "unix:/", "memory:"};
constexpr std::string_view kRelay = "relay ";

bool is_within_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_';
}

/// How long the address is that begins here; 0: none does.
std::size_t address_at(std::string_view text) noexcept {
  if (std::ranges::none_of(kBegins, [&](std::string_view begin) { return text.starts_with(begin); }))
    return 0;
  auto size = std::min(text.find_first_of(" \t\n,;\"'()"), text.size());
  while (size != 0 && (text[size - 1] == ':' || text[size - 1] == '.')) --size;  // of the sentence
  return size;
}

}  // namespace

std::string without_addresses(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || !is_within_word(text[at - 1]);
    const auto size = begins_word ? address_at(text.substr(at)) : 0;
    if (size == 0) {
      plain += text[at++];
      continue;
    }
    if (plain.ends_with(kRelay)) {
      plain.erase(plain.size() - kRelay.size());
      plain += "another relay";
    } else {
      plain += "a server";
    }
    at += size;
  }
  return plain;
}

}  // namespace mf::relay
