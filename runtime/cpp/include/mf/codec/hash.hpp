// R1. The report's hash of a value: over its serialized bytes, h = 37 * h + byte in 32 bits, from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mf/codec/tiered.hpp"

namespace mf::codec {

[[nodiscard]] constexpr std::uint32_t hash_bytes(std::span<const std::byte> bytes) noexcept {
  std::uint32_t hash = 0;
  for (const std::byte byte : bytes) {
    hash = 37U * hash + std::to_integer<std::uint32_t>(byte);
  }
  return hash;
}

/// Equal values have equal hashes, in both runtimes: every tier has one encoding of a value.
template <Tier kTier, class T>
[[nodiscard]] std::uint32_t hash(const T& value) {
  return hash_bytes(to_bytes<kTier>(value));
}

}  // namespace mf::codec
