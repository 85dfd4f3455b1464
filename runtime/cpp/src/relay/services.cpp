#include "relay/services.hpp"

#include <algorithm>
#include <utility>

namespace mf::relay {

std::shared_ptr<Services::Use> Services::use(std::string_view service) {
  if (service.size() > kLongestName) return nullptr;
  const std::scoped_lock lock(mutex_);
  auto found = entries_.find(service);
  if (found == entries_.end()) {
    if (entries_.size() >= kMost) {
      auto longest = entries_.end();
      for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->second.users != 0) continue;
        if (longest == entries_.end() || entry->second.idle_since < longest->second.idle_since)
          longest = entry;
      }
      if (longest == entries_.end()) return nullptr;
      forget(longest);
    }
    found = entries_.emplace(service, Entry()).first;
  }
  ++found->second.users;
  return std::make_shared<Use>(shared_from_this(), std::string(service));
}

void Services::release(const std::string& service) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(service);
  if (--found->second.users != 0) return;
  found->second.idle_since = mf::now();
  if (!resolver_) return;
  const auto offers = resolver_->offers(service);
  if (offers->agents.empty() && offers->any_agent.empty()) forget(found);
}

TimePoint Services::tidy(TimePoint now) {
  const std::scoped_lock lock(mutex_);
  auto next = kNever;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.users == 0 && entry->second.idle_since + kKeptFor <= now) {
      entry = forget(entry);
      continue;
    }
    if (entry->second.users == 0) next = std::min(next, entry->second.idle_since + kKeptFor);
    ++entry;
  }
  return next;
}

Services::Entries::iterator Services::forget(Entries::iterator entry) noexcept {
  if (resolver_) resolver_->forget(entry->first);
  return entries_.erase(entry);
}

std::size_t Services::known() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

}  // namespace mf::relay
