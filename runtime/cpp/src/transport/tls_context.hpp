// The shared state of TLS connections: OpenSSL's context, and the sessions that a client may resume.
//
// A client's context without options is made at its first connection, because reading the system's
// authorities takes milliseconds that plain connections should not spend.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;

namespace mf::transport {

struct SslDeleter {
  void operator()(ssl_ctx_st* context) const noexcept;
  void operator()(ssl_session_st* session) const noexcept;
  void operator()(ssl_st* ssl) const noexcept;
};
using Ssl = std::unique_ptr<ssl_st, SslDeleter>;
using SslSession = std::unique_ptr<ssl_session_st, SslDeleter>;

class TlsContext {
 public:
  enum class Side : unsigned char { client, server };

  TlsContext(Side side, TlsOptions options);

  /// A connection before its handshake; a client's is to `address`, and resumes the last session with it.
  /// Throws Error(UNAVAILABLE) without memory for it.
  Ssl connection(const Address& address);

  /// The server at the address has provided this session.
  void keep(const Address& address, SslSession session);

  [[nodiscard]] Side side() const noexcept { return side_; }
  /// The name that the certificate of the server at the address must have.
  [[nodiscard]] const std::string& expected_name(const Address& address) const noexcept {
    return options_.server_name.empty() ? address.host : options_.server_name;
  }
  [[nodiscard]] bool shows_certificate() const noexcept { return !options_.certificate.empty(); }
  /// "in /etc/ca.pem", "among those of the system"
  [[nodiscard]] std::string where_authorities_are() const;

 private:
  using Context = std::unique_ptr<ssl_ctx_st, SslDeleter>;

  void make();
  void load_authorities(ssl_ctx_st* context) const;
  void load_certificate(ssl_ctx_st* context) const;
  [[nodiscard]] SslSession take(const Address& address);
  /// Throws Error(INVALID_ARGUMENT): "ServerOptions::tls.key: <why>".
  [[noreturn]] void refuse(const char* option, const std::string& why) const;
  void check_readable(const char* option, const std::string& path) const;

  const Side side_;
  const TlsOptions options_;
  std::mutex mutex_;
  Context context_;
  std::map<Address, SslSession> sessions_;  // each is resumed once; the server gives a new one then
};

}  // namespace mf::transport
