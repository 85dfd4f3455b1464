// The schemas of the messages of a group whose replicas are upgraded one by one.
//
// A message stays as its client has sent it, with the fingerprint of its schema. A replica of another version
// asks the other members what they know of that schema, and applies the message as it would serve a client of
// that version: the request in its own schema, what comes of it back. Only members are asked: what they say
// is trusted as the log is. Used by one thread at a time.
//
// A replica knows 16 schemas at a time, however often its group is upgraded: one that it needs takes the
// place of the one that was used the longest ago, which is neither a member's own nor that of a message that
// waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/core/types.hpp"
#include "mf/replication.hpp"
#include "replicated/adapting.hpp"

namespace mf::replicated {

class Schemas {
 public:
  /// How many schemas are known at a time, the replica's own included.
  static constexpr std::size_t kMost = 16;

  explicit Schemas(const ServiceInfo& service);

  [[nodiscard]] const Uuid& own() const noexcept { return own_; }
  [[nodiscard]] bool knows(const Uuid& schema) const { return schema == own_ || others_.contains(schema); }
  [[nodiscard]] std::set<Uuid> known() const;
  /// Its own first, then the one used last.
  [[nodiscard]] std::vector<replication::Schema> texts() const;
  /// Learns the schemas that a member knows, its own first. `wanted`: the schemas of messages that wait. Any
  /// other schema is learned only if there is room.
  void learn(const std::string& member, const std::vector<replication::Schema>& schemas,
             const std::set<Uuid>& wanted = {});
  /// How messages of a schema that is known, and not its own, are read; or why they cannot be. It is used.
  [[nodiscard]] const std::variant<AdaptedMessages, std::string>& messages_of(const Uuid& schema);

 private:
  using Made = std::variant<AdaptedMessages, std::string>;
  struct Other {
    replication::Schema text;
    std::uint64_t used = 0;
    std::optional<Made> made{};
  };

  [[nodiscard]] bool forget_one(const std::set<Uuid>& wanted);
  [[nodiscard]] Made make(const replication::Schema& theirs) const;

  const ServiceInfo& service_;
  const Uuid own_;
  replication::Schema own_text_;
  std::map<Uuid, Other> others_;
  std::map<std::string, Uuid> of_members_;
  std::uint64_t uses_ = 0;
};

}  // namespace mf::replicated
