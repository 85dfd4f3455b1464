// Bytes as hexadecimal digits, two for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mf {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

inline void append_hex(std::string& to, std::uint8_t byte) {
  to += kHexDigits[byte >> 4U];
  to += kHexDigits[byte & 15U];
}

[[nodiscard]] inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const auto byte : bytes) append_hex(digits, std::to_integer<std::uint8_t>(byte));
  return digits;
}

/// For a fingerprint, a digest or the bytes of a UUID.
[[nodiscard]] inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  return to_hex(std::as_bytes(bytes));
}

}  // namespace mf
