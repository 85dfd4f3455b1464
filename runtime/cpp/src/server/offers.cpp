// What a server offers, and what it tells its controller and its clients of it.
#include <algorithm>
#include <string>
#include <utility>

#include "mf/core/agent.hpp"
#include "mf/core/error.hpp"
#include "mf/core/extension.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/core/weight.hpp"
#include "mf/monitor/tally.hpp"
#include "mf/server/offering.hpp"
#include "server/core.hpp"
#include "server/door.hpp"

namespace mf {
namespace {

// The controller's limits for an offer (controller.mfidl).
constexpr std::size_t kMostLabels = 16;
constexpr std::size_t kLongestLabel = 64;
constexpr std::size_t kLongestText = 1'024;

// Offers that controllers would refuse are refused here, since there they would cost the process its other
// offers.
void check_announced(const OfferOptions& options, std::string_view agent, bool registered) {
  if (registered && agent.size() > kLongestText)
    throw server::refused("a controller takes agents of at most " + std::to_string(kLongestText) +
                          " bytes, not " + std::to_string(agent.size()));
  if (options.weight > kMostWeight)
    throw server::refused("the weight of an offer is at most " + std::to_string(kMostWeight) + ", not " +
                          std::to_string(options.weight));
  if (options.labels.size() > kMostLabels)
    throw server::refused("an offer has at most " + std::to_string(kMostLabels) + " labels, not " +
                          std::to_string(options.labels.size()));
  for (const auto& [label, text] : options.labels)
    if (label.empty() || label.size() > kLongestLabel || text.size() > kLongestText)
      throw server::refused("a label has 1 to " + std::to_string(kLongestLabel) +
                            " bytes, its text at most " + std::to_string(kLongestText) + ": '" +
                            shortened(label) + "'");
}

/// A service of the runtime itself, which nothing that a program adds may keep from working.
bool is_own(const ServiceInfo& service) noexcept {
  return service.name.starts_with("mf.");
}

}  // namespace

void Server::Core::offer(server::Offering& offering) {
  {
    const std::scoped_lock lock(mutex_);
    if (!door_) door_ = std::make_shared<Door>(*this);
  }
  offering.offer_at(door_);
}

void Server::Core::publishes(const ServiceInfo& topic, std::vector<std::string> agents) {
  {
    const std::scoped_lock lock(mutex_);
    topics_[std::string(topic.name)] = {.fingerprint = topic.fingerprint, .agents = std::move(agents)};
    if (!started_) return;
  }
  announce();
}

// Under the name of its service, and of all that this one extends: of these, the counters are their own, and
// the limits the same.
void Server::Core::offer(std::shared_ptr<Servant> servant, OfferOptions options, bool registered) {
  const auto& own = servant->service();
  const auto agent = sent_agent(own, options.agent);
  if (auto reason = agent_refusal(own, agent)) throw server::refused(std::move(*reason));
  check_announced(options, agent, registered && !options_.controller.empty());
  auto shown = shown_agent(own, agent);
  const auto gates = gates_for(own, shown, options);
  const auto services = services_of(*servant);
  {
    const std::scoped_lock lock(mutex_);
    for (const auto* service : services)
      if (offers_.contains(std::pair(std::string(service->name), agent)))
        throw server::refused(std::string(service->name) + " is offered already for \"" + shown + "\"");
    for (const auto* service : services) {
      const auto count = service->methods.size();
      const auto limited = static_cast<std::ptrdiff_t>(gates.empty() ? 0 : count);
      auto placements =
          options.where == Where::adaptive ? std::make_unique<server::Placement[]>(count) : nullptr;
      auto counters = std::make_unique<server::Counters[]>(count);
      for (std::size_t i = 0; tallies_ && i < count; ++i)
        counters[i].tally = tallies_->of(service->name, service->methods[i]);
      offers_[{std::string(service->name), agent}] = std::make_shared<const server::Offer>(
          server::Offer{.servant = servant,
                        .agent = shown,
                        .where = options.where,
                        .weight = options.weight,
                        .labels = options.labels,
                        .alone = options.alone,
                        .registered = registered,
                        .placements = std::move(placements),
                        .counters = std::move(counters),
                        .gates = {gates.begin(), gates.begin() + limited},
                        .interceptors = registered && !is_own(own) ? interceptors_ : nullptr,
                        .taps = registered && !is_own(own) ? taps_ : nullptr,
                        .extended = service == &own ? nullptr : service});
    }
    if (!started_) return;
  }
  announce();
}

void Server::Core::withdraw(const Servant& servant, const std::string& agent) {
  const auto sent = sent_agent(servant.service(), agent);
  std::vector<std::shared_ptr<const server::Offer>> offers;  // destroyed after unlocking
  {
    const std::scoped_lock lock(mutex_);
    const auto& own = servant.service();
    const auto known = offers_.find(std::pair(std::string(own.name), sent));
    if (known == offers_.end())
      throw server::refused(std::string(own.name) + " is not offered for \"" + shown_agent(own, sent) + "\"");
    const auto offered = known->second->servant;
    for (const auto* service : services_of(*offered)) {
      const auto found = offers_.find(std::pair(std::string(service->name), sent));
      if (found == offers_.end() || found->second->servant != offered) continue;
      offers.push_back(std::move(found->second));
      offers_.erase(found);
    }
    if (!started_) return;
  }
  announce();
}

std::shared_ptr<link::Candidacy> Server::Core::candidacy(const ServiceInfo& service,
                                                         const std::string& agent) {
  auto sent = sent_agent(service, agent);
  if (auto reason = agent_refusal(service, sent)) throw server::refused(std::move(*reason));
  if (options_.controller.empty())
    throw server::refused("the lead is given by a controller, and this server has none");
  std::shared_ptr<Registrar> registrar;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) throw Error(Code::cancelled, Execution::not_executed, "the server was stopped");
    if (!registrar_) throw server::refused("start the server first");
    registrar = registrar_;
  }
  auto wanted = std::make_shared<link::Candidacy>();
  registrar->lead(std::string(service.name), std::move(sent), wanted);
  return wanted;
}

/// By the method's index; empty if there is no limit for any of them.
std::vector<std::shared_ptr<server::Gate>> Server::Core::gates_for(const ServiceInfo& service,
                                                                   const std::string& agent,
                                                                   const OfferOptions& options) {
  for (const auto& [name, limit] : options.limits) {
    if (std::ranges::find(service.methods, name) == service.methods.end())
      throw server::refused("a limit for " + std::string(service.name) + "." + name +
                            ", which is no method of it");
  }
  std::vector<std::shared_ptr<server::Gate>> gates;
  if (options.limits.empty() && options_.limit.concurrent == 0) return gates;
  for (const auto& name : service.methods) {
    const auto found = options.limits.find(name);
    auto what = std::string(service.name) + "." + std::string(name);
    if (!agent.empty()) what += " for agent \"" + agent + "\"";
    gates.push_back(
        admission_->gate(found != options.limits.end() ? found->second : Limit(), std::move(what)));
  }
  return gates;
}

ServerStats Server::Core::stats() const {
  const auto [running, waiting] = admission_->gauges();
  ServerStats all{.running = running, .waiting = waiting, .connections = connection_stats()};
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, offer] : offers_) {
    const auto& service = offer->service();
    for (std::size_t i = 0; i < service.methods.size(); ++i) {
      const auto& counters = offer->counters[i];
      MethodStats one{.service = std::string(service.name),
                      .agent = offer->agent,
                      .method = std::string(service.methods[i]),
                      .executed = counters.executed.load(std::memory_order_relaxed),
                      .refused = counters.refused.load(std::memory_order_relaxed),
                      .expired = counters.expired.load(std::memory_order_relaxed),
                      .dropped = counters.dropped.load(std::memory_order_relaxed)};
      if (!offer->gates.empty() && offer->gates[i] != nullptr) {
        const auto now = admission_->gauges(*offer->gates[i]);
        one.running = now.running;
        one.waiting = now.waiting;
      }
      all.executed += one.executed;
      all.refused += one.refused;
      all.expired += one.expired;
      all.dropped += one.dropped;
      all.methods.push_back(std::move(one));
    }
  }
  return all;
}

Outcome<std::shared_ptr<const server::Offer>> Server::Core::find(const protocol::Bind& bind,
                                                                 std::string_view peer, bool names) {
  const std::scoped_lock lock(mutex_);
  const std::string service(bind.service);
  auto found = offers_.find(std::pair(service, std::string(bind.agent)));
  const auto first = offers_.lower_bound(std::pair(service, std::string()));
  if (const auto& own = own_offer(service);
      own && (first == offers_.end() || first->first.first != service)) {
    if (own->service().fingerprint == bind.fingerprint) return own;
    return not_executed(Code::schema_mismatch,
                        "client and server were generated from different schemas of " + service);
  }
  if (first == offers_.end() || first->first.first != service) {
    const auto text = "this server does not offer " + service;
    if (!names) return not_executed(Code::unknown_service, text);
    std::vector<std::string> services;  // sorted: those of one service are adjacent
    for (const auto& [key, offer] : offers_)
      if (services.empty() || services.back() != key.first) services.push_back(key.first);
    return not_executed(Code::unknown_service,
                        text + "; it offers " + (services.empty() ? "nothing" : some_of(services)));
  }
  if (found == offers_.end() && bind.agent.empty()) found = first;  // any agent of this server
  if (found == offers_.end()) {
    const ServiceInfo& asked = first->second->service();
    const auto text = "this server does not offer " + service + " for agent \"" +
                      shortened(shown_agent(asked, bind.agent)) + "\"";
    if (!names) return not_executed(Code::unknown_agent, text);
    std::vector<std::string> agents;
    for (auto at = first; at != offers_.end() && at->first.first == service; ++at)
      agents.push_back(at->second->agent);
    return not_executed(Code::unknown_agent, text + "; known agents: " + some_of(agents, "\""));
  }
  if (found->second->service().fingerprint != bind.fingerprint) {
    // It may adapt. If it cannot it is told how they differ, which only it knows.
    options_.log.write(Level::info, "schema_mismatch",
                       {{"service", service},
                        {"peer", peer},
                        {"next", "the client adapts if it can, and its own log says how they differ"}});
    return not_executed(Code::schema_mismatch,
                        "client and server were generated from different schemas of " + service);
  }
  return found->second;
}

std::optional<Authorized> Server::Core::authorized(std::string_view service) {
  const std::scoped_lock lock(mutex_);
  const auto first = offers_.lower_bound(std::pair(std::string(service), std::string()));
  if (first == offers_.end() || first->first.first != service) {
    const auto& own = own_offer(service);
    return own ? std::optional(own->servant->authorized()) : std::nullopt;
  }
  return first->second->servant->authorized();
}

const ServiceInfo* Server::Core::describe(std::string_view service) {
  const std::scoped_lock lock(mutex_);
  const auto first = offers_.lower_bound(std::pair(std::string(service), std::string()));
  if (first == offers_.end() || first->first.first != service) {
    const auto& own = own_offer(service);
    return own ? &own->service() : nullptr;
  }
  return &first->second->service();
}

const std::shared_ptr<const server::Offer>& Server::Core::own_offer(std::string_view service) const noexcept {
  static const std::shared_ptr<const server::Offer> none;
  if (service == server::kHealth) return health_;
  return service == server::kAdmin ? admin_ : none;
}

bool Server::Core::offers(std::string_view service) const {
  if (own_offer(service)) return true;
  const std::scoped_lock lock(mutex_);
  const auto first = offers_.lower_bound(std::pair(std::string(service), std::string()));
  return first != offers_.end() && first->first.first == service;
}

void Server::Core::announce() {
  // Two that change the list at once announce it one after the other, the later one with both changes.
  const std::scoped_lock in_order(announcing_);
  std::vector<Offered> offered;
  std::shared_ptr<Registrar> registrar;
  {
    const std::scoped_lock lock(mutex_);
    registrar = registrar_;
    if (!registrar) return;
    for (const auto& [key, offer] : offers_) {
      if (!offer->registered) continue;
      offered.push_back({.service = key.first,
                         .agent = key.second,
                         .fingerprint = offer->service().fingerprint,
                         .weight = offer->weight,
                         .labels = offer->labels,
                         .alone = offer->alone});
    }
    for (const auto& [name, topic] : topics_) {
      for (const auto& agent : topic.agents) {
        offered.push_back(
            {.kind = OfferedKind::topic, .service = name, .agent = agent, .fingerprint = topic.fingerprint});
      }
    }
  }
  registrar->announce(std::move(offered), advertised());
}

}  // namespace mf
