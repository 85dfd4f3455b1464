// Client ids, of which the first is drawn, so that those of two controllers without a common store differ.
#pragma once

#include <cstdint>

#include "mf/core/random.hpp"

namespace mf::controller {

inline std::uint32_t random_client_id() {
  const auto id = static_cast<std::uint32_t>(random_number());
  return id != 0 ? id : 1;
}

/// Takes the next client ids of a store, which begin by chance; 0: none was ever taken.
inline std::uint32_t take_ids(std::uint32_t& next, std::uint32_t count) {
  const std::uint32_t first = next != 0 ? next : random_client_id();
  next = first + count;
  if (next == 0) next = 1;
  return first;
}

}  // namespace mf::controller
