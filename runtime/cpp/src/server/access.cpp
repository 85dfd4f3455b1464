#include "server/access.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/peer.hpp"
#include "mf/core/text.hpp"
#include "mf/server/taps.hpp"
#include "mf/transport/networks.hpp"

namespace mf::server {
namespace {

// The answers that are remembered for a connection. One that has asked for more is retired whenever what
// peers may do changes.
constexpr std::size_t kMostAsked = 4'096;
// The relays of which the log has said that they are not believed.
constexpr std::size_t kMostNotBelieved = 64;

/// Whether the peer is a process of this host, of root or of this process's user as far as that is known.
bool is_local(const Identity& identity, std::string_view peer) {
  if (identity.kind == Identity::Kind::uid)
    return identity.name == "uid:" + std::to_string(::geteuid()) || identity.name == "uid:0";
  if (peer.starts_with("memory:")) return true;
  const auto host = host_of(peer);
  const auto at = host.find("//");
  return at != std::string_view::npos && transport::is_loopback(host.substr(at + 2));
}

}  // namespace

Access::Access(const ServerOptions& options)
    : authenticate_(options.authenticate),
      authorize_(options.authorize),
      file_(options.access),
      log_(options.log) {
  (void)file_.rules();  // throws if it cannot be used
}

bool Access::admits(const protocol::Hello& hello, std::string_view peer, const Identity& identity) const {
  if (!authenticate_) return true;
  try {
    return authenticate_({.authentication = hello.authentication, .name = hello.name, .peer = peer},
                         identity);
  } catch (...) {
    log_escaped_exception(log_, "ServerOptions::authenticate");
    return false;
  }
}

access::Decision Access::may_call(const Identity& identity, std::string_view service, std::string_view agent,
                                  std::string_view method) const {
  const auto object = std::string(service) + "." + std::string(method);
  return decided(identity, {.action = access::Action::call, .object = object, .agent = agent}, service,
                 method);
}

access::Decision Access::may_subscribe(const Identity& identity, std::string_view topic,
                                       std::string_view agents) const {
  return decided(identity, {.action = access::Action::subscribe, .object = topic, .agent = agents}, topic,
                 "subscribe");
}

access::Decision Access::may_list(const Identity& identity) const {
  return decided(identity, {.action = access::Action::list}, "mf.controller.Controller", "list");
}

access::Decision Access::decided(const Identity& identity, const access::Wish& wish, std::string_view service,
                                 std::string_view method) const {
  access::Decision decision{.allowed = true};
  if (const auto rules = file_.rules()) decision = rules->decide(identity, wish);
  if (decision.allowed && !authorized(identity, service, wish.agent, method)) return {};
  return decision;
}

access::Decision Access::may_administer(const Identity& identity, std::string_view peer,
                                        std::string_view method, bool relayed) const {
  access::Decision decision{.allowed = !relayed && is_local(identity, peer)};
  if (const auto rules = file_.rules())
    decision = rules->decide(identity, {.action = access::Action::administer});
  if (decision.allowed && !authorized(identity, kAdmin, {}, method)) return {};
  return decision;
}

bool Access::may_relay(const Identity& relay) const {
  const auto rules = file_.rules();
  return rules && relay.known() && rules->decide(relay, {.action = access::Action::relay}).allowed;
}

void Access::note_not_believed(const Identity& relay, const Identity& client, std::string_view peer) const {
  if (!client.known()) return;  // nothing was claimed
  const auto name = relay.known() ? relay.name : std::string(host_of(peer));
  {
    const std::scoped_lock lock(mutex_);
    if (not_believed_.size() >= kMostNotBelieved || !not_believed_.insert(name).second) return;
  }
  log_.write(Level::warning, "relay_not_believed",
             {{"peer", peer},
              {"identity", relay.str()},
              {"client", client.str()},
              {"meaning", "no line of the access file allows it to relay: its clients count as itself"}});
}

bool Access::authorized(const Identity& identity, std::string_view service, std::string_view agent,
                        std::string_view method) const {
  if (!authorize_) return true;
  try {
    return authorize_(identity, service, agent, method);
  } catch (...) {
    log_escaped_exception(log_, "ServerOptions::authorize");
    return false;
  }
}

access::Decision Rights::may_call(const Identity& identity, std::string_view service, std::string_view agent,
                                  std::string_view method) {
  const auto decision = access_->may_call(identity, service, agent, method);
  const std::scoped_lock lock(mutex_);
  identity_ = identity;
  if (has_room())
    calls_.insert_or_assign({std::string(service), std::string(agent), std::string(method)},
                            decision.allowed);
  return decision;
}

access::Decision Rights::may_administer(const Identity& identity, std::string_view peer,
                                        std::string_view method, bool relayed) {
  const auto decision = access_->may_administer(identity, peer, method, relayed);
  const std::scoped_lock lock(mutex_);
  identity_ = identity;
  if (has_room())
    administered_.push_back({.peer = std::string(peer),
                             .method = std::string(method),
                             .relayed = relayed,
                             .allowed = decision.allowed});
  return decision;
}

void Rights::check_subscription(const Identity& identity, std::string_view peer, std::string_view topic,
                                std::string_view agents) {
  const auto decision = access_->may_subscribe(identity, topic, agents);
  if (decision.allowed) {
    const std::scoped_lock lock(mutex_);
    identity_ = identity;
    if (has_room()) subscriptions_.emplace(topic, agents);
    return;
  }
  access_->log().write(Level::warning, "subscription_denied",
                       {{"peer", peer},
                        {"identity", identity.str()},
                        {"topic", topic},
                        {"agents", agents},
                        {"line", decision.line}});
  throw Error(Code::permission_denied, Execution::not_executed,
              identity.str() + " may not subscribe to " + std::string(topic) +
                  (agents.empty() ? "" : " for \"" + shortened(agents) + "\""));
}

void Rights::decided_elsewhere() {
  const std::scoped_lock lock(mutex_);
  complete_ = false;
}

bool Rights::has_room() {
  if (calls_.size() + subscriptions_.size() + administered_.size() >= kMostAsked) complete_ = false;
  return complete_;
}

bool Rights::changed() {
  const std::scoped_lock lock(mutex_);
  if (!complete_) return true;
  const auto calls_as_before = [this](const auto& entry) {
    const auto& [service, agent, method] = entry.first;
    return access_->may_call(identity_, service, agent, method).allowed == entry.second;
  };
  const auto subscribes_as_before = [this](const Subscribed& entry) {
    return access_->may_subscribe(identity_, entry.first, entry.second).allowed;
  };
  const auto administers_as_before = [this](const Administered& asked) {
    return access_->may_administer(identity_, asked.peer, asked.method, asked.relayed).allowed ==
           asked.allowed;
  };
  return !std::ranges::all_of(calls_, calls_as_before) ||
         !std::ranges::all_of(administered_, administers_as_before) ||
         !std::ranges::all_of(subscriptions_, subscribes_as_before);
}

}  // namespace mf::server
