// Failures of TLS in words that name the side at fault and the remedy.
#pragma once

#include "mf/core/outcome.hpp"
#include "transport/tls_context.hpp"

namespace mf::transport {

/// For the last OpenSSL function on this thread, which has failed. UNAUTHENTICATED for a certificate.
[[nodiscard]] Failure why_tls_failed(const ssl_st* ssl, const TlsContext& context, const Address& address);

/// The failure if the peer's first bytes are not TLS.
[[nodiscard]] Failure speaks_no_tls(std::span<const std::byte> first, TlsContext::Side side);

}  // namespace mf::transport
