#include "mf/access/rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "mf/access/glob.hpp"

namespace mf::access {
namespace {

constexpr std::array<std::string_view, kActions> kNames{"register", "call",       "lead", "watch",
                                                        "publish",  "subscribe",  "send", "replicate",
                                                        "list",     "administer", "relay"};

/// The port behind the last colon; nothing if there is none.
std::optional<std::uint16_t> port_of(std::string_view authority) noexcept {
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto digits = authority.substr(colon + 1);
  std::uint16_t port = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return port;
}

}  // namespace

std::string_view name_of(Action action) noexcept {
  return kNames.at(static_cast<std::size_t>(action));
}

bool has_dots(std::string_view path) noexcept {
  while (!path.empty()) {
    const auto part = path.substr(0, path.find('/'));
    if (part == "." || part == "..") return true;
    path.remove_prefix(std::min(part.size() + 1, path.size()));
  }
  return false;
}

bool Rules::Who::fits(const Identity& identity) const noexcept {
  if (authenticated) return identity.known();
  return identity.known() ? glob_matches(pattern, identity.name) : pattern == "*";
}

bool Rules::Where::fits(std::string_view address) const noexcept {
  const auto end = address.find(':');
  if (end == std::string_view::npos || address.substr(0, end) != scheme) return false;
  auto authority = address.substr(end + 1);
  const bool slashes = authority.starts_with("//");  // unix:/path is unix:///path, too
  if (slashes) authority.remove_prefix(2);
  if (scheme == "unix") return !has_dots(authority) && glob_matches(host, authority);
  if (!slashes) return false;
  const auto port = port_of(authority);
  if (!port || *port < first_port || *port > last_port) return false;
  return glob_matches(host, authority.substr(0, authority.rfind(':')));
}

bool Rules::Rule::fits(const Wish& wish) const noexcept {
  const auto covers = [this, &wish](Action with_patterns, std::string_view own, std::string_view asked) {
    return wish.action == with_patterns && !allows ? globs_overlap(own, asked) : glob_matches(own, asked);
  };
  if (!covers(Action::watch, object, wish.object) || !covers(Action::subscribe, agent, wish.agent))
    return false;
  if (where && !where->fits(wish.address)) return false;
  // A line that denies is not limited by weights: it denies the registration whatever it asks for.
  return !weight || !allows || wish.weight <= *weight;
}

template <class Next>
Next& Rules::ByPrefix<Next>::at(std::string_view prefix) {
  const auto found = of.find(prefix);
  if (found != of.end()) return found->second;
  const auto place = std::ranges::lower_bound(lengths, prefix.size());
  if (place == lengths.end() || *place != prefix.size()) lengths.insert(place, prefix.size());
  return of[std::string(prefix)];
}

Rules::Rules(std::vector<Rule> rules) : rules_(std::move(rules)), index_(kActions) {
  for (std::uint32_t i = 0; i < rules_.size(); ++i) {
    const auto& rule = rules_[i];
    for (const auto& who : rule.whos) {
      auto& places = index_[static_cast<std::size_t>(rule.action)]
                         .at(literal_prefix(who.pattern))
                         .at(literal_prefix(rule.object))
                         .at(literal_prefix(rule.agent));
      if (places.empty() || places.back() != i) places.push_back(i);
    }
  }
}

Decision Rules::decide(const Identity& identity, const Wish& wish) const {
  auto first = static_cast<std::uint32_t>(rules_.size());
  const auto look = [&](const Places& places) {
    for (const auto place : places) {
      if (place >= first) return;
      const auto& rule = rules_[place];
      if (!rule.fits(wish)) continue;
      if (std::ranges::none_of(rule.whos, [&](const Who& who) { return who.fits(identity); })) continue;
      first = place;
      return;
    }
  };
  const auto each = [](const auto& under, std::string_view asked, bool is_pattern, auto&& act) {
    const auto prefix = is_pattern ? literal_prefix(asked) : asked;
    under.each(prefix, act);
    if (prefix.size() != asked.size()) under.each_longer(prefix, act);
  };
  index_[static_cast<std::size_t>(wish.action)].each(identity.name, [&](const ByObject& objects) {
    each(objects, wish.object, wish.action == Action::watch,
         [&](const ByAgent& agents) { each(agents, wish.agent, wish.action == Action::subscribe, look); });
  });
  if (first == rules_.size()) return {};
  return {.allowed = rules_[first].allows, .line = rules_[first].line};
}

}  // namespace mf::access
