#include "replicated/schemas.hpp"

#include <functional>
#include <utility>

#include "mf/core/service_texts.hpp"
#include "replicated/messages.hpp"

namespace mf::replicated {

Schemas::Schemas(const ServiceInfo& service) : service_(service), own_(schema_of(service)) {
  own_text_.descriptor = descriptor_of(service);
  own_text_.annex = annex_of(service);
}

std::set<Uuid> Schemas::known() const {
  std::set<Uuid> all{own_};
  for (const auto& [schema, other] : others_) all.insert(schema);
  return all;
}

std::vector<replication::Schema> Schemas::texts() const {
  std::map<std::uint64_t, const Other*, std::greater<>> by_use;
  for (const auto& [schema, other] : others_) by_use.emplace(other.used, &other);
  std::vector<replication::Schema> all{own_text_};
  for (const auto& [used, other] : by_use) all.push_back(other->text);
  return all;
}

void Schemas::learn(const std::string& member, const std::vector<replication::Schema>& schemas,
                    const std::set<Uuid>& wanted) {
  bool first = true;
  for (const auto& each : schemas) {
    ServiceInfo described;
    described.fingerprint = link::fingerprint_of(each.descriptor);
    const auto schema = schema_of(described);
    const bool of_member = std::exchange(first, false);
    if (of_member) of_members_[member] = schema;
    if (schema == own_) continue;
    if (const auto found = others_.find(schema); found != others_.end()) {
      if (of_member) found->second.used = ++uses_;
    } else if (others_.size() + 1 < kMost || ((of_member || wanted.contains(schema)) && forget_one(wanted))) {
      others_.emplace(schema, Other{.text = each, .used = ++uses_});
    }
  }
}

bool Schemas::forget_one(const std::set<Uuid>& wanted) {
  auto needed = wanted;
  for (const auto& [member, schema] : of_members_) needed.insert(schema);
  auto oldest = others_.end();
  for (auto each = others_.begin(); each != others_.end(); ++each) {
    if (needed.contains(each->first)) continue;
    if (oldest == others_.end() || each->second.used < oldest->second.used) oldest = each;
  }
  if (oldest == others_.end()) return false;
  others_.erase(oldest);
  return true;
}

const std::variant<AdaptedMessages, std::string>& Schemas::messages_of(const Uuid& schema) {
  auto& other = others_.at(schema);
  other.used = ++uses_;
  if (!other.made) other.made.emplace(make(other.text));
  return *other.made;
}

Schemas::Made Schemas::make(const replication::Schema& theirs) const {
  ServiceInfo client = service_;
  client.descriptor = theirs.descriptor;
  client.annex = theirs.annex;
  client.texts = nullptr;
  client.fingerprint = link::fingerprint_of(theirs.descriptor);
  std::string why;
  const auto adaptation =
      link::adaptation_to(client, {.text = own_text_.descriptor, .annex = own_text_.annex}, {}, why);
  if (adaptation != nullptr) why = adaptation->refusal();
  if (adaptation != nullptr && why.empty()) return AdaptedMessages(adaptation);
  return why;
}

}  // namespace mf::replicated
