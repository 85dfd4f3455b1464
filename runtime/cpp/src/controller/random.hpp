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

inline Uuid random_uuid() {
  Uuid made;
  for (std::size_t at = 0; at < made.bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t part = random64();
    std::memcpy(made.bytes.data() + at, &part, sizeof part);
  }
  return made;
}

}  // namespace mf::controller
