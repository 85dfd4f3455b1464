// Authorities and certificates for tests of TLS, made at run time: files in a folder that is removed with its
// authority.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mf/transport/tls.hpp"

namespace mftest {

/// Must run before any other use of OpenSSL: otherwise OpenSSL frees data at the program's exit that running
/// threads still use. The runtime requests the same at its first use, but certificates are made earlier.
inline const int kStaysUntilTheEnd = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

class Authority {
 public:
  struct Wanted {
    std::string names = "DNS:localhost,IP:127.0.0.1";
    long valid_from = -3600;  // seconds from now
    long valid_until = 3600;
  };

  explicit Authority(const std::string& name = "MF test authority") : key_(new_key()) {
    std::string folder = (std::filesystem::temp_directory_path() / "mf-tls-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for certificates");
    folder_ = folder;
    certificate_ = certificate(name, *key_, {});
    add_extension(*certificate_, NID_basic_constraints, "critical,CA:TRUE");
    sign(*certificate_);
    save(path("ca.pem"), [this](std::FILE* to) { return PEM_write_X509(to, certificate_.get()); });
  }
  ~Authority() { std::filesystem::remove_all(folder_); }
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  [[nodiscard]] std::string file() const { return path("ca.pem"); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  /// A new certificate and its key.
  [[nodiscard]] mf::TlsOptions issue(const Wanted& wanted) {
    const auto number = std::to_string(++issued_);
    const auto key = new_key();
    const auto made = certificate("MF test " + number, *key, wanted);
    if (!wanted.names.empty()) add_extension(*made, NID_subject_alt_name, wanted.names);
    sign(*made);
    mf::TlsOptions options{.certificate = path(number + ".pem"), .key = path(number + ".key")};
    save(options.certificate, [&](std::FILE* to) { return PEM_write_X509(to, made.get()); });
    save(options.key, [&](std::FILE* to) {
      return PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return options;
  }
  [[nodiscard]] mf::TlsOptions issue() { return issue(Wanted()); }
  /// A list that names these certificates as revoked, in the place of the earlier one. Its path.
  [[nodiscard]] std::string revoke(const std::vector<mf::TlsOptions>& revoked) {
    const List list(X509_CRL_new());
    const Time now(X509_gmtime_adj(nullptr, 0));
    const Time next(X509_gmtime_adj(nullptr, 3600));
    check(list && now && next && X509_CRL_set_version(list.get(), 1) == 1);
    check(X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get())) == 1);
    check(X509_CRL_set1_lastUpdate(list.get(), now.get()) == 1);
    check(X509_CRL_set1_nextUpdate(list.get(), next.get()) == 1);
    for (const auto& each : revoked) {
      const Certificate of(read(each.certificate));
      X509_REVOKED* const entry = X509_REVOKED_new();
      check(entry != nullptr);
      check(X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(of.get())) == 1);
      check(X509_REVOKED_set_revocationDate(entry, now.get()) == 1);
      check(X509_CRL_add0_revoked(list.get(), entry) == 1);
    }
    check(X509_CRL_sort(list.get()) == 1 && X509_CRL_sign(list.get(), key_.get(), EVP_sha256()) > 0);
    save(path("new.crl"), [&](std::FILE* to) { return PEM_write_X509_CRL(to, list.get()); });
    std::filesystem::rename(path("new.crl"), path("revoked.crl"));
    return path("revoked.crl");
  }
  /// Options of a client that accepts certificates of this authority, and has none itself.
  [[nodiscard]] mf::TlsOptions accepted() const { return {.ca = file()}; }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const noexcept { X509_free(certificate); }
    void operator()(X509_CRL* list) const noexcept { X509_CRL_free(list); }
    void operator()(ASN1_TIME* time) const noexcept { ASN1_TIME_free(time); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;
  using List = std::unique_ptr<X509_CRL, Free>;
  using Time = std::unique_ptr<ASN1_TIME, Free>;

  static void check(bool good) {
    if (!good) throw std::runtime_error("OpenSSL makes no certificate for the test");
  }
  static Certificate read(const std::string& path) {
    std::FILE* const from = std::fopen(path.c_str(), "r");
    check(from != nullptr);
    Certificate found(PEM_read_X509(from, nullptr, nullptr, nullptr));
    (void)std::fclose(from);
    check(found != nullptr);
    return found;
  }
  static Key new_key() {
    Key key(EVP_EC_gen("P-256"));
    check(key != nullptr);
    return key;
  }

  Certificate certificate(const std::string& name, EVP_PKEY& key, const Wanted& wanted) {
    Certificate made(X509_new());
    check(made != nullptr);
    check(X509_set_version(made.get(), X509_VERSION_3) == 1);
    check(ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_) == 1);
    check(X509_gmtime_adj(X509_getm_notBefore(made.get()), wanted.valid_from) != nullptr);
    check(X509_gmtime_adj(X509_getm_notAfter(made.get()), wanted.valid_until) != nullptr);
    check(X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1);
    const auto* issuer = certificate_ ? certificate_.get() : made.get();
    check(X509_set_issuer_name(made.get(), X509_get_subject_name(issuer)) == 1);
    check(X509_set_pubkey(made.get(), &key) == 1);
    return made;
  }
  static void add_extension(X509& certificate, int kind, const std::string& value) {
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    check(extension != nullptr);
    const int added = X509_add_ext(&certificate, extension, -1);
    X509_EXTENSION_free(extension);
    check(added == 1);
  }
  void sign(X509& certificate) { check(X509_sign(&certificate, key_.get(), EVP_sha256()) > 0); }
  template <class Write>
  static void save(const std::string& path, Write write) {
    std::FILE* const to = std::fopen(path.c_str(), "w");
    check(to != nullptr);
    const bool written = write(to) == 1;
    check(std::fclose(to) == 0 && written);
  }

  std::filesystem::path folder_;
  Key key_;
  Certificate certificate_;
  long serial_ = 0;
  int issued_ = 0;
};

}  // namespace mftest
