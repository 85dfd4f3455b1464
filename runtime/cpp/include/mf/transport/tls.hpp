// Options of TLS 1.2 and 1.3 for servers and clients. The implementation uses OpenSSL, only in src/transport.
//
// A server at tls://host:port has a certificate. A client always verifies that one of its authorities has
// issued it, that it has not expired, and that it is for the name or IP address that the client connects to.
#pragma once

#include <memory>
#include <string>

#include "mf/core/log.hpp"

namespace mf {

/// Paths of files in PEM format.
struct TlsOptions {
  /// The authorities whose certificates are accepted. For a client, empty means those of the system. A server
  /// with `ca` demands a certificate of each client; without, it asks for none.
  std::string ca{};
  /// This side's certificate, followed by those of intermediate authorities. A server needs it; a client
  /// needs it if the server demands one.
  std::string certificate{};
  /// The private key of `certificate`, without a passphrase.
  std::string key{};
  /// For a client: the name or IP address that the server's certificate must be for, if it differs from the
  /// host of the address.
  std::string server_name{};

  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

}  // namespace mf

namespace mf::transport {

/// The shared state of all TLS connections of a client or a server: certificates, authorities, and the
/// sessions that a client resumes. Thread-safe.
class TlsContext;

/// Both throw Error(INVALID_ARGUMENT), which names a file that is missing, unreadable or not PEM, or a key
/// that does not match its certificate. Without options a client reads the system's authorities when it first
/// connects. Files that are replaced are read again before a new connection, at most every 30 s; files that
/// cannot be used change nothing, and `log` gets a warning, tls_files_kept.
std::shared_ptr<TlsContext> make_tls_client(TlsOptions options, Log log = {});
std::shared_ptr<TlsContext> make_tls_server(TlsOptions options, Log log = {});

}  // namespace mf::transport
