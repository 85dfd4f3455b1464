#include "mf/controller/known_service.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/weight.hpp"

namespace mf::controller {
namespace {

/// Whether a client with TLS may use the address: its bytes are encrypted, or stay in this process.
bool is_secret(const Address& address) {
  return address.scheme == "tls" || address.in_memory();
}

/// Whether the process has registered by a certificate, which it then shows to its clients, too.
bool is_certified(std::string_view identity) {
  return !identity.empty() && !identity.starts_with("uid:") && !identity.starts_with("token:");
}

/// The first network address and the first path that this runtime can connect to. So if a server lists tls://
/// before tcp://, no client uses plain text. If an instance has only a path, the path is its network address,
/// too.
std::optional<mf::Instance> reachable(const Instance& instance, bool over_tls) {
  const Offer& offer = instance.offer;
  mf::Instance found{.address = {}, .weight = std::clamp<std::uint32_t>(offer.weight, 1, kMostWeight)};
  std::memcpy(found.nonce.data(), instance.instance.bytes.data(), found.nonce.size());
  std::memcpy(found.fingerprint.data(), offer.fingerprint.bytes.data(), found.fingerprint.size());
  for (const std::string& text : offer.addresses) {
    try {
      Address address = Address::parse(text);
      if (over_tls && !is_secret(address)) continue;
      auto& place = address.local() ? found.local : found.address;
      if (place.scheme.empty() && address.of_server()) place = std::move(address);
    } catch (const Error&) {
      continue;  // take_unreadable() has it
    }
  }
  if (found.address.scheme.empty()) found.address = found.local;
  if (found.address.scheme.empty()) return std::nullopt;
  if (found.address.scheme == "tls" && is_certified(instance.identity)) found.identity = instance.identity;
  return found;
}

/// Of several instances at one address, with the same certificate, the first counts.
using Places = std::set<std::tuple<std::string_view, Address, std::string>>;

void add(Offers& offers, Places& taken, const Instance& instance, bool over_tls) {
  auto found = reachable(instance, over_tls);
  if (!found || !taken.emplace(instance.offer.key.agent, found->address, found->identity).second) return;
  offers.agents[instance.offer.key.agent].push_back(std::move(*found));
}

}  // namespace

void KnownService::note_unreadable(const Instance& instance) {
  for (const std::string& text : instance.offer.addresses) {
    try {
      (void)Address::parse(text);
    } catch (const Error& error) {
      if (unreadable_.size() < kMostUnreadable) unreadable_.emplace(text, error.message());
    }
  }
}

void KnownService::apply(Change& change, Instances& to) {
  for (const Gone& gone : change.gone) to.erase({gone.key.agent, gone.instance});
  for (Instance& instance : change.put) {
    std::pair place{instance.offer.key.agent, instance.instance};
    if (agents_.size() < kMaxAgents) agents_.insert(place.first);
    note_unreadable(instance);
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
      if (instance.verified == verified) add(offers, taken, instance, over_tls_);
  for (const auto& [place, instance] : earlier_) add(offers, taken, instance, over_tls_);
  if (const auto in_clear = skipped(); !in_clear.empty())
    offers.note = "this client has TLS, and uses no address in clear: " + *in_clear.begin() +
                  (in_clear.size() > 1 ? " and " + std::to_string(in_clear.size() - 1) + " more" : "");
  return offers;
}

std::set<std::string> KnownService::skipped() const {
  std::set<std::string> skipped;
  if (!over_tls_) return skipped;
  for (const auto* const known : {&instances_, &earlier_})
    for (const auto& [place, instance] : *known)
      if (!reachable(instance, true))
        skipped.insert(instance.offer.addresses.begin(), instance.offer.addresses.end());
  return skipped;
}

}  // namespace mf::controller
