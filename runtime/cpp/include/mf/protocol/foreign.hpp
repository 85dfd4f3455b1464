// Recognises peers that use another protocol, or not the form that this side expects, by their first bytes,
// so that a user with a wrong port or scheme gets a clear message.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mf::protocol {

/// "TLS", "HTTP", "MF", or empty. Four bytes suffice for the first two, and a HELLO never begins like them.
[[nodiscard]] std::string_view looks_like(std::span<const std::byte> first) noexcept;

/// Whether this may be the first byte of a TLS connection.
[[nodiscard]] constexpr bool begins_tls(std::byte first) noexcept {
  return first == std::byte{0x15} || first == std::byte{0x16};  // an alert, a handshake
}

}  // namespace mf::protocol
