#include "controller/secret.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>
#include <span>

namespace mf::controller {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digest_of(const Uuid& of) {
  Digest digest{};
  ::SHA256(of.bytes.data(), of.bytes.size(), digest.data());
  return digest;
}

}  // namespace

Bytes hash_of(const Uuid& secret) {
  const Digest digest = digest_of(secret);
  return Bytes(std::as_bytes(std::span(digest)));
}

bool is_hash_of(const Bytes& hash, const Uuid& secret) {
  const Digest digest = digest_of(secret);
  return hash.size() == digest.size() && ::CRYPTO_memcmp(hash.data(), digest.data(), digest.size()) == 0;
}

std::string public_id(const Uuid& nonce) {
  constexpr const char* kDigits = "0123456789abcdef";
  constexpr std::size_t kBytes = 4;
  const Digest digest = digest_of(nonce);
  std::string text;
  for (std::size_t i = 0; i < kBytes; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace mf::controller
