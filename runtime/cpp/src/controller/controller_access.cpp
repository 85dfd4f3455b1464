// What the peers of a controller may do, by their identities. Nothing here needs the lock.

#include <algorithm>
#include <utility>

#include "controller/feeds.hpp"
#include "controller/grants.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"

namespace mf::controller {
namespace {

using access::Action;

/// Whether a controller with `closed` and without rules denies the action.
bool changes_something(Action action) noexcept {
  return action == Action::register_ || action == Action::publish || action == Action::lead;
}

}  // namespace

access::Decision Controller::decide(const access::Wish& wish) const {
  if (const auto rules = options_.access.rules()) return rules->decide(current_call().identity(), wish);
  return {.allowed = !options_.closed || !changes_something(wish.action), .line = 0};
}

bool Controller::may_list() const {
  return decide({.action = Action::list}).allowed;
}

std::optional<Failure> Controller::denied(const access::Wish& wish, Grants* grants) const {
  const auto& call = current_call();
  const auto decision = decide(wish);
  if (decision.allowed) {
    if (grants != nullptr) grants->add(wish, decision.line);
    return std::nullopt;
  }
  const auto action = access::name_of(wish.action);
  options_.log.write(Level::warning, "access_denied",
                     {{"peer", call.peer},
                      {"identity", call.identity().str()},
                      {"action", action},
                      {"object", wish.object},
                      {"agent", wish.agent},
                      {"address", wish.address},
                      {"line", decision.line}});
  note_refused({.peer = std::string(call.peer),
                .identity = call.identity().str(),
                .action = std::string(action),
                .object = shortened(wish.object),
                .agent = shortened(wish.agent),
                .address = shortened(wish.address)});
  return not_executed(Code::permission_denied,
                      call.identity().str() + " may not " + std::string(action) +
                          (wish.object.empty() ? "" : " " + shortened(wish.object)) +
                          (wish.agent.empty() ? "" : " for agent \"" + shortened(wish.agent) + "\"") +
                          (wish.address.empty() ? "" : " at " + shortened(wish.address)));
}

// Each address must be allowed. A topic is published, wherever its publisher is.
std::optional<Failure> Controller::denied(const std::vector<Offer>& offers, Grants& grants) const {
  if (!options_.access && !options_.closed) return std::nullopt;
  for (const Offer& offer : offers) {
    const bool topic = offer.key.kind == KeyKind::topic;
    access::Wish wish{.action = topic ? Action::publish : Action::register_,
                      .object = offer.key.name,
                      .agent = offer.key.agent,
                      .weight = std::max<std::uint32_t>(offer.weight, 1)};
    if (topic || offer.addresses.empty())
      if (auto no = denied(wish, &grants)) return no;
    if (topic) continue;
    for (const auto& address : offer.addresses) {
      wish.address = address;
      if (auto no = denied(wish, &grants)) return no;
    }
  }
  return std::nullopt;
}

std::optional<Failure> Controller::denied(const Filter& filter) const {
  return denied(access::Wish{.action = Action::watch, .object = filter.name});
}

void Controller::log_grants(const Grants& grants) const {
  const auto& call = current_call();
  for (const auto& [line, grant] : grants.by_line)
    options_.log.write(Level::info, "access_granted",
                       {{"peer", call.peer},
                        {"identity", call.identity().str()},
                        {"action", access::name_of(grant.action)},
                        {"object", grant.object},
                        {"agent", grant.agent},
                        {"address", grant.address},
                        {"line", line},
                        {"more", grant.more}});
}

}  // namespace mf::controller
