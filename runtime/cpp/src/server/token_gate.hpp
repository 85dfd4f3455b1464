// The tokens that clients show. Thread-safe.
//
// A token that was sent in clear is anybody's, and is refused. Expired tokens, and those of a key that was
// taken out of the file, end the connections that were made with them.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "mf/core/file_stamp.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/secret.hpp"
#include "mf/tokens/keys.hpp"

namespace mf::server {

class TokenGate {
 public:
  /// Throws Error(INVALID_ARGUMENT), which names the file, for keys that cannot be used.
  TokenGate(std::string file, std::string audience, Log log);

  /// Reads the keys again if the file was replaced, or `always`. False: they cannot be used, which the log
  /// says, and those read before stay in use.
  bool refresh(bool always);

  /// UNAUTHENTICATED, without any part of the token.
  [[nodiscard]] Outcome<TokenClaims> claims_of(const Secret& token, std::string_view peer) const;
  /// Of a token that it has accepted before.
  [[nodiscard]] bool still_accepts(const TokenClaims& claims) const;

 private:
  [[nodiscard]] std::shared_ptr<const TokenKeys> keys() const;

  const std::string file_;
  const std::string audience_;
  const Log log_;
  mutable std::mutex mutex_;
  FileStamp stamp_;
  std::shared_ptr<const TokenKeys> keys_;
};

[[nodiscard]] Identity identity_of(const TokenClaims& claims);

}  // namespace mf::server
