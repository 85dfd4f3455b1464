#include "transport/tls_words.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "mf/core/failure.hpp"
#include "mf/protocol/foreign.hpp"
#include "transport/schemes.hpp"

namespace mf::transport {
namespace {

using Side = TlsContext::Side;

const char* peer_of(Side side) noexcept {
  return side == Side::client ? "the server" : "the client";
}

/// Why this side does not accept the peer's certificate.
std::string why_not_accepted(long verified, const TlsContext& context, const Address& address) {
  switch (verified) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "is not valid yet";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "is not for '" + context.expected_name(address) + "'";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "is of an authority that is not " + context.where_authorities_are();
    default:
      return std::string("is not accepted: ") + X509_verify_cert_error_string(verified);
  }
}

/// Why the peer does not accept this side's certificate, or misses it.
std::string why_refused(int alert, const TlsContext& context) {
  const std::string peer = peer_of(context.side());
  const auto refuses = [&](const std::string& why) {
    return peer + " does not accept the certificate of this " +
           (context.side() == Side::client ? "client" : "server") + ": " + why;
  };
  switch (alert) {
    case SSL3_AD_CERTIFICATE_EXPIRED:
      return refuses("it has expired");
    case TLS1_AD_UNKNOWN_CA:
      return refuses("its authority is none of those that " + peer + " accepts");
    case SSL3_AD_BAD_CERTIFICATE:
      return refuses("it is not for the name that was asked for, not valid yet, or damaged");
    case SSL3_AD_CERTIFICATE_REVOKED:
    case SSL3_AD_UNSUPPORTED_CERTIFICATE:
    case SSL3_AD_CERTIFICATE_UNKNOWN:
    case TLS1_AD_ACCESS_DENIED:
      return refuses(SSL_alert_desc_string_long(alert));
    default:
      return {};
  }
}

bool demands_certificate(int alert, const TlsContext& context) noexcept {
  return alert == TLS13_AD_CERTIFICATE_REQUIRED ||  // TLS 1.2 has no specific alert for this
         (alert == SSL3_AD_HANDSHAKE_FAILURE && context.side() == Side::client &&
          !context.shows_certificate());
}

}  // namespace

Failure why_tls_failed(const ssl_st* ssl, const TlsContext& context, const Address& address) {
  const std::string peer = peer_of(context.side());
  const auto error = ERR_peek_last_error();
  const int reason = ERR_GET_REASON(error);
  switch (reason) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return not_executed(Code::unauthenticated,
                          "the certificate of " + peer + " " +
                              why_not_accepted(SSL_get_verify_result(ssl), context, address));
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return not_executed(Code::unauthenticated, peer + " shows no certificate, and this server demands one");
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return not_executed(Code::unavailable, peer + " has closed the connection within the TLS handshake");
    default:
      break;
  }
  if (reason >= SSL_AD_REASON_OFFSET) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    if (demands_certificate(alert, context)) {
      return not_executed(Code::unauthenticated,
                          peer +
                              " demands a certificate of this client: set certificate and key of "
                              "ClientOptions::tls");
    }
    if (auto refused = why_refused(alert, context); !refused.empty())
      return not_executed(Code::unauthenticated, std::move(refused));
    return not_executed(Code::unavailable, peer + " has ended TLS: " + SSL_alert_desc_string_long(alert));
  }
  const char* words = ERR_reason_error_string(error);
  return not_executed(Code::unavailable, "TLS with " + peer + " has failed: " +
                                             (words != nullptr ? words : "no reason is known"));
}

Failure speaks_no_tls(std::span<const std::byte> first, Side side) {
  const std::string_view what = protocol::looks_like(first);
  std::string message = std::string(peer_of(side)) + " speaks no TLS";
  if (what == "MF") {
    message += side == Side::server ? ", but MF: its address must begin with tls://" : ", but MF";
  } else if (!what.empty()) {
    message += ": its first bytes look like " + std::string(what);
  }
  auto failure = not_executed(Code::unavailable, message);
  failure.code = Code::protocol_error;  // its bytes prove it: another attempt fails, too
  return failure;
}

}  // namespace mf::transport
