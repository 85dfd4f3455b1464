#include "mf/controller/known_service.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

bool is_same(const Instance& one, const Instance& other) {
  return one.nonce == other.nonce && one.agent == other.agent;
}

/// The first address over the network and the first path, as far as this runtime can connect to them. So
/// where a server lists tls:// before tcp://, nobody is led to send in clear text.
std::optional<mf::Instance> reachable(const Instance& instance) {
  mf::Instance found{.address = {}, .weight = std::max<std::uint32_t>(instance.weight, 1)};
  std::memcpy(found.nonce.data(), instance.nonce.bytes.data(), found.nonce.size());
  for (const std::string& text : instance.addresses) {
    try {
      Address address = Address::parse(text);
      auto& place = address.local() ? found.local : found.address;
      if (place.scheme.empty() && address.of_server()) place = std::move(address);
    } catch (const Error&) {
      continue;  // of a kind that this runtime does not know
    }
  }
  if (found.address.scheme.empty()) std::swap(found.address, found.local);
  if (found.address.scheme.empty()) return std::nullopt;
  return found;
}

void add(Offers& offers, const Instance& instance) {
  auto found = reachable(instance);
  if (!found) return;
  auto& of_agent = offers.agents[instance.agent];
  const auto known = [&](const mf::Instance& other) { return other.address == found->address; };
  if (std::any_of(of_agent.begin(), of_agent.end(), known)) return;
  of_agent.push_back(std::move(*found));
}

}  // namespace

void KnownService::update(View view, TimePoint now) {
  if (view_.epoch != 0 && view.epoch != view_.epoch) {
    earlier_.insert(earlier_.end(), view_.instances.begin(), view_.instances.end());
    earlier_until_ = now + kKeptFor;
  }
  view_ = std::move(view);
  std::erase_if(earlier_, [&](const Instance& before) {
    return std::any_of(view_.instances.begin(), view_.instances.end(),
                       [&](const Instance& i) { return is_same(i, before); });
  });
  for (const Instance& instance : view_.instances)
    if (agents_.size() < kMaxAgents) agents_.insert(instance.agent);
  tidy(now);
}

void KnownService::tidy(TimePoint now) {
  if (now >= earlier_until_) earlier_.clear();
}

Offers KnownService::offers() const {
  Offers offers;
  offers.answered = view_.epoch != 0;
  for (const std::string& agent : agents_) offers.agents[agent];
  for (const Instance& instance : view_.instances) add(offers, instance);
  for (const Instance& instance : earlier_) add(offers, instance);
  return offers;
}

}  // namespace mf::controller
