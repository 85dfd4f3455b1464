// R3. The keys of tokens: a TokenSigner has a private key and issues tokens, TokenKeys are the public keys by
// which a server verifies them.
//
//     mf::TokenKeys keys = mf::TokenKeys::read("/etc/mf/tokens.pub");
//     const mf::TokenVerdict verdict = keys.verify(token, "shop.Orders", std::chrono::system_clock::now());
//
// Files are PEM, as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them. A file with a
// private key or a token must belong to root or to the user of this process, and no other user may read it; a
// file of public keys may be read by all, and written by its owner alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/secret.hpp"
#include "mf/tokens/token.hpp"

struct evp_pkey_st;

namespace mf {

class TokenKeys {
 public:
  /// A file has at most so many: the present one, the next one, and those whose tokens expire.
  static constexpr std::size_t kMost = 16;

  /// All public keys of a file. Throws Error(INVALID_ARGUMENT), which names the file, if it cannot be read,
  /// may be written by others, or holds anything but public keys of Ed25519.
  [[nodiscard]] static TokenKeys read(const std::string& path);
  /// The same of a file's text; `where` is named in messages.
  [[nodiscard]] static TokenKeys of_pem(std::string_view pem, const std::string& where = "the key");

  /// Accepts a token that one of these keys has signed for this audience, and that is valid at `now`.
  [[nodiscard]] TokenVerdict verify(std::string_view token, std::string_view audience,
                                    std::chrono::system_clock::time_point now) const;

  /// Whether one of these keys has signed the token; its audience and time are not looked at.
  [[nodiscard]] TokenVerdict check_signature(std::string_view token) const;

  [[nodiscard]] std::vector<std::string> ids() const;

 private:
  struct Key {
    std::shared_ptr<evp_pkey_st> key;
    std::string id;
    std::string footer;
  };
  std::vector<Key> keys_;
};

class TokenSigner {
 public:
  [[nodiscard]] static TokenSigner generate();
  /// Throws Error(INVALID_ARGUMENT), which names the file, if it cannot be read, may be read by others, or
  /// holds no private key of Ed25519 without a passphrase.
  [[nodiscard]] static TokenSigner read(const std::string& path);
  [[nodiscard]] static TokenSigner of_pem(const Secret& pem, const std::string& where = "the key");

  /// Throws Error(INVALID_ARGUMENT) for claims that every server refuses. `key_id` is this key's.
  [[nodiscard]] Secret sign(const TokenClaims& claims) const;

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::string public_pem() const;
  [[nodiscard]] Secret private_pem() const;

 private:
  explicit TokenSigner(std::shared_ptr<evp_pkey_st> key);

  std::shared_ptr<evp_pkey_st> key_;
  std::string id_;
};

namespace tokens {

/// The token in a file, without the newline behind it; the file is one that others cannot read.
[[nodiscard]] Secret read_token(const std::string& path);
/// Makes a file that only this user can read, or (`for_all`) only this user can write. Throws
/// Error(INVALID_ARGUMENT) if there is one, or a symbolic link, already.
void write_new(const std::string& path, std::string_view text, bool for_all = false);

}  // namespace tokens
}  // namespace mf
