// The bounds and timeouts of a replica.
#pragma once

#include <chrono>
#include <cstddef>

namespace mf {

struct ReplicaSettings {
  /// Messages that are kept for replicas that return, of at most `most_bytes` in all.
  std::size_t most_entries = 16'384;
  std::size_t most_bytes = std::size_t{64} << 20U;
  /// Messages that wait for an earlier message or for their version.
  std::size_t most_early = 4'096;
  /// Messages that the servant has yet to apply; beyond that, the versioning server takes no more.
  std::size_t most_unapplied = 4'096;
  /// How much of a log, or of a state, is sent in one message.
  std::size_t chunk_entries = 1'024;
  std::size_t chunk_bytes = std::size_t{4} << 20U;
  /// The longest state of a servant that a replica begins again from, in bytes.
  std::size_t most_state = std::size_t{1} << 30U;
  /// The interval after which a message that was not answered is sent again.
  std::chrono::milliseconds repeat{200};
  /// The time after which a version that was given out and not used becomes a no-op.
  std::chrono::milliseconds unused{1'000};
  /// The time without a majority after which the versioning server gives up the lead.
  std::chrono::milliseconds patience{2'000};
};

}  // namespace mf
