#include "replicated/schemas.hpp"

#include <algorithm>

#include "replicated/messages.hpp"

namespace mf::replicated {

Schemas::Schemas(const ServiceInfo& service) : service_(service), own_(schema_of(service)) {
  replication::Schema own;
  own.descriptor = service.descriptor;
  own.annex = service.annex;
  all_.push_back(std::move(own));
}

std::vector<Uuid> Schemas::learn(const std::vector<replication::Schema>& schemas) {
  std::vector<Uuid> learned;
  for (const auto& each : schemas) {
    ServiceInfo described;
    described.fingerprint = link::fingerprint_of(each.descriptor);
    const auto schema = schema_of(described);
    if (knows(schema) || all_.size() >= kMost) continue;
    others_.emplace(schema, all_.size());
    all_.push_back(each);
    learned.push_back(schema);
  }
  return learned;
}

const std::variant<AdaptedMessages, std::string>& Schemas::messages_of(const Uuid& schema) {
  const auto found = made_.find(schema);
  if (found != made_.end()) return found->second;
  const auto& theirs = all_[others_.at(schema)];
  ServiceInfo client = service_;
  client.descriptor = theirs.descriptor;
  client.annex = theirs.annex;
  client.fingerprint = link::fingerprint_of(theirs.descriptor);
  std::string why;
  const auto adaptation =
      link::adaptation_to(client, {.text = all_.front().descriptor, .annex = all_.front().annex}, {}, why);
  if (adaptation != nullptr) why = adaptation->refusal();
  if (adaptation != nullptr && why.empty())
    return made_.try_emplace(schema, AdaptedMessages(adaptation)).first->second;
  return made_.try_emplace(schema, why).first->second;
}

}  // namespace mf::replicated
