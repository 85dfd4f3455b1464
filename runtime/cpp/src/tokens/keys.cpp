#include "mf/tokens/keys.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "mf/core/error.hpp"
#include "tokens/files.hpp"
#include "tokens/parts.hpp"

namespace mf {
namespace {

using tokens::refused;

struct Free {
  void operator()(BIO* bio) const noexcept { (void)BIO_free_all(bio); }
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY_CTX* context) const noexcept { EVP_PKEY_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Digest = std::unique_ptr<EVP_MD_CTX, Free>;
using Pkey = std::shared_ptr<EVP_PKEY>;

Pkey owned(EVP_PKEY* key) {
  return {key, [](EVP_PKEY* last) { EVP_PKEY_free(last); }};
}

[[noreturn]] void failed(const std::string& what) {
  ERR_clear_error();
  throw Error(Code::internal, Execution::not_executed, "OpenSSL cannot " + what);
}

[[noreturn]] void unusable(const std::string& where, const std::string& why) {
  ERR_clear_error();
  throw Error(Code::invalid_argument, Execution::not_executed, where + ": " + why);
}

/// Without this OpenSSL would ask for a passphrase at the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*data*/) {
  return -1;
}

Bio memory_of(std::string_view text) {
  Bio bio(BIO_new_mem_buf(text.empty() ? "" : text.data(), static_cast<int>(text.size())));
  if (!bio) failed("read a key");
  return bio;
}

std::string written(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

/// The thumbprint of RFC 7638: SHA-256 of the key as JSON with sorted names.
std::string id_of(const EVP_PKEY* key) {
  std::array<unsigned char, 32> raw{};
  std::size_t size = raw.size();
  if (EVP_PKEY_get_raw_public_key(key, raw.data(), &size) != 1 || size != raw.size()) failed("name a key");
  const std::string json = R"({"crv":"Ed25519","kty":"OKP","x":")" +
                           tokens::to_base64url({reinterpret_cast<const char*>(raw.data()), raw.size()}) +
                           R"("})";
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int length = 0;
  if (EVP_Digest(json.data(), json.size(), hash.data(), &length, EVP_sha256(), nullptr) != 1)
    failed("name a key");
  return tokens::to_base64url({reinterpret_cast<const char*>(hash.data()), length});
}

std::string footer_of(const std::string& id) {
  return R"({"kid":")" + id + R"("})";
}

bool is_signed_by(EVP_PKEY* key, const tokens::Parts& parts) {
  const Digest context(EVP_MD_CTX_new());
  const std::string all = tokens::pre_authenticated(parts.claims, parts.footer);
  const auto* const signature = reinterpret_cast<const unsigned char*>(parts.signature.data());
  const auto* const text = reinterpret_cast<const unsigned char*>(all.data());
  const bool good = context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
                    EVP_DigestVerify(context.get(), signature, parts.signature.size(), text, all.size()) == 1;
  ERR_clear_error();
  return good;
}

struct Freed {
  void operator()(void* memory) const noexcept { OPENSSL_free(memory); }
};

}  // namespace

// Public keys

TokenKeys TokenKeys::read(const std::string& path) {
  const Secret text = tokens::read_file(path, Readers::all);
  return of_pem(text.reveal(), "'" + path + "'");
}

TokenKeys TokenKeys::of_pem(std::string_view pem, const std::string& where) {
  const Bio bio = memory_of(pem);
  TokenKeys keys;
  for (;;) {
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) break;
    const std::unique_ptr<char, Freed> own_name(name);
    const std::unique_ptr<char, Freed> own_header(header);
    const std::unique_ptr<unsigned char, Freed> own_data(data);
    if (std::string_view(name) != PEM_STRING_PUBLIC)
      unusable(where,
               "it holds something other than public keys; a server that verifies tokens needs no more");
    const auto* at = const_cast<const unsigned char*>(data);
    const Pkey key = owned(d2i_PUBKEY(nullptr, &at, size));
    if (!key || at != data + size || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
      unusable(where, "it holds a public key that is not of Ed25519");
    auto id = id_of(key.get());
    auto footer = footer_of(id);
    keys.keys_.push_back({key, std::move(id), std::move(footer)});
  }
  const auto reason = ERR_GET_REASON(ERR_peek_last_error());
  if (keys.keys_.empty() || reason != PEM_R_NO_START_LINE)
    unusable(where, "it holds no public key of Ed25519 in PEM format, or one that is damaged");
  ERR_clear_error();
  if (keys.keys_.size() > kMost) unusable(where, "it holds more than " + std::to_string(kMost) + " keys");
  return keys;
}

std::vector<std::string> TokenKeys::ids() const {
  std::vector<std::string> all;
  for (const auto& each : keys_) all.push_back(each.id);
  return all;
}

TokenVerdict TokenKeys::check_signature(std::string_view token) const {
  tokens::Parts parts;
  if (auto fault = parts.split(token)) return *fault;
  const auto key = std::ranges::find(keys_, parts.footer, &Key::footer);
  if (key == keys_.end())
    return refused(TokenFault::unknown_key, "the token is signed with a key that is not known here");
  if (!is_signed_by(key->key.get(), parts))
    return refused(TokenFault::signature, "the signature of the token is not valid");
  auto verdict = tokens::read_claims(parts.claims);
  if (verdict) verdict.claims->key_id = key->id;
  return verdict;
}

TokenVerdict TokenKeys::verify(std::string_view token, std::string_view audience,
                               std::chrono::system_clock::time_point at) const {
  // In seconds, since nanoseconds of 64 bits end in the year 2262.
  const auto now = std::chrono::floor<std::chrono::seconds>(at);
  auto verdict = check_signature(token);
  if (!verdict) return verdict;
  const TokenClaims& claims = *verdict.claims;
  const std::string skew = ", and clocks may differ by " + std::to_string(kTokenSkew.count()) + " s";
  if (claims.audience != audience) return refused(TokenFault::audience, "the token is for another service");
  for (const auto& from : {claims.not_before, claims.issued})
    if (from && *from > now + kTokenSkew)
      return refused(TokenFault::not_yet_valid,
                     "the token is not valid before " + tokens::in_words(*from) + skew);
  if (claims.expires + kTokenSkew <= now)
    return refused(TokenFault::expired,
                   "the token has expired at " + tokens::in_words(claims.expires) + skew);
  return verdict;
}

// Private keys

TokenSigner::TokenSigner(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)), id_(id_of(key_.get())) {}

TokenSigner TokenSigner::generate() {
  Pkey key = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key) failed("make a key");
  return TokenSigner(std::move(key));
}

TokenSigner TokenSigner::read(const std::string& path) {
  return of_pem(tokens::read_file(path, Readers::owner), "'" + path + "'");
}

TokenSigner TokenSigner::of_pem(const Secret& pem, const std::string& where) {
  const Bio bio = memory_of(pem.reveal());
  Pkey key = owned(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    unusable(where, "it holds no private key of Ed25519 in PEM format without a passphrase");
  ERR_clear_error();
  return TokenSigner(std::move(key));
}

Secret TokenSigner::sign(const TokenClaims& claims) const {
  const std::string json = tokens::write_claims(claims);
  const std::string footer = footer_of(id_);
  const std::string all = tokens::pre_authenticated(json, footer);
  std::array<unsigned char, tokens::kSignature> signature{};
  std::size_t size = signature.size();
  const Digest context(EVP_MD_CTX_new());
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size,
                     reinterpret_cast<const unsigned char*>(all.data()), all.size()) != 1)
    failed("sign a token");
  const std::string signed_claims = json + std::string(reinterpret_cast<const char*>(signature.data()), size);
  const std::string token =
      std::string(tokens::kHeader) + tokens::to_base64url(signed_claims) + "." + tokens::to_base64url(footer);
  if (token.size() > kMaxToken) unusable("the claims", "the token would be longer than is accepted");
  return Secret(token);
}

std::string TokenSigner::public_pem() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PUBKEY(bio.get(), key_.get()) != 1) failed("write a key");
  return written(bio.get());
}

Secret TokenSigner::private_pem() const {
  const Bio bio(BIO_new(BIO_s_secmem()));
  if (!bio ||
      PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    failed("write a key");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return Secret(std::string_view(bytes, static_cast<std::size_t>(size)));
}

}  // namespace mf
