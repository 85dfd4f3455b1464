#include "mf/core/random.hpp"

#include <random>

namespace mf {

std::uint64_t random_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

Uuid random_uuid() {
  std::random_device random;
  Uuid uuid;
  for (auto& byte : uuid.bytes) byte = static_cast<std::uint8_t>(random());
  uuid.bytes[6] =
      static_cast<std::uint8_t>((uuid.bytes[6] & 0x0FU) | 0x40U);  // version 4 of RFC 9562: random
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3FU) | 0x80U);
  return uuid;
}

}  // namespace mf
