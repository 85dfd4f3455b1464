#include "http/visitor.hpp"

#include <utility>

#include "mf/core/agent.hpp"
#include "mf/core/text.hpp"
#include "mf/topics/topic.hpp"

namespace mf::http {
namespace {

constexpr std::string_view kAdmin = "mf.admin.Admin";

Problem denied(const Identity& identity, const std::string& what) {
  if (!identity.known())
    return refusal(Code::unauthenticated,
                   "a client without an identity may not " + what + ": show a certificate or a token");
  return refusal(Code::permission_denied, identity.str() + " may not " + what);
}

}  // namespace

std::optional<std::string_view> Visitor::bearer(std::string_view authorization) noexcept {
  constexpr std::string_view kBearer = "bearer ";
  if (authorization.empty()) return std::string_view();
  if (authorization.size() <= kBearer.size() || lower(authorization.substr(0, kBearer.size())) != kBearer)
    return std::nullopt;
  return authorization.substr(kBearer.size());
}

Outcome<Identity> Visitor::identity(std::string_view token) {
  if (token.empty()) {
    holder_.reset();
    return certified_;
  }
  if (holder_ && token == token_.reveal() && gatekeeper_->still_accepts(holder_->claims))
    return holder_->identity;
  Secret shown(token);
  auto holder = gatekeeper_->holder_of(shown, peer_);
  if (!holder) {
    holder_.reset();
    return holder.failure();
  }
  token_ = std::move(shown);
  holder_ = std::move(holder).value();
  return holder_->identity;
}

std::optional<Problem> Visitor::may_no_longer(const Visit& visit) const {
  const auto& gatekeeper = *gatekeeper_;
  if (holder_ && !gatekeeper.still_accepts(holder_->claims))
    return refusal(Code::unauthenticated, "your token is not accepted any more");
  if (!visit.is_topic) {
    if (gatekeeper.may_call(allowed_, visit.name, visit.settings.agent.value_or(""), visit.method).allowed)
      return std::nullopt;
    return denied(allowed_, "call " + shortened(visit.name) + "." + shortened(visit.method));
  }
  // As it is written, and as it is sent: access files have the numbers of enums.
  for (const auto& agents : {visit.subscribing.agents, sent_agents_.value_or(visit.subscribing.agents)})
    if (!gatekeeper.may_subscribe(allowed_, visit.name, agents).allowed)
      return denied(allowed_, "subscribe to " + shortened(visit.name));
  return std::nullopt;
}

bool Visitor::is_news(std::string_view object) {
  if (denied_ == object) return false;
  denied_ = object;
  return true;
}

std::optional<Problem> Visitor::may_not(const Identity& identity, const Visit& visit) {
  allowed_ = identity;
  sent_agents_.reset();
  // A server trusts peers of its own host to steer it, and the door is one.
  if (visit.name == kAdmin)
    return refusal(Code::permission_denied, std::string(kAdmin) + " is not called through this door");
  if (visit.is_topic) return may_not_subscribe(identity, visit.name, visit.subscribing.agents);
  return may_not_call(identity, visit.name, visit.settings.agent.value_or(""), visit.method);
}

std::optional<Problem> Visitor::may_not_list(const Identity& identity) {
  allowed_ = identity;
  const auto decision = gatekeeper_->may_list(identity);
  if (decision.allowed) return std::nullopt;
  if (is_news("the dashboard"))
    log_.write(Level::warning, "access_denied",
               {{"peer", peer_},
                {"identity", identity.str()},
                {"action", access::name_of(access::Action::list)},
                {"object", ""},
                {"agent", ""},
                {"address", ""},
                {"line", decision.line}});
  return denied(identity, "list what is registered, which this dashboard shows");
}

bool Visitor::may_list_no_longer() const {
  return (holder_ && !gatekeeper_->still_accepts(holder_->claims)) ||
         !gatekeeper_->may_list(allowed_).allowed;
}

std::optional<Problem> Visitor::may_not_call_agent(const Identity& identity, const Visit& visit,
                                                   const ServiceInfo& service) {
  if (!visit.settings.agent) return std::nullopt;
  const auto sent = sent_agent(service, *visit.settings.agent);
  if (sent == *visit.settings.agent) return std::nullopt;
  return may_not_call(identity, visit.name, sent, visit.method);
}

std::optional<Problem> Visitor::may_not_subscribe_agents(const Identity& identity, const Visit& visit,
                                                         const topics::TopicInfo& topic) {
  const auto& written = visit.subscribing.agents;
  const auto sent = attempt([&] { return topic.per_agent ? topics::sent_pattern(topic, written) : ""; });
  if (!sent) return problem_of(sent.failure());
  sent_agents_ = sent.value();
  if (sent.value() == written) return std::nullopt;
  return may_not_subscribe(identity, visit.name, sent.value());
}

std::optional<Problem> Visitor::may_not_call(const Identity& identity, std::string_view service,
                                             std::string_view agent, std::string_view method) {
  const auto decision = gatekeeper_->may_call(identity, service, agent, method);
  if (decision.allowed) return std::nullopt;
  if (is_news(std::string(service) + "." + std::string(method)))
    log_.write(Level::warning, "call_denied",
               {{"peer", peer_},
                {"identity", identity.str()},
                {"service", service},
                {"agent", agent},
                {"method", method},
                {"line", decision.line}});
  return denied(identity, "call " + shortened(service) + "." + shortened(method));
}

std::optional<Problem> Visitor::may_not_subscribe(const Identity& identity, std::string_view topic,
                                                  std::string_view agents) {
  const auto decision = gatekeeper_->may_subscribe(identity, topic, agents);
  if (decision.allowed) return std::nullopt;
  if (is_news(topic))
    log_.write(Level::warning, "subscription_denied",
               {{"peer", peer_},
                {"identity", identity.str()},
                {"topic", topic},
                {"agents", agents},
                {"line", decision.line}});
  return denied(identity, "subscribe to " + shortened(topic));
}

}  // namespace mf::http
