// Options of TLS 1.2 and 1.3 for servers and clients. The implementation uses OpenSSL, only in src/transport.
//
// A server at tls://host:port has a certificate. A client always verifies that one of its authorities has
// issued it, that it has not expired, and that it is for the name or IP address that the client connects to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mf/core/log.hpp"

namespace mf {

/// Paths of files in PEM format.
struct TlsOptions {
  /// The authorities whose certificates are accepted. For a client, empty means those of the system. A server
  /// with `ca` demands a certificate of each client; without, it asks for none.
  std::string ca{};
  /// Lists of revoked certificates (CRLs), one of each authority in the chains of peers, which needs `ca`: a
  /// peer is refused if its certificate is on a list, and if an authority of its chain has no list here.
  std::string crl{};
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
/// connects. Files that are replaced are read again before a new connection, at most every 30 s.
std::shared_ptr<TlsContext> make_tls_client(TlsOptions options, Log log = {});
std::shared_ptr<TlsContext> make_tls_server(TlsOptions options, Log log = {});

/// Which files read_again() reads.
enum class Reads : std::uint8_t { all, replaced };

/// Reads files again, for connections that are made from now on. Stream::trusted() says whether an earlier
/// one would be made as well. False: a file cannot be used, and those read before stay in use, which the log
/// gets as a warning, tls_files_kept.
bool read_again(TlsContext& context, Reads which);

/// When the certificate of this side expires, in seconds since 1970.
double certificate_expires(TlsContext& context);

}  // namespace mf::transport
