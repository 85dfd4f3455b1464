// TLS for a door whose bytes another library reads and writes: OpenSSL's own objects, without their types.
// The context, its files and the identities that certificates give are those of tls:// addresses.
#pragma once

#include <cstdint>

#include "mf/core/identity.hpp"
#include "mf/transport/tls.hpp"

namespace mf::transport {

/// A new connection of a server's context before its handshake: OpenSSL's `SSL*`, which the caller frees.
/// Throws Error(UNAVAILABLE) without memory for it.
[[nodiscard]] void* native_connection(TlsContext& server);
/// What the peer of that connection has proved, once its handshake is complete.
[[nodiscard]] Identity native_identity(const void* connection);
/// See Stream::trusted(). `checked` is 0 before the first question.
[[nodiscard]] bool native_trusted(TlsContext& server, const void* connection, std::uint64_t& checked);

}  // namespace mf::transport
