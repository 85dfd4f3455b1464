// Random numbers that nobody outside can guess.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>

#include "mf/core/types.hpp"

namespace mf::controller {

inline std::uint64_t random64() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

inline std::uint32_t random_client_id() {
  const auto id = static_cast<std::uint32_t>(random64());
  return id != 0 ? id : 1;
}

/// Takes the next client ids of a store, which begin by chance; 0: none was ever taken.
inline std::uint32_t take_ids(std::uint32_t& next, std::uint32_t count) {
  const std::uint32_t first = next != 0 ? next : random_client_id();
  next = first + count;
  if (next == 0) next = 1;
  return first;
}

inline Uuid random_uuid() {
  Uuid made;
  for (std::size_t at = 0; at < made.bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t part = random64();
    std::memcpy(made.bytes.data() + at, &part, sizeof part);
  }
  return made;
}

}  // namespace mf::controller
