#include "transport/tls_context.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "mf/core/error.hpp"
#include "transport/schemes.hpp"
#include "transport/tls_stream.hpp"

namespace mf::transport {
namespace {

// For TLS 1.2: only ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::array<unsigned char, 2> kSessionsAreOf{'m', 'f'};
// The number of addresses whose last session a client keeps.
constexpr std::size_t kMostSessions = 1024;

[[noreturn]] void no_tls() {
  ERR_clear_error();
  throw Error(Code::unavailable, Execution::not_executed, "OpenSSL has no memory for a TLS connection");
}

/// OpenSSL's latest error, for example "no start line".
std::string openssl_reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason != nullptr ? std::string(" (") + reason + ")" : std::string();
}

bool is_ip(const std::string& host) noexcept {
  in6_addr parsed{};
  return ::inet_pton(AF_INET, host.c_str(), &parsed) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

/// Without this OpenSSL would ask for a passphrase at the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*data*/) {
  return -1;
}

int on_new_session(SSL* ssl, SSL_SESSION* session) {
  static_cast<TlsStream*>(SSL_get_app_data(ssl))->on_new_session(SslSession(session), SSL_get_SSL_CTX(ssl));
  return 1;  // this code owns the reference now
}

struct FreesOfCertificates {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(X509_STORE_CTX* check) const noexcept { X509_STORE_CTX_free(check); }
};

/// Whether the certificate is valid now.
bool is_in_time(const X509* certificate) noexcept {
  return X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 &&
         X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0;
}

/// Resuming a session repeats no verification: with a certificate that has expired since, the peer must make
/// a whole handshake, which refuses it, or accepts the certificate that has replaced it.
bool is_resumable(const SSL_SESSION* session) noexcept {
  const X509* const shown = SSL_SESSION_get0_peer(const_cast<SSL_SESSION*>(session));
  return shown == nullptr || is_in_time(shown);
}

/// Called by OpenSSL at a server, for each ticket that a client shows.
SSL_TICKET_RETURN on_ticket(SSL* /*ssl*/, SSL_SESSION* session, const unsigned char* /*key_name*/,
                            std::size_t /*size*/, SSL_TICKET_STATUS status, void* /*data*/) {
  const bool usable = (status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW) &&
                      session != nullptr && is_resumable(session);
  if (!usable) return SSL_TICKET_RETURN_IGNORE_RENEW;
  return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

/// The certificate must be for this name or IP address; a name is sent to the server, too.
bool expect(SSL* ssl, const std::string& name) {
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (is_ip(name)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
  return SSL_set1_host(ssl, name.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

}  // namespace

void SslDeleter::operator()(ssl_ctx_st* context) const noexcept {
  SSL_CTX_free(context);
}
void SslDeleter::operator()(ssl_session_st* session) const noexcept {
  SSL_SESSION_free(session);
}
void SslDeleter::operator()(ssl_st* ssl) const noexcept {
  SSL_free(ssl);
}

TlsContext::TlsContext(Side side, TlsOptions options, Log log)
    : side_(side), options_(std::move(options)), log_(std::move(log)), looked_(now()) {
  if (options_.certificate.empty() != options_.key.empty()) {
    refuse(options_.key.empty() ? "key" : "certificate",
           "certificate and key belong together, and this one is not given");
  }
  if (side_ == Side::server && options_.certificate.empty())
    refuse("certificate", "a server at tls:// needs a certificate and its key");
  if (!options_.crl.empty() && options_.ca.empty())
    refuse("crl", "lists of revoked certificates need the authorities that have signed them, as ca");
  if (options_ == TlsOptions()) return;
  stamps_ = stamps();  // before they are read: one that is replaced meanwhile is read again
  context_ = make();
}

double TlsContext::certificate_expires() {
  const std::scoped_lock lock(mutex_);
  std::tm at{};
  (void)ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context_.get())), &at);
  return static_cast<double>(::timegm(&at));
}

TlsContext::Context TlsContext::make() {
  // Connecting threads may outlive main(), and still need OpenSSL.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  Context context(SSL_CTX_new(side_ == Side::client ? TLS_client_method() : TLS_server_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context.get(), kCiphers) != 1)
    no_tls();
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  load_authorities(context.get());
  if (!options_.crl.empty()) load_revoked(context.get());
  if (!options_.certificate.empty()) load_certificate(context.get());
  if (side_ == Side::client) {
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context.get(), on_new_session);
  } else {  // its sessions are tickets, which clients keep
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context.get(), 1);
    SSL_CTX_set_session_ticket_cb(context.get(), nullptr, on_ticket, nullptr);
    SSL_CTX_set_session_id_context(context.get(), kSessionsAreOf.data(), kSessionsAreOf.size());
  }
  // A number, not an address: SSL_CTX has one field for its user.
  SSL_CTX_set_app_data(context.get(), reinterpret_cast<char*>(static_cast<std::uintptr_t>(++generation_)));
  return context;
}

TlsContext::Stamps TlsContext::stamps() const {
  return {file_stamp(options_.ca), file_stamp(options_.crl), file_stamp(options_.certificate),
          file_stamp(options_.key)};
}

void TlsContext::look(TimePoint now) {
  const std::scoped_lock lock(mutex_);
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  (void)refresh_locked(Reads::replaced);
}

bool TlsContext::refresh(Reads which) {
  const std::scoped_lock lock(mutex_);
  looked_ = now();
  return refresh_locked(which);
}

bool TlsContext::refresh_locked(Reads which) {
  if (options_ == TlsOptions()) return true;
  const Stamps found = stamps();
  if (which == Reads::replaced && found == stamps_) return true;
  try {
    context_ = make();
  } catch (const Error& error) {  // tried again at the next look
    log_.write(Level::warning, "tls_files_kept", {{"reason", error.message()}});
    return false;
  }
  stamps_ = found;
  sessions_.clear();
  log_.write(Level::info, "tls_files_read",
             {{"ca", options_.ca},
              {"crl", options_.crl},
              {"certificate", options_.certificate},
              {"key", options_.key}});
  return true;
}

std::uint64_t TlsContext::generation_of(const ssl_st& connection) noexcept {
  return reinterpret_cast<std::uintptr_t>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(&connection)));
}

// A session that was resumed has no certificates of authorities between: then its peer is not accepted, and
// has to connect anew.
bool TlsContext::trusts(const ssl_st& connection, std::uint64_t& checked) {
  const std::unique_ptr<X509, FreesOfCertificates> shown(SSL_get1_peer_certificate(&connection));
  if (!shown) return true;  // none is asked for, or the handshake goes on
  if (!is_in_time(shown.get())) return false;
  const std::scoped_lock lock(mutex_);
  if (!context_ || checked == generation_) return true;
  const std::unique_ptr<X509_STORE_CTX, FreesOfCertificates> check(X509_STORE_CTX_new());
  if (!check || X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context_.get()), shown.get(),
                                    SSL_get_peer_cert_chain(&connection)) != 1)
    no_tls();
  (void)X509_STORE_CTX_set_default(check.get(), side_ == Side::server ? "ssl_client" : "ssl_server");
  const bool accepted = X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  if (accepted) checked = generation_;
  return accepted;
}

bool read_again(TlsContext& context, Reads which) {
  return context.refresh(which);
}

double certificate_expires(TlsContext& context) {
  return context.certificate_expires();
}

void TlsContext::load_authorities(ssl_ctx_st* context) const {
  int verify = SSL_VERIFY_PEER;
  if (options_.ca.empty()) {
    if (side_ == Side::server) return;
    (void)SSL_CTX_set_default_verify_paths(context);
  } else {
    check_readable("ca", options_.ca);
    if (SSL_CTX_load_verify_file(context, options_.ca.c_str()) != 1)
      refuse("ca", "'" + options_.ca + "' holds no certificate in PEM format" + openssl_reason());
    if (side_ == Side::server) {
      SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(options_.ca.c_str()));
      verify |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
  }
  SSL_CTX_set_verify(context, verify, nullptr);
}

void TlsContext::load_revoked(ssl_ctx_st* context) const {
  check_readable("crl", options_.crl);
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (lookup == nullptr || X509_load_crl_file(lookup, options_.crl.c_str(), X509_FILETYPE_PEM) < 1)
    refuse("crl",
           "'" + options_.crl + "' holds no list of revoked certificates in PEM format" + openssl_reason());
  (void)X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

void TlsContext::load_certificate(ssl_ctx_st* context) const {
  check_readable("certificate", options_.certificate);
  if (SSL_CTX_use_certificate_chain_file(context, options_.certificate.c_str()) != 1) {
    refuse("certificate", "'" + options_.certificate +
                              "' holds no certificate in PEM format that can be used" + openssl_reason());
  }
  check_readable("key", options_.key);
  const auto free_bio = [](BIO* bio) { (void)BIO_free(bio); };
  const std::unique_ptr<BIO, decltype(free_bio)> file(BIO_new_file(options_.key.c_str(), "r"), free_bio);
  const auto free_key = [](EVP_PKEY* key) { EVP_PKEY_free(key); };
  const std::unique_ptr<EVP_PKEY, decltype(free_key)> key(
      file ? PEM_read_bio_PrivateKey(file.get(), nullptr, no_passphrase, nullptr) : nullptr, free_key);
  if (!key) {
    refuse("key", "'" + options_.key + "' holds no private key in PEM format without a passphrase" +
                      openssl_reason());
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    refuse("key", "'" + options_.key + "' does not belong to the certificate '" + options_.certificate + "'");
  }
}

void TlsContext::refuse(const char* option, const std::string& why) const {
  throw Error(Code::invalid_argument, Execution::not_executed,
              std::string(side_ == Side::client ? "ClientOptions" : "ServerOptions") + "::tls." + option +
                  ": " + why);
}

void TlsContext::check_readable(const char* option, const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) refuse(option, "cannot read '" + path + "': " + in_words(errno));
  (void)std::fclose(file);
}

Ssl TlsContext::connection(const Address& address) {
  look(now());
  Ssl ssl;
  {
    const std::scoped_lock lock(mutex_);
    if (!context_) context_ = make();
    ssl.reset(SSL_new(context_.get()));  // which owns a reference to the context
  }
  if (!ssl) no_tls();
  if (side_ == Side::server) {
    SSL_set_accept_state(ssl.get());
    return ssl;
  }
  SSL_set_connect_state(ssl.get());
  if (!expect(ssl.get(), expected_name(address))) no_tls();
  if (const auto session = take(address, SSL_get_SSL_CTX(ssl.get())))
    (void)SSL_set_session(ssl.get(), session.get());
  return ssl;
}

void TlsContext::keep(const Address& address, SslSession session, const ssl_ctx_st* of) {
  const std::scoped_lock lock(mutex_);
  if (of != context_.get()) return;
  if (sessions_.size() >= kMostSessions) sessions_.clear();
  sessions_[address] = std::move(session);
}

SslSession TlsContext::take(const Address& address, const ssl_ctx_st* for_context) {
  const std::scoped_lock lock(mutex_);
  if (for_context != context_.get()) return nullptr;
  auto found = sessions_.extract(address);
  return found && is_resumable(found.mapped().get()) ? std::move(found.mapped()) : nullptr;
}

std::string TlsContext::where_authorities_are() const {
  return options_.ca.empty() ? "among those of the system" : "in '" + options_.ca + "'";
}

std::shared_ptr<TlsContext> make_tls_client(TlsOptions options, Log log) {
  return std::make_shared<TlsContext>(TlsContext::Side::client, std::move(options), std::move(log));
}

std::shared_ptr<TlsContext> make_tls_server(TlsOptions options, Log log) {
  return std::make_shared<TlsContext>(TlsContext::Side::server, std::move(options), std::move(log));
}

}  // namespace mf::transport
