// The messages of runtime/idl/mf/replication.mfidl under their short names, and the effects that the machines
// ask of whoever drives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "mf/core/service.hpp"
#include "mf/replication.hpp"

namespace mf::replicated {

using replication::Ack;
using replication::Ask;
using replication::Body;
using replication::ClientState;
using replication::Direct;
using replication::Entry;
using replication::Given;
using replication::Head;
using replication::Known;
using replication::Leading;
using replication::Message;
using replication::Numbered;
using replication::Origin;
using replication::Outcome;
using replication::Part;
using replication::Pattern;
using replication::Prepare;
using replication::Pull;
using replication::Recover;
using replication::Recovered;
using replication::Refused;
using replication::Report;
using replication::Require;
using replication::Restore;
using replication::Seal;
using replication::Sealed;
using replication::Stamped;
using replication::State;
using replication::Submit;
using replication::Sync;
using replication::Tagged;
using replication::Took;
using replication::Version;

/// How many messages a client may have under way: `sequence - oldest` of an Origin is below this.
inline constexpr std::uint64_t kMostAhead = 1'024;

/// A member by its name, or a client by its nonce.
using PeerId = std::variant<std::string, Uuid>;

/// A message to a peer. A driver without a link to it drops it: the machines repeat what matters.
struct Send {
  PeerId to;
  Message message;
};

/// The servant is to apply a message. Effects of this kind and of the next two are carried out one after the
/// other, in their order, and each is answered by Replica::done().
struct Apply {
  Version version;
  Body body;
};

/// The servant is to begin again from a snapshot, or (none) as a new one.
struct RestoreState {
  std::optional<Bytes> snapshot;
};

/// The servant's state is wanted: the outcome's payload.
struct TakeSnapshot {};

/// The versioning server cannot go on: it is to give up the lead, and may ask for it again.
struct Resign {
  std::string reason;
};

/// The replica cannot get what it lacks: it takes part no more until its process starts anew.
struct Stuck {
  std::string reason;
};

/// A member has sent what no replica sends. It was dropped; somebody should look at that member.
struct Distrust {
  std::string member;
  std::string reason;
};

using Effect = std::variant<Send, Apply, RestoreState, TakeSnapshot, Resign, Stuck, Distrust>;

[[nodiscard]] constexpr std::size_t majority(std::size_t members) noexcept {
  return members / 2 + 1;
}

/// How many of a group must have applied a message.
[[nodiscard]] constexpr std::size_t needed(Require require, std::size_t members) noexcept {
  switch (require) {
    case Require::one:
      return 1;
    case Require::majority:
      return majority(members);
    case Require::all:
      break;
  }
  return members;
}

/// The fingerprint, as messages have it.
[[nodiscard]] inline Uuid schema_of(const ServiceInfo& service) noexcept {
  Uuid schema;
  std::memcpy(schema.bytes.data(), service.fingerprint.data(), schema.bytes.size());
  return schema;
}

}  // namespace mf::replicated
