#include "controller/secret.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "mf/core/hex.hpp"

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

Uuid nonce_of(const Uuid& secret) {
  constexpr std::string_view kPurpose = "mf process ";  // it distinguishes this digest from the stored one
  std::array<unsigned char, kPurpose.size() + sizeof secret.bytes> text{};
  std::ranges::copy(secret.bytes, std::ranges::copy(kPurpose, text.begin()).out);
  Digest digest{};
  ::SHA256(text.data(), text.size(), digest.data());
  Uuid nonce;
  std::copy_n(digest.begin(), nonce.bytes.size(), nonce.bytes.begin());
  return nonce;
}

std::string public_id(const Uuid& nonce, std::size_t bytes) {
  const Digest digest = digest_of(nonce);
  return to_hex(std::span<const std::uint8_t>(digest).first(bytes));
}

}  // namespace mf::controller
