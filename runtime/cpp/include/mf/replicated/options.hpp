// Replicated messages as users see them: what a call comes to, and what it may ask for.
//
//   auto done = StoreClient(client).put("x", bytes, {.require = mf::Require::all});
//   done.version, done.applied                              which replicas have surely applied it
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/bytes.hpp"
#include "mf/core/options.hpp"
#include "mf/replication.types.hpp"

namespace mf {

/// The place of a message in the order of all messages of its group: first by epoch. Counters have no gaps.
using Version = replication::Version;
/// How many replicas must have applied a message before its call ends.
using Require = replication::Require;

struct ReplicatedOptions {
  std::chrono::nanoseconds deadline = kUnset;
  Require require = Require::majority;
  std::stop_token stop{};  // ends the call as CANCELLED; it may be applied all the same
};

/// What a replicated call has come to: what the servants returned, the message's version, and the names of
/// the replicas that are known to have applied it, which may not be all that have.
template <class T>
struct Replicated {
  T value{};
  Version version{};
  std::vector<std::string> applied{};
};
template <>
struct Replicated<void> {
  Version version{};
  std::vector<std::string> applied{};
};

/// What a servant has besides, so that its replica can follow however long it was away.
class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// The whole state.
  [[nodiscard]] virtual Bytes on_snapshot() = 0;
  /// Begins again from that of another replica, or (nothing) as a new servant.
  virtual void on_restore(const std::optional<Bytes>& snapshot) = 0;
};

}  // namespace mf
