// What is spoken by a peer that does not speak MF, or not in the way this side expects: told by its first
// bytes, so that who has used the wrong port or scheme learns it in words.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mf::protocol {

/// "TLS", "HTTP", "MF", or empty. Four bytes are enough for the first two, and a HELLO never begins as they
/// do.
[[nodiscard]] std::string_view looks_like(std::span<const std::byte> first) noexcept;

/// Whether this may be the first byte of a TLS connection.
[[nodiscard]] constexpr bool begins_tls(std::byte first) noexcept {
  return first == std::byte{0x15} || first == std::byte{0x16};  // an alert, a handshake
}

}  // namespace mf::protocol
