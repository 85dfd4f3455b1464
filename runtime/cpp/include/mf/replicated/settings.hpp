// The bounds of a replica, and its times.
#pragma once

#include <chrono>
#include <cstddef>

namespace mf {

struct ReplicaSettings {
  /// Messages that are kept for those that come back, of at most `most_bytes` in all.
  std::size_t most_entries = 16'384;
  std::size_t most_bytes = std::size_t{64} << 20U;
  /// Messages that wait for an earlier one, or for their version.
  std::size_t most_early = 4'096;
  /// Messages that the servant has yet to apply: beyond, the versioning server takes no more.
  std::size_t most_unapplied = 4'096;
  /// How much of a log is sent at a time.
  std::size_t chunk_entries = 1'024;
  std::size_t chunk_bytes = std::size_t{4} << 20U;
  /// After so long something that was not answered is sent again.
  std::chrono::milliseconds repeat{200};
  /// After so long a version that was given out and not used becomes a no-op.
  std::chrono::milliseconds unused{1'000};
  /// After so long without a majority the versioning server gives up the lead.
  std::chrono::milliseconds patience{2'000};
};

}  // namespace mf
