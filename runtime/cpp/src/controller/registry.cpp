#include "mf/controller/registry.hpp"

#include <algorithm>

#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

[[noreturn]] void refuse(const std::string& words) {
  throw Error(Code::overloaded, Execution::not_executed, words);
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

Registry::Changed Registry::put(const Uuid& nonce, Owner owner, std::vector<Instance> instances,
                                TimePoint now) {
  std::map<Offer, Instance> after;
  for (Instance& instance : instances) {
    instance.nonce = nonce;
    Offer offer{instance.service, instance.agent};
    after.insert_or_assign(std::move(offer), std::move(instance));
  }
  const Cost cost = cost_of(after);
  Cost of_all = total_;
  Cost of_owner;
  if (const auto own = of_owner_.find(owner); own != of_owner_.end()) of_owner = own->second;
  if (const auto found = processes_.find(nonce); found != processes_.end()) {
    of_all -= found->second.cost;
    if (found->second.owner == owner) of_owner -= found->second.cost;
  }
  of_all += cost;
  of_owner += cost;
  if (of_owner.offers > kMaxOffersOfOwner && owner != kNoOwner)
    refuse("the controller takes at most " + std::to_string(kMaxOffersOfOwner) +
           " offers from one connection");
  if (of_owner.bytes > kMaxBytesOfOwner && owner != kNoOwner)
    refuse("the names and addresses that one connection registers may have at most " +
           std::to_string(kMaxBytesOfOwner >> 20) + " MiB");
  if (of_all.offers > kMaxOffers || of_all.bytes > kMaxBytes)
    refuse("the controller has no room for more offers");

  Process& process = processes_[nonce];
  Changed changed;
  replace(nonce, process.offers, after, changed);
  discharge(process.owner, process.cost);
  charge(owner, cost);
  process.cost = cost;
  process.owner = owner;
  process.expires = deadline_after(now, lease_);
  process.offers = std::move(after);
  mark(changed);
  return changed;
}

bool Registry::touch(const Uuid& nonce, Owner owner, TimePoint now) {
  const auto found = processes_.find(nonce);
  if (found == processes_.end() || found->second.owner != owner) return false;
  found->second.expires = deadline_after(now, lease_);
  return true;
}

std::optional<Registry::Changed> Registry::remove(const Uuid& nonce) {
  if (!processes_.contains(nonce)) return std::nullopt;
  std::vector<Uuid> gone;
  return remove_if([&](const Uuid& other, const Process&) { return other == nonce; }, gone);
}

Registry::Changed Registry::drop(Owner owner, std::vector<Uuid>& gone) {
  return remove_if([&](const Uuid&, const Process& process) { return process.owner == owner; }, gone);
}

Registry::Changed Registry::expire(TimePoint now, std::vector<Uuid>& gone) {
  return remove_if([&](const Uuid&, const Process& process) { return process.expires <= now; }, gone);
}

TimePoint Registry::next_expiry() const {
  TimePoint next = kNever;
  for (const auto& [nonce, process] : processes_) next = std::min(next, process.expires);
  return next;
}

template <class Gone>
Registry::Changed Registry::remove_if(Gone&& is_gone, std::vector<Uuid>& gone) {
  Changed changed;
  for (auto at = processes_.begin(); at != processes_.end();) {
    if (!is_gone(at->first, at->second)) {
      ++at;
      continue;
    }
    replace(at->first, at->second.offers, {}, changed);
    discharge(at->second.owner, at->second.cost);
    gone.push_back(at->first);
    at = processes_.erase(at);
  }
  mark(changed);
  return changed;
}

Registry::Cost Registry::cost_of(const std::map<Offer, Instance>& offers) noexcept {
  Cost cost{std::max<std::size_t>(offers.size(), 1), 0};
  for (const auto& [offer, instance] : offers) {
    cost.bytes += instance.service.size() + instance.agent.size();
    for (const std::string& address : instance.addresses) cost.bytes += sizeof address + address.size();
  }
  return cost;
}

void Registry::charge(Owner owner, const Cost& cost) {
  total_ += cost;
  of_owner_[owner] += cost;
}

void Registry::discharge(Owner owner, const Cost& cost) {
  if (cost.offers == 0) return;  // of a process that is new: it was charged to nobody
  total_ -= cost;
  const auto found = of_owner_.find(owner);
  found->second -= cost;
  if (found->second.offers == 0) of_owner_.erase(found);
}

void Registry::replace(const Uuid& nonce, const std::map<Offer, Instance>& before,
                       const std::map<Offer, Instance>& after, Changed& changed) {
  for (const auto& [offer, instance] : before) {
    if (after.contains(offer)) continue;
    services_[offer.first].instances.erase({offer.second, nonce});
    changed.insert(offer.first);
  }
  for (const auto& [offer, instance] : after) {
    const auto old = before.find(offer);
    if (old != before.end() && old->second == instance) continue;
    services_[offer.first].instances.insert_or_assign({offer.second, nonce}, instance);
    changed.insert(offer.first);
  }
}

void Registry::mark(const Changed& changed) {
  for (const std::string& name : changed) {
    const auto service = services_.find(name);
    service->second.revision = ++revisions_;
    // What nobody offers is forgotten: names that come and go must not fill the memory. No revision is ever
    // given twice.
    if (service->second.instances.empty()) services_.erase(service);
  }
}

std::uint64_t Registry::revision(std::string_view service) const {
  const auto found = services_.find(service);
  return found == services_.end() ? 0 : found->second.revision;
}

View Registry::view(std::string_view service) const {
  View view;
  view.epoch = epoch_;
  const auto found = services_.find(service);
  if (found == services_.end()) return view;
  view.revision = found->second.revision;
  view.instances.reserve(found->second.instances.size());
  for (const auto& [key, instance] : found->second.instances) view.instances.push_back(instance);
  return view;
}

std::vector<Instance> Registry::all() const {
  std::vector<Instance> all;
  all.reserve(total_.offers);
  for (const auto& [name, service] : services_)
    for (const auto& [key, instance] : service.instances) all.push_back(instance);
  return all;
}

}  // namespace mf::controller
