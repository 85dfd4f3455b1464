// What went wrong in TLS, in words that say who has to do what.
#pragma once

#include "mf/core/outcome.hpp"
#include "transport/tls_context.hpp"

namespace mf::transport {

/// Of the last function of OpenSSL on this thread, which has failed. UNAUTHENTICATED: of a certificate.
[[nodiscard]] Failure why_tls_failed(const ssl_st* ssl, const TlsContext& context, const Address& address);

/// The peer's first bytes are not those of TLS.
[[nodiscard]] Failure speaks_no_tls(std::span<const std::byte> first, TlsContext::Side side);

}  // namespace mf::transport
