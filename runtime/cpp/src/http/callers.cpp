#include "http/callers.hpp"

#include <utility>

#include "mf/client/core.hpp"
#include "mf/core/failure.hpp"
#include "mf/relay/relay.hpp"

namespace mf::http {

Callers::Callers(std::shared_ptr<relay::Relay> relay, std::shared_ptr<transport::Reactor> reactor)
    : relay_(std::move(relay)), reactor_(std::move(reactor)) {}

std::shared_ptr<Caller> Callers::of(const Identity& identity) {
  const auto key = identity.name + '\n' + identity.issuer;
  if (const auto found = all_.find(key); found != all_.end()) {
    found->second.used_at = mf::now();
    return found->second.caller;
  }
  if (all_.size() >= kMost) tidy(TimePoint::max());
  if (all_.size() >= kMost)
    throw not_executed_error(
        Code::overloaded, std::to_string(kMost) + " identities use this door, which is all that it serves");
  auto made = std::make_shared<Caller>(
      Caller{.identity = identity, .client = Client(relay_->client_for(identity, reactor_))});
  all_.insert_or_assign(key, Entry{.caller = made, .used_at = mf::now()});
  return made;
}

void Callers::tidy(TimePoint now) {
  std::erase_if(all_, [&](const auto& entry) {
    return entry.second.caller.use_count() == 1 &&
           (now == TimePoint::max() || entry.second.used_at + kKeptFor < now);
  });
}

void Callers::forget(const ServiceInfo& service) {
  for (const auto& [key, entry] : all_) entry.caller->client.core()->forget(service);
}

}  // namespace mf::http
