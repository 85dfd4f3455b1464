#include "mf/core/identity.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace mf {
namespace {

constexpr std::size_t kLongestName = 2'048;
constexpr std::array<std::string_view, 3> kPrefixes{"uid:", "dns:", "token:"};

constexpr bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}

constexpr char lower_of(char c) noexcept {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

// A URI has an authority, and a scheme that is no kind of identity. Schemes have no case.
bool is_uri(std::string_view name) noexcept {
  const auto begins = [&](std::string_view prefix) {
    return std::ranges::equal(name.substr(0, prefix.size()), prefix, {}, lower_of);
  };
  return name.find("://") != std::string_view::npos && std::ranges::none_of(kPrefixes, begins);
}

}  // namespace

std::string Identity::str() const {
  auto text = known() ? name : std::string("none");
  for (std::size_t i = 0; i < via.size(); ++i) text += (i == 0 ? " via " : ", ") + via[i];
  return text;
}

bool is_name_of(Identity::Kind kind, std::string_view name) noexcept {
  const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != '*'; };
  if (name.size() > kLongestName || !std::ranges::all_of(name, is_plain)) return false;
  const auto is_behind = [&](std::string_view prefix) {
    return name.starts_with(prefix) && name.size() > prefix.size();
  };
  switch (kind) {
    case Identity::Kind::none:
      return name.empty();
    case Identity::Kind::uid:
      return is_behind("uid:") &&
             std::ranges::all_of(name.substr(4), [](char c) { return c >= '0' && c <= '9'; });
    case Identity::Kind::certificate:
      return (is_behind("dns:") && std::ranges::none_of(name, is_upper)) || is_uri(name);
    case Identity::Kind::token:
      return is_behind("token:");
  }
  return false;
}

const Identity& own_identity() {
  static const Identity kOwn{.kind = Identity::Kind::uid, .name = "uid:" + std::to_string(::geteuid())};
  return kOwn;
}

}  // namespace mf
