#include "mf/link/resolver.hpp"

#include <utility>

#include "mf/transport/waiting.hpp"

namespace mf {

std::string topic_view(std::string_view topic) {
  return std::string(kTopicView).append(topic);
}

StaticResolver::StaticResolver(std::vector<Address> servers) {
  auto offers = std::make_shared<Offers>();
  for (auto& server : servers) offers->any_agent.push_back({.address = std::move(server)});
  offers->answered = true;
  offers_ = std::move(offers);
}

StaticResolver::StaticResolver(std::vector<Instance> servers) {
  auto offers = std::make_shared<Offers>();
  offers->any_agent = std::move(servers);
  offers->answered = true;
  offers_ = std::move(offers);
}

Resolver::Snapshot StaticResolver::offers(std::string_view /*service*/) {
  return offers_;
}

Resolver::Snapshot StaticResolver::wait_for_change(std::string_view /*service*/, const Snapshot& /*known*/,
                                                   TimePoint until) {
  std::unique_lock lock(mutex_);
  (void)transport::wait_until(closing_, lock, until, [this] { return closed_; });
  return offers_;
}

void StaticResolver::close() noexcept {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  closing_.notify_all();
}

RelayedResolver::RelayedResolver(std::shared_ptr<Resolver> known, const std::vector<Address>& relays)
    : known_(std::move(known)) {
  for (const auto& relay : relays) relays_.push_back({.address = relay.server()});
}

Resolver::Snapshot RelayedResolver::offers(std::string_view service) {
  return relayed(service, known_->offers(service));
}

// A change may make no difference here: then it continues to wait.
Resolver::Snapshot RelayedResolver::wait_for_change(std::string_view service, const Snapshot& known,
                                                    TimePoint until) {
  for (;;) {
    const auto from = known_->offers(service);
    auto current = relayed(service, from);
    if (current != known || now() >= until) return current;
    if (known_->wait_for_change(service, from, until) == from) return current;
  }
}

void RelayedResolver::forget(std::string_view service) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = latest_.find(service); found != latest_.end()) latest_.erase(found);
  }
  known_->forget(service);
}

std::vector<Instance> RelayedResolver::at_relays(const std::vector<Instance>& servers) const {
  std::map<decltype(Instance::fingerprint), std::uint32_t> schemas;
  for (const auto& server : servers) schemas[server.fingerprint] += server.weight;
  std::vector<Instance> found;
  for (const auto& [fingerprint, weight] : schemas) {
    for (auto relay : relays_) {
      relay.fingerprint = fingerprint;
      if (schemas.size() > 1) relay.weight = weight;
      found.push_back(std::move(relay));
    }
  }
  return found;
}

Resolver::Snapshot RelayedResolver::relayed(std::string_view service, Snapshot from) {
  const std::scoped_lock lock(mutex_);
  auto found = latest_.find(service);
  if (found == latest_.end()) found = latest_.emplace(service, Relayed()).first;
  auto& latest = found->second;
  if (latest.made && latest.from == from) return latest.made;
  auto made = std::make_shared<Offers>(*from);
  for (auto& [agent, instances] : made->agents) instances = at_relays(instances);
  made->any_agent = at_relays(made->any_agent);
  latest.from = std::move(from);
  if (!latest.made || *latest.made != *made) latest.made = std::move(made);
  return latest.made;
}

}  // namespace mf
