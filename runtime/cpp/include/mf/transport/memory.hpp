// A connection inside one process that fails as it is told to, for tests: the same faults each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "mf/transport/stream.hpp"

namespace mf::transport {

/// What goes wrong with the bytes that one end writes, and with its reads.
struct Faults {
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  std::uint64_t seed = 0;
  /// No read or write moves more bytes than this: between one and so many, as the seed says.
  std::size_t largest_piece = kNever;
  /// When so many bytes were written the connection ends, for both ends.
  std::size_t cut_after = kNever;
  /// When so many bytes were written those behind them vanish, as they do behind a broken cable.
  std::size_t lost_after = kNever;
};

/// Two connected ends, each with faults of its own.
std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_memory_pair(Faults first, Faults second);

}  // namespace mf::transport
