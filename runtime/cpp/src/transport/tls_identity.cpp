#include "transport/tls_identity.hpp"

#include <openssl/bio.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "mf/core/text.hpp"

namespace mf::transport {
namespace {

constexpr std::size_t kLongestName = 1'024;

struct FreesParts {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};

/// Empty if the text is not usable.
std::string_view usable(const ASN1_STRING* text) noexcept {
  const std::string_view name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                              static_cast<std::size_t>(ASN1_STRING_length(text)));
  const bool plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~' && c != '*'; });
  return plain && name.size() <= kLongestName ? name : std::string_view();
}

/// Whether a URI has the name of another kind of identity as its scheme. Schemes have no case.
bool of_another_kind(std::string_view uri) {
  const auto scheme = lower(uri.substr(0, uri.find(':')));
  return scheme == "uid" || scheme == "dns" || scheme == "token";
}

std::string issuer_of(const X509* certificate) {
  const std::unique_ptr<BIO, FreesParts> text(BIO_new(BIO_s_mem()));
  if (!text || X509_NAME_print_ex(text.get(), X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253) < 0)
    return {};
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, std::min(static_cast<std::size_t>(std::max(size, 0L)), kLongestName)};
}

}  // namespace

Identity certified(const SSL& of) {
  const std::unique_ptr<X509, FreesParts> certificate(SSL_get1_peer_certificate(&of));
  if (!certificate || SSL_get_verify_result(&of) != X509_V_OK) return {};
  const std::unique_ptr<GENERAL_NAMES, FreesParts> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  if (!names) return {};
  std::string dns;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI) {
      const auto uri = usable(name->d.uniformResourceIdentifier);
      if (uri.find("://") != std::string_view::npos && !of_another_kind(uri))
        return {.kind = Identity::Kind::certificate,
                .name = std::string(uri),
                .issuer = issuer_of(certificate.get())};
    } else if (name->type == GEN_DNS && dns.empty()) {
      dns = lower(usable(name->d.dNSName));
    }
  }
  if (dns.empty()) return {};
  return {.kind = Identity::Kind::certificate, .name = "dns:" + dns, .issuer = issuer_of(certificate.get())};
}

}  // namespace mf::transport
