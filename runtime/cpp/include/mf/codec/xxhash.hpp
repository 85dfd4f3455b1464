// R1. XXH64 with seed 0: a fast hash of 64 bits over bytes, the same on every machine and in every runtime.
//
// Written from the description of the algorithm (https://xxhash.com). Not for hostile keys: an attacker that
// chooses the bytes can make collisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mf::codec {

[[nodiscard]] std::uint64_t xxh64(std::span<const std::byte> bytes) noexcept;

}  // namespace mf::codec
