// The shared state of TLS connections: OpenSSL's context, and the sessions that a client may resume.
//
// A client's context without options is made at its first connection, because reading the system's
// authorities takes milliseconds that plain connections should not spend.
//
// Files that were replaced are read again: by refresh(), and before a new connection, unless they were looked
// at within the last 30 s. The new context serves new connections; those made before keep theirs, and
// trusts() says whether the new one would accept their peers. Files that cannot be used leave the context as
// it is, with a warning.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "mf/core/clock.hpp"
#include "mf/core/file_stamp.hpp"
#include "mf/core/log.hpp"
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

  /// How often the files are looked at.
  static constexpr std::chrono::seconds kLookEvery{30};

  TlsContext(Side side, TlsOptions options, Log log = {});

  /// A connection before its handshake; a client's is to `address`, and resumes the last session with it,
  /// unless the server's certificate has expired since.
  /// Throws Error(UNAVAILABLE) without memory for it.
  Ssl connection(const Address& address);

  /// Reads the files again if one was replaced, and none was looked at within kLookEvery before `now`.
  void look(TimePoint now);
  /// See read_again().
  bool refresh(Reads which);

  /// Whether the certificate of this connection's peer is valid now, and the present context accepts it.
  /// `checked` is the generation of the context that has accepted it last: it is verified once by each.
  [[nodiscard]] bool trusts(const ssl_st& connection, std::uint64_t& checked);
  /// The number of the context that the connection was made with.
  [[nodiscard]] static std::uint64_t generation_of(const ssl_st& connection) noexcept;

  /// The server at the address has provided this session, to a connection of this context. It is not kept if
  /// files were read since, as a session that is resumed repeats no verification.
  void keep(const Address& address, SslSession session, const ssl_ctx_st* of);

  [[nodiscard]] Side side() const noexcept { return side_; }
  /// The name that the certificate of the server at the address must have.
  [[nodiscard]] const std::string& expected_name(const Address& address) const noexcept {
    return options_.server_name.empty() ? address.host : options_.server_name;
  }
  /// In seconds since 1970; it must have a certificate.
  [[nodiscard]] double certificate_expires();
  [[nodiscard]] bool shows_certificate() const noexcept { return !options_.certificate.empty(); }
  /// "in /etc/ca.pem", "among those of the system"
  [[nodiscard]] std::string where_authorities_are() const;

 private:
  using Context = std::unique_ptr<ssl_ctx_st, SslDeleter>;

  using Stamps = std::array<FileStamp, 4>;

  [[nodiscard]] Context make();
  /// Under the lock.
  bool refresh_locked(Reads which);
  [[nodiscard]] Stamps stamps() const;
  void load_authorities(ssl_ctx_st* context) const;
  void load_revoked(ssl_ctx_st* context) const;
  void load_certificate(ssl_ctx_st* context) const;
  [[nodiscard]] SslSession take(const Address& address, const ssl_ctx_st* for_context);
  /// Throws Error(INVALID_ARGUMENT): "ServerOptions::tls.key: <why>".
  [[noreturn]] void refuse(const char* option, const std::string& why) const;
  void check_readable(const char* option, const std::string& path) const;

  const Side side_;
  const TlsOptions options_;
  const Log log_;
  std::mutex mutex_;
  TimePoint looked_{};
  Stamps stamps_{};
  Context context_;
  std::uint64_t generation_ = 0;
  std::map<Address, SslSession> sessions_;  // each is resumed once; the server gives a new one then
};

}  // namespace mf::transport
