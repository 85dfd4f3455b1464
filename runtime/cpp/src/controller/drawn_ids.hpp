// Client ids that start at a random number, so that two controllers without a common store assign different
// ones.
#pragma once

#include <cstdint>

#include "mf/core/random.hpp"

namespace mf::controller {

inline std::uint32_t random_client_id() {
  const auto id = static_cast<std::uint32_t>(random_number());
  return id != 0 ? id : 1;
}

/// Takes the next client ids of a store, which start at random; 0: none was ever taken.
inline std::uint32_t take_ids(std::uint32_t& next, std::uint32_t count) {
  const std::uint32_t first = next != 0 ? next : random_client_id();
  next = first + count;
  if (next == 0) next = 1;
  return first;
}

}  // namespace mf::controller
