#include "mf/access/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "access/suggestion.hpp"

namespace mf::access {
namespace {

constexpr std::array<std::string_view, 2> kWords{"anyone", "authenticated"};
constexpr std::array<std::string_view, 3> kKinds{"uid", "dns", "token"};  // others are schemes of URIs

std::string no_name(std::string_view pattern) {
  return quoted(pattern) +
         " is no name: anyone, authenticated, @group, uid:1000, dns:host.example, token:name, or a URI such "
         "as spiffe://example.org/search";
}

bool is_kind(std::string_view word) {
  return std::ranges::find(kKinds, word) != kKinds.end();
}

std::string objection_to_user(std::string_view pattern) {
  const auto digits = pattern.substr(4);
  if (digits == "*") return {};
  std::uint32_t user = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), user);
  const bool is_number =
      !digits.empty() && read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (is_number && digits == std::to_string(user)) return {};
  return "a user is written as a number: uid:1000, not " + quoted(pattern) +
         (is_number ? did_you_mean("uid:" + std::to_string(user)) : "");
}

}  // namespace

std::string objection_to_name(std::string_view pattern) {
  constexpr std::size_t kLongest = 2'048;
  const auto colon = pattern.find(':');
  const auto kind = pattern.substr(0, colon);
  // A pattern that fits names of any kind would admit more than its author sees.
  if (colon == std::string_view::npos || kind.find('*') != std::string_view::npos)
    return no_name(pattern) + suggestion(pattern, kWords);
  if (pattern.size() > kLongest || !std::ranges::all_of(pattern, [](char c) { return c > ' ' && c <= '~'; }))
    return quoted(pattern) + " is no name: a name has at most 2048 printable characters of ASCII";
  if (kind == "uid") return objection_to_user(pattern);
  const auto rest = pattern.substr(colon + 1);
  const auto small = lower(kind);
  if (!is_kind(kind) && is_kind(small))  // no identity has such a name, whatever follows
    return no_name(pattern) + did_you_mean(small + ":" + std::string(rest));
  if (is_kind(kind) ? !rest.empty() : rest.starts_with("//") && !kind.empty()) return {};
  if (small == "user" && !rest.empty()) return no_name(pattern) + did_you_mean("uid:" + std::string(rest));
  if (!is_kind(kind) && rest.starts_with('/') && !kind.empty())
    return no_name(pattern) + did_you_mean(std::string(kind) + ":/" + std::string(rest));
  return no_name(pattern);
}

}  // namespace mf::access
