// A connection inside one process with configured faults, for tests: the same faults each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "mf/transport/stream.hpp"

namespace mf::transport {

/// The faults of the bytes that one end writes, and of its reads.
struct Faults {
  static constexpr std::size_t kNever = (std::numeric_limits<std::size_t>::max)();

  std::uint64_t seed = 0;
  /// No read or write moves more bytes than this; the seed decides between one and this number.
  std::size_t largest_piece = kNever;
  /// After this number of written bytes the connection ends, for both ends.
  std::size_t cut_after = kNever;
  /// After this number of written bytes further ones vanish, as if a cable were broken.
  std::size_t lost_after = kNever;
};

/// Two connected ends, each with its own faults.
std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_memory_pair(Faults first, Faults second);

}  // namespace mf::transport
