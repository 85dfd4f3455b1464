// The options and results of replicated calls.
//
//   auto done = StoreClient(client).put("x", bytes, {.require = mf::Require::all});
//   done.version, done.applied                              which replicas have certainly applied it
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/bytes.hpp"
#include "mf/core/options.hpp"
#include "mf/replication.hpp"

namespace mf {

/// The place of a message in the order of its group: by epoch, then by counter. Counters have no gaps.
using Version = replication::Version;
/// How many replicas must have applied a message before its call ends.
using Require = replication::Require;

struct ReplicatedOptions {
  std::chrono::nanoseconds deadline = kUnset;
  Require require = Require::majority;
  std::stop_token stop{};  // ends the call as CANCELLED; it may be applied all the same
};

/// The result of a replicated call: the value that the servants returned, the version of the message, and the
/// replicas that are known to have applied it; others may have applied it, too.
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

/// Implemented by servants whose replicas are to be able to catch up after any absence.
class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// The whole state.
  [[nodiscard]] virtual Bytes on_snapshot() = 0;
  /// Replaces the state by a snapshot of another replica, or (nullopt) by that of a new servant.
  virtual void on_restore(const std::optional<Bytes>& snapshot) = 0;
};

}  // namespace mf
