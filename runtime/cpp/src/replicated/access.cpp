#include "replicated/access.hpp"

#include <algorithm>
#include <utility>

#include "mf/codec/described/schema.hpp"
#include "mf/core/error.hpp"
#include "mf/core/service_texts.hpp"

namespace mf::replicated {

using access::Action;
using access::Decision;

GroupAccess::GroupAccess(access::File file, const ServiceInfo& service, std::string agent, mf::Log log)
    : file_(std::move(file)), service_(service.name), agent_(std::move(agent)), log_(std::move(log)) {
  (void)file_.rules();  // throws
  const auto schema = described::Schema::read(descriptor_of(service), annex_of(service));
  if (!schema)
    throw Error(Code::internal, Execution::not_executed,
                "the schema of " + service_ + " cannot be read: " + schema.error().message());
  for (const auto& method : schema->methods())
    if (!method.replicated.empty()) methods_.push_back(service_ + "." + std::string(method.name));
}

std::optional<Failure> GroupAccess::denied_member(const CallInfo& call, std::string_view member) const {
  const auto decision = may_be(call.identity(), member);
  if (decision.allowed) return std::nullopt;
  return deny(call, "be the replica '" + std::string(member) + "' of", member, decision);
}

std::optional<Failure> GroupAccess::denied_client(const CallInfo& call) const {
  const auto decision = may_call(call.identity());
  if (decision.allowed) return std::nullopt;
  return deny(call, "call the replicated methods of", "", decision);
}

std::optional<Failure> GroupAccess::denied_both(const CallInfo& call,
                                                const std::vector<std::string>& members) const {
  const auto decision = may_call(call.identity());
  if (decision.allowed || std::ranges::any_of(members, [&](const std::string& each) {
        return may_be(call.identity(), each).allowed;
      }))
    return std::nullopt;
  return deny(call, "see the replicas of", "", decision);
}

Decision GroupAccess::may_be(const Identity& identity, std::string_view member) const {
  const auto object = service_ + "." + std::string(member);
  return file_.rules()->decide(identity, {.action = Action::replicate, .object = object});
}

// The first method that is denied decides.
Decision GroupAccess::may_call(const Identity& identity) const {
  const auto rules = file_.rules();
  Decision decision{.allowed = true};
  for (const auto& method : methods_) {
    decision = rules->decide(identity, {.action = Action::call, .object = method, .agent = agent_});
    if (!decision.allowed) break;
  }
  return decision;
}

std::optional<Failure> GroupAccess::deny(const CallInfo& call, std::string_view verb, std::string_view member,
                                         Decision decision) const {
  log_.write(Level::warning, "replica_denied",
             {{"peer", call.peer},
              {"identity", call.identity().str()},
              {"service", service_},
              {"member", member},
              {"line", decision.line}});
  return not_executed(Code::permission_denied,
                      call.identity().str() + " may not " + std::string(verb) + " " + service_);
}

}  // namespace mf::replicated
