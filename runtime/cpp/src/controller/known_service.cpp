#include "mf/controller/known_service.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

/// The first network address and the first path that this runtime can connect to. So if a server lists tls://
/// before tcp://, no client uses plain text.
std::optional<mf::Instance> reachable(const Instance& instance) {
  const Offer& offer = instance.offer;
  mf::Instance found{.address = {}, .weight = std::max<std::uint32_t>(offer.weight, 1)};
  std::memcpy(found.nonce.data(), instance.instance.bytes.data(), found.nonce.size());
  std::memcpy(found.fingerprint.data(), offer.fingerprint.bytes.data(), found.fingerprint.size());
  for (const std::string& text : offer.addresses) {
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

/// Of several instances at one address the first counts.
using Places = std::set<std::pair<std::string_view, Address>>;

void add(Offers& offers, Places& taken, const Instance& instance) {
  auto found = reachable(instance);
  if (!found || !taken.emplace(instance.offer.key.agent, found->address).second) return;
  offers.agents[instance.offer.key.agent].push_back(std::move(*found));
}

}  // namespace

void KnownService::apply(Change& change, Instances& to) {
  for (const Gone& gone : change.gone) to.erase({gone.key.agent, gone.instance});
  for (Instance& instance : change.put) {
    std::pair place{instance.offer.key.agent, instance.instance};
    if (agents_.size() < kMaxAgents) agents_.insert(place.first);
    to.insert_or_assign(std::move(place), std::move(instance));
  }
}

void KnownService::apply(Change change, TimePoint now) {
  for (const Gone& gone : change.gone) earlier_.erase({gone.key.agent, gone.instance});
  if (change.snapshot) coming_.emplace();
  apply(change, coming_ ? *coming_ : instances_);
  if (coming_) {
    if (change.more) return;
    if (run_ != 0 && change.run != run_) {
      earlier_.merge(instances_);
      earlier_until_ = now + kKeptFor;
    }
    instances_ = *std::exchange(coming_, std::nullopt);
  }
  run_ = change.run;
  revision_ = change.revision;
  std::erase_if(earlier_, [this](const auto& earlier) { return instances_.contains(earlier.first); });
  tidy(now);
}

void KnownService::tidy(TimePoint now) {
  if (now >= earlier_until_) earlier_.clear();
}

// Of several instances at one address the verified one is there now.
Offers KnownService::offers() const {
  Offers offers;
  offers.answered = run_ != 0;
  for (const std::string& agent : agents_) offers.agents[agent];
  Places taken;
  for (const bool verified : {true, false})
    for (const auto& [place, instance] : instances_)
      if (instance.verified == verified) add(offers, taken, instance);
  for (const auto& [place, instance] : earlier_) add(offers, taken, instance);
  return offers;
}

}  // namespace mf::controller
