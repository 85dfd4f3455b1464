// R1. Hashes of values, over their serialized bytes: the same numbers in every runtime.
//
//   mf::hash37(hit)                     the report's: h = 37 * h + byte in 32 bits, from 0
//   mf::hash64(hit)                     XXH64, seed 0
//   std::unordered_set<Hit> hits;       std::hash of every struct and union is hash64
//
// Equal values have equal hashes, because a value has one encoding. Only floats can be equal and differ in
// their bytes: 0.0 and -0.0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>  // std::hash, for less than <functional>

#include "mf/codec/tier.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/codec/xxhash.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

[[nodiscard]] constexpr std::uint32_t hash_bytes(std::span<const std::byte> bytes) noexcept {
  std::uint32_t hash = 0;
  for (const std::byte byte : bytes) {
    hash = 37U * hash + std::to_integer<std::uint32_t>(byte);
  }
  return hash;
}

/// What `use` makes of a value's bytes, which stand on the stack if they are few.
template <Tier kTier, class T, class Use>
[[nodiscard]] auto with_bytes(const T& value, const Use& use) {
  constexpr std::size_t kFew = 256;
  const std::size_t size = encoded_size<kTier>(value);
  if (size > kFew) {
    return use(std::span<const std::byte>(to_bytes<kTier>(value)));
  }
  std::array<std::byte, kFew> few;
  Writer writer(few.data());
  encode<kTier>(writer, value, size);
  return use(std::span<const std::byte>(few.data(), size));
}

template <Tier kTier, class T>
[[nodiscard]] std::uint32_t hash(const T& value) {
  return with_bytes<kTier>(value, [](std::span<const std::byte> bytes) { return hash_bytes(bytes); });
}

}  // namespace mf::codec

namespace mf {

template <class T>
[[nodiscard]] std::uint32_t hash37(const T& value) {
  return codec::hash<codec::kTierOf<T>>(value);
}

template <class T>
[[nodiscard]] std::uint64_t hash64(const T& value) {
  return codec::with_bytes<codec::kTierOf<T>>(
      value, [](std::span<const std::byte> bytes) { return codec::xxh64(bytes); });
}

}  // namespace mf

/// Structs, errors and unions of a schema; for enums the standard library has it.
template <mf::codec::Declared T>
struct std::hash<T> {
  [[nodiscard]] std::size_t operator()(const T& value) const { return mf::hash64(value); }
};
