// What programs of tests take from their environment: how they show and verify peers, and what each identity
// may do.
//
//   MF_PEER_LISTEN, MF_PEER_CA, MF_PEER_CRL, MF_PEER_CERTIFICATE, MF_PEER_KEY, MF_PEER_ACCESS,
//   MF_PEER_TOKEN_KEYS, MF_PEER_TOKEN_AUDIENCE
#pragma once

#include <cstdlib>
#include <string>

#include "mf/transport/tls.hpp"

namespace mftest {

inline std::string of_environment(const char* name, std::string otherwise = {}) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

inline std::string peer_listen() {
  return of_environment("MF_PEER_LISTEN", "tcp://127.0.0.1:0");
}

inline std::string peer_access() {
  return of_environment("MF_PEER_ACCESS");
}

/// As a client, and as a server that asks for certificates.
inline mf::TlsOptions peer_tls() {
  return {.ca = of_environment("MF_PEER_CA"),
          .crl = of_environment("MF_PEER_CRL"),
          .certificate = of_environment("MF_PEER_CERTIFICATE"),
          .key = of_environment("MF_PEER_KEY")};
}

/// For the options of a server that may listen at tls:// and registers at mf+tls://.
template <class Options>
void secure(Options& options) {
  const auto tls = peer_tls();
  if (options.listen.find("tls://") != std::string::npos) options.tls = tls;
  if (options.controller.find("mf+tls://") != std::string::npos) options.controller_tls = tls;
  options.access = peer_access();
  options.token_keys = of_environment("MF_PEER_TOKEN_KEYS");
  options.token_audience = of_environment("MF_PEER_TOKEN_AUDIENCE");
}

}  // namespace mftest
