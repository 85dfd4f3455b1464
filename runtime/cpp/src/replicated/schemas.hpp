// The schemas of the messages of a group whose replicas are upgraded one by one.
//
// A message stays as its client has sent it, with the fingerprint of its schema. A replica of another version
// asks the other members what they know of that schema, and applies the message as it would serve a client of
// that version: the request in its own schema, what comes of it back. Only members are asked: what they say
// is trusted as the log is. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/core/types.hpp"
#include "mf/replication.types.hpp"
#include "replicated/adapting.hpp"

namespace mf::replicated {

class Schemas {
 public:
  /// That are known: its own, and others that were learned.
  static constexpr std::size_t kMost = 16;

  explicit Schemas(const ServiceInfo& service);

  [[nodiscard]] const Uuid& own() const noexcept { return own_; }
  [[nodiscard]] bool knows(const Uuid& schema) const { return schema == own_ || others_.contains(schema); }
  /// Its own first.
  [[nodiscard]] const std::vector<replication::Schema>& all() const noexcept { return all_; }
  /// Those that were not known.
  [[nodiscard]] std::vector<Uuid> learn(const std::vector<replication::Schema>& schemas);
  /// How messages of a schema that is known, and not its own, are read; or why they cannot be.
  [[nodiscard]] const std::variant<AdaptedMessages, std::string>& messages_of(const Uuid& schema);

 private:
  const ServiceInfo& service_;
  const Uuid own_;
  std::vector<replication::Schema> all_;
  std::map<Uuid, std::size_t> others_;  // indices in all_
  std::map<Uuid, std::variant<AdaptedMessages, std::string>> made_;
};

}  // namespace mf::replicated
