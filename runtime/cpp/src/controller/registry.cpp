#include "mf/controller/registry.hpp"

#include <algorithm>
#include <utility>

#include "controller/secret.hpp"
#include "mf/core/error.hpp"
#include "mf/core/weight.hpp"

namespace mf::controller {
namespace {

constexpr std::size_t kMostNamed = 8;
/// The limit for visited places per page, so that a filter that matches few does not delay other work.
constexpr std::size_t kMostLookedAt = 10'000;

[[noreturn]] void refuse(const std::string& words) {
  throw Error(Code::overloaded, Execution::not_executed, words);
}

std::size_t bytes_of(const Offer& offer) noexcept {
  std::size_t bytes = offer.key.name.size() + offer.key.agent.size();
  for (const std::string& address : offer.addresses) bytes += sizeof address + address.size();
  for (const auto& [label, text] : offer.labels) bytes += 2 * sizeof label + label.size() + text.size();
  return bytes;
}

void check_weight(const Offer& offer) {
  if (offer.weight <= kMostWeight) return;
  throw Error(Code::invalid_argument, Execution::not_executed,
              "the weight of an offer is at most " + std::to_string(kMostWeight) + ", not " +
                  std::to_string(offer.weight));
}

/// Fields that a newer peer adds do not make another key.
Key known_part(const Key& key) {
  Key known;
  known.kind = key.kind;
  known.name = key.name;
  known.agent = key.agent;
  return known;
}

Place first_of(const Filter& filter) {
  Place first;
  const Pattern name(filter.name);
  first.key.kind = filter.kind;
  first.key.name = name.text();
  if (!name.prefix() && filter.agent) first.key.agent = Pattern(*filter.agent).text();
  return first;
}

/// Whether this key and all later ones cannot match the filter.
bool beyond(const Filter& filter, const Key& key) {
  const Pattern name(filter.name);
  if (key.kind != filter.kind || !name.matches(key.name)) return true;
  if (name.prefix() || !filter.agent) return false;
  return !Pattern(*filter.agent).matches(key.agent);
}

/// Of an entry of the log of changes.
std::size_t bytes_of_entry(const Instance& instance) noexcept {
  return sizeof(ChangeLog::Entry) + sizeof(Instance) + bytes_of(instance.offer);
}

}  // namespace

Registry::Cost& Registry::Cost::operator+=(const Cost& other) noexcept {
  offers += other.offers;
  bytes += other.bytes;
  return *this;
}

Registry::Cost& Registry::Cost::operator-=(const Cost& other) noexcept {
  offers -= other.offers;
  bytes -= other.bytes;
  return *this;
}

Registry::Standing Registry::standing(const Credential& who) const {
  const auto found = processes_.find(who.nonce);
  if (found == processes_.end()) {
    const auto gone = gone_.find(who.nonce);
    return gone == gone_.end() || is_hash_of(gone->second.secret_hash, who.secret) ? Standing::unknown
                                                                                   : Standing::stranger;
  }
  return is_hash_of(found->second.secret_hash, who.secret) ? Standing::own : Standing::stranger;
}

std::optional<std::string> Registry::identity_of(const Uuid& nonce) const {
  if (const auto found = processes_.find(nonce); found != processes_.end()) return found->second.identity;
  if (const auto gone = gone_.find(nonce); gone != gone_.end()) return gone->second.identity;
  return std::nullopt;
}

std::shared_ptr<const Instance> Registry::instance_of(const Uuid& nonce, const Process& process,
                                                      Offer offer) const {
  auto instance = std::make_shared<Instance>();
  offer.key = known_part(offer.key);
  instance->offer = std::move(offer);
  instance->instance = nonce;
  instance->process = process.name;
  instance->identity = process.identity;
  instance->verified = process.owner != kNoOwner;
  return instance;
}

void Registry::load(const Uuid& nonce, const stored::Process& process, TimePoint now) {
  if (processes_.contains(nonce)) return;
  take(nonce, process, kNoOwner);
  set_expiry(nonce, processes_.at(nonce), deadline_after(now, lease_));
}

void Registry::put_elsewhere(const Uuid& nonce, const stored::Process& process) {
  take(nonce, process, kElsewhere);
  set_expiry(nonce, processes_.at(nonce), kNever);
}

void Registry::take(const Uuid& nonce, const stored::Process& process, Owner owner) {
  Process& taken = processes_[nonce];
  taken.secret_hash = process.secret_hash;
  taken.name = process.name;
  taken.identity = process.identity;
  charge(taken, owner, {}, taken.cost);
  Offers offers;
  for (const Offer& offer : process.offers) {
    auto instance = instance_of(nonce, taken, offer);
    offers.insert_or_assign(instance->offer.key, std::move(instance));
  }
  charge(taken, owner, {}, cost_of(offers));
  replace(nonce, taken, std::move(offers));
}

void Registry::put(const Credential& who, const std::string& name, Owner owner, std::vector<Offer> offers,
                   TimePoint now, const std::string& host, const std::string& identity) {
  Process fresh;
  fresh.owner = owner;
  fresh.name = name;
  fresh.identity = identity;
  Offers after;
  for (Offer& offer : offers) {
    check_weight(offer);
    auto instance = instance_of(who.nonce, fresh, std::move(offer));
    const auto [at, is_new] = after.emplace(instance->offer.key, instance);
    if (!is_new)
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "a process offers " + at->first.name + " for agent \"" + at->first.agent + "\" twice");
  }
  const Cost cost = cost_of(after);
  const auto found = processes_.find(who.nonce);
  check(found == processes_.end() ? fresh : found->second, owner, host, cost);
  Process& process = processes_[who.nonce];
  process.secret_hash = hash_of(who.secret);
  process.name = name;
  process.identity = identity;
  charge(process, owner, host, cost);
  replace(who.nonce, process, std::move(after));
  set_expiry(who.nonce, process, deadline_after(now, lease_));
}

bool Registry::update(const Uuid& nonce, std::vector<Offer> put, const std::vector<Key>& remove,
                      TimePoint now) {
  Process& process = processes_.at(nonce);
  if (!put.empty() || !remove.empty()) {
    Cost cost = process.cost;
    if (process.offers.empty()) cost.offers = 0;
    std::map<Key, std::shared_ptr<const Instance>> changes;
    for (const Key& key : remove) changes[known_part(key)] = nullptr;
    for (Offer& offer : put) {
      check_weight(offer);
      auto instance = instance_of(nonce, process, std::move(offer));
      changes.insert_or_assign(instance->offer.key, std::move(instance));
    }
    std::size_t left = process.offers.size();
    for (const auto& [key, instance] : changes) {
      if (const auto old = process.offers.find(key); old != process.offers.end()) {
        cost -= {1, bytes_of(old->second->offer)};
        --left;
      }
      if (!instance) continue;
      cost += {1, bytes_of(instance->offer)};
      ++left;
    }
    if (left == 0) cost.offers = 1;
    check(process, process.owner, process.host, cost);
    charge(process, process.owner, process.host, cost);
    const auto before = log_.latest();
    for (auto& [key, instance] : changes) {
      const Place place{key, nonce};
      if (!instance) {
        if (process.offers.erase(key) != 0) erase(place);
      } else if (auto& now_there = process.offers[key]; !now_there || *now_there != *instance) {
        now_there = instance;
        set(place, instance);
      }
    }
    set_expiry(nonce, process, deadline_after(now, lease_));
    return log_.latest() != before;
  }
  set_expiry(nonce, process, deadline_after(now, lease_));
  return false;
}

bool Registry::remove(const Uuid& nonce) {
  const auto found = processes_.find(nonce);
  if (found == processes_.end()) return false;
  Process& process = found->second;
  replace(nonce, process, {});
  charge(process, kNoOwner, {}, {});
  by_expiry_.erase({process.expires, nonce});
  if (gone_
          .insert_or_assign(nonce, Removed{.secret_hash = std::move(process.secret_hash),
                                           .identity = std::move(process.identity)})
          .second)
    gone_order_.push_back(nonce);
  if (gone_order_.size() > kMaxGone) {
    gone_.erase(gone_order_.front());
    gone_order_.pop_front();
  }
  processes_.erase(found);
  return true;
}

void Registry::doubt(const Uuid& nonce, TimePoint until) {
  Process& process = processes_.at(nonce);
  charge(process, kNoOwner, {}, process.cost);
  Offers doubted;
  for (const auto& [key, instance] : process.offers)
    doubted.emplace(key, instance_of(nonce, process, instance->offer));
  replace(nonce, process, std::move(doubted));
  set_expiry(nonce, process, until);
}

void Registry::renew_all(TimePoint now) {
  for (auto& [nonce, process] : processes_)
    if (process.owner != kElsewhere) set_expiry(nonce, process, deadline_after(now, lease_));
}

std::vector<Uuid> Registry::expired(TimePoint now) const {
  std::vector<Uuid> over;
  for (const auto& [expires, nonce] : by_expiry_) {
    if (expires > now) break;
    over.push_back(nonce);
  }
  return over;
}

std::vector<Registry::Shared> Registry::shared(const Uuid& nonce) const {
  std::vector<Shared> shared;
  for (const auto& [key, own] : processes_.at(nonce).offers) {
    if (!alone_.contains(key)) continue;
    for (auto at = places_.lower_bound({key, {}}); at != places_.end() && at->first.key == key; ++at) {
      if (at->first.instance == nonce || !at->second->verified) continue;
      if (!own->offer.alone && !at->second->offer.alone) continue;
      shared.push_back({key, nonce, at->first.instance});
      break;
    }
  }
  return shared;
}

stored::Process Registry::stored(const Uuid& nonce) const {
  const Process& process = processes_.at(nonce);
  stored::Process kept;
  kept.secret_hash = process.secret_hash;
  kept.name = process.name;
  kept.identity = process.identity;
  kept.offers.reserve(process.offers.size());
  for (const auto& [key, instance] : process.offers) kept.offers.push_back(instance->offer);
  return kept;
}

std::string Registry::offered(const Uuid& nonce) const {
  std::string text;
  std::size_t named = 0;
  const auto found = processes_.find(nonce);
  if (found == processes_.end()) return text;
  for (const auto& [key, instance] : found->second.offers) {
    if (++named > kMostNamed) return text + " and others";
    if (named != 1) text += ", ";
    text += key.name;
    if (!key.agent.empty()) text += " for " + key.agent;
  }
  return text;
}

bool Registry::offers(const Uuid& nonce, const Key& key) const {
  const auto found = processes_.find(nonce);
  return found != processes_.end() && found->second.offers.contains(known_part(key));
}

Registry::Page Registry::page(const Filter& filter, const std::optional<Place>& after, std::size_t most,
                              std::size_t most_bytes) const {
  Page page;
  std::size_t bytes = 0;
  std::size_t looked_at = 0;
  auto at = after ? places_.upper_bound(*after) : places_.lower_bound(first_of(filter));
  for (; at != places_.end() && !beyond(filter, at->first.key); ++at) {
    if (page.instances.size() == most || bytes >= most_bytes || ++looked_at > kMostLookedAt) {
      page.last = std::prev(at)->first;
      return page;
    }
    if (!matches(filter, at->first.key)) continue;
    bytes += bytes_of(at->second->offer);
    page.instances.push_back(at->second);
  }
  return page;
}

Registry::Page Registry::page(const std::optional<Place>& after, std::size_t most) const {
  Page page;
  for (auto at = after ? places_.upper_bound(*after) : places_.begin(); at != places_.end(); ++at) {
    if (page.instances.size() == most) {
      page.last = std::prev(at)->first;
      return page;
    }
    page.instances.push_back(at->second);
  }
  return page;
}

Registry::Cost Registry::cost_of(const Offers& offers) noexcept {
  Cost cost{std::max<std::size_t>(offers.size(), 1), 0};
  for (const auto& [key, instance] : offers) cost.bytes += bytes_of(instance->offer);
  return cost;
}

void Registry::check(const Process& process, Owner owner, const std::string& host, const Cost& cost) const {
  Cost of_all = total_;
  Cost of_owner;
  if (const auto own = of_owner_.find(owner); own != of_owner_.end()) of_owner = own->second;
  of_all -= process.cost;
  if (process.owner == owner) of_owner -= process.cost;
  of_all += cost;
  of_owner += cost;
  if (of_owner.offers > kMaxOffersOfOwner)
    refuse("the controller takes at most " + std::to_string(kMaxOffersOfOwner) +
           " offers from one connection");
  if (of_owner.bytes > kMaxBytesOfOwner)
    refuse("the names, addresses and labels that one connection registers may have at most " +
           std::to_string(kMaxBytesOfOwner >> 20) + " MiB");
  std::size_t of_host = cost.offers;
  if (const auto known = of_host_.find(host); known != of_host_.end()) of_host += known->second;
  if (process.host == host) of_host -= process.cost.offers;
  if (!host.empty() && of_host > most_of_host_)
    refuse("the controller takes at most " + std::to_string(most_of_host_) + " offers from one host");
  if (of_all.offers > kMaxOffers || of_all.bytes > kMaxBytes)
    refuse("the controller has no room for more offers");
}

void Registry::charge(Process& process, Owner owner, const std::string& host, Cost cost) {
  if (const auto before = of_host_.find(process.host); before != of_host_.end()) {
    before->second -= process.cost.offers;
    if (before->second == 0) of_host_.erase(before);
  }
  if (!host.empty() && cost.offers != 0) of_host_[host] += cost.offers;
  total_ -= process.cost;
  if (const auto before = of_owner_.find(process.owner); before != of_owner_.end()) {
    before->second -= process.cost;
    if (before->second.offers == 0) of_owner_.erase(before);
  }
  total_ += cost;
  if (owner != kNoOwner) of_owner_[owner] += cost;
  process.owner = owner;
  process.host = host;
  process.cost = cost;
}

void Registry::set_expiry(const Uuid& nonce, Process& process, TimePoint expires) {
  by_expiry_.erase({process.expires, nonce});
  process.expires = expires;
  by_expiry_.emplace(expires, nonce);
}

void Registry::replace(const Uuid& nonce, Process& process, Offers after) {
  for (const auto& [key, instance] : process.offers)
    if (!after.contains(key)) erase({key, nonce});
  for (const auto& [key, instance] : after) {
    const auto old = process.offers.find(key);
    if (old == process.offers.end() || *old->second != *instance) set({key, nonce}, instance);
  }
  process.offers = std::move(after);
}

void Registry::set(const Place& place, std::shared_ptr<const Instance> instance) {
  auto& there = places_[place];
  if (instance->offer.alone) ++alone_[place.key];
  if (there && there->offer.alone && --alone_[place.key] == 0) alone_.erase(place.key);
  const auto what = there ? ChangeLog::What::changed : ChangeLog::What::came;
  there = instance;
  log_.add(place, what, std::move(instance), bytes_of_entry(*there));
}

void Registry::erase(const Place& place) {
  const auto found = places_.find(place);
  if (found->second->offer.alone && --alone_[place.key] == 0) alone_.erase(place.key);
  auto last = std::move(found->second);
  places_.erase(found);
  const auto bytes = bytes_of_entry(*last);
  log_.add(place, ChangeLog::What::left, std::move(last), bytes);
}

}  // namespace mf::controller
