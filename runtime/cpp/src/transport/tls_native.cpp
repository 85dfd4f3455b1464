#include "mf/transport/tls_native.hpp"

#include <openssl/ssl.h>

#include "transport/tls_context.hpp"
#include "transport/tls_identity.hpp"

namespace mf::transport {

void* native_connection(TlsContext& server) {
  return server.connection(Address()).release();
}

Identity native_identity(const void* connection) {
  return certified(*static_cast<const SSL*>(connection));
}

bool native_trusted(TlsContext& server, const void* connection, std::uint64_t& checked) {
  const auto& ssl = *static_cast<const SSL*>(connection);
  if (checked == 0) checked = TlsContext::generation_of(ssl);
  return server.trusts(ssl, checked);
}

}  // namespace mf::transport
