// A type and a codec of a user's own, for the tests of tier custom: two degrees in thousandths, three bytes
// each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace geo {

struct Geo {
  std::int32_t latitude = 0;
  std::int32_t longitude = 0;

  friend bool operator==(const Geo&, const Geo&) = default;
};

struct Codec {
  static std::size_t size(const Geo& /*value*/) noexcept { return 6; }
  static void write(std::span<std::byte> to, const Geo& value) noexcept {
    const std::array<std::int32_t, 2> parts{value.latitude, value.longitude};
    for (std::size_t i = 0; i < 6; ++i) {
      to[i] = static_cast<std::byte>(static_cast<std::uint32_t>(parts[i / 3]) >> (8 * (i % 3)));
    }
  }
  static bool read(std::span<const std::byte> from, Geo& value) noexcept {
    if (from.size() != 6) {
      return false;
    }
    const auto part = [from](std::size_t at) {
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < 3; ++i) bits |= std::to_integer<std::uint32_t>(from[at + i]) << (8 * i);
      return static_cast<std::int32_t>(bits << 8U) >> 8U;
    };
    value = {part(0), part(3)};
    return value.latitude >= -90'000 && value.latitude <= 90'000;
  }
};

}  // namespace geo
