#include "mf/codec/xxhash.hpp"

#include <bit>
#include <cstring>

namespace mf::codec {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9U;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63U;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5U;
constexpr std::size_t kStripe = 32;

template <class T>
T load(const std::byte* from) noexcept {
  T word;
  std::memcpy(&word, from, sizeof(T));
  return word;
}

constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

constexpr std::uint64_t merged(std::uint64_t hash, std::uint64_t lane) noexcept {
  return (hash ^ round(0, lane)) * kPrime1 + kPrime4;
}

/// All whole stripes; `at` ends behind them.
std::uint64_t stripes(const std::byte*& at, const std::byte* end) noexcept {
  std::uint64_t a = kPrime1 + kPrime2;
  std::uint64_t b = kPrime2;
  std::uint64_t c = 0;
  std::uint64_t d = 0U - kPrime1;
  for (; static_cast<std::size_t>(end - at) >= kStripe; at += kStripe) {
    a = round(a, load<std::uint64_t>(at));
    b = round(b, load<std::uint64_t>(at + 8));
    c = round(c, load<std::uint64_t>(at + 16));
    d = round(d, load<std::uint64_t>(at + 24));
  }
  std::uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  for (const std::uint64_t lane : {a, b, c, d}) {
    hash = merged(hash, lane);
  }
  return hash;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes) noexcept {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint64_t hash = bytes.size() >= kStripe ? stripes(at, end) : kPrime5;
  hash += bytes.size();
  for (; end - at >= 8; at += 8) {
    hash = std::rotl(hash ^ round(0, load<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    hash = std::rotl(hash ^ (load<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at != end; ++at) {
    hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(*at) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33U)) * kPrime2;
  hash = (hash ^ (hash >> 29U)) * kPrime3;
  return hash ^ (hash >> 32U);
}

}  // namespace mf::codec
