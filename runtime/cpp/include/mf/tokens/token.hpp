// R3. Tokens: signed statements that name their bearer, for one service and a limited time.
//
// A token is PASETO v4.public (decision 0086), so Ed25519 signs it and no part of it names an algorithm:
//
//     "v4.public." base64url(claims || signature) "." base64url(footer)
//
// `claims` is a JSON object of texts, `footer` is {"kid":"ID"} to the byte, where ID names the key: the
// thumbprint of RFC 7638. Nothing is parsed before the signature was verified: the size is bounded, and the
// footer is compared with those of the known keys. All functions are thread-safe, and no message contains any
// part of a token.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mf/core/secret.hpp"

namespace mf {

/// A longer token is refused unread.
inline constexpr std::size_t kMaxToken = 2'048;
/// `sub`, `aud` and `iss` have at most so many bytes.
inline constexpr std::size_t kMaxTokenClaim = 255;
/// By how much the clocks of a token's issuer and of the server that verifies it may differ.
inline constexpr std::chrono::seconds kTokenSkew{60};

/// What a token says.
struct TokenClaims {
  std::string subject;   // sub: the identity of the bearer
  std::string audience;  // aud: the service that it is for
  std::chrono::sys_seconds expires{};
  std::optional<std::chrono::sys_seconds> not_before{};
  std::optional<std::chrono::sys_seconds> issued{};
  std::string issuer{};  // iss; empty: not given
  std::string key_id{};  // of the key that has signed it

  friend bool operator==(const TokenClaims&, const TokenClaims&) = default;
};

/// Why a token is refused, in the order of the checks; the names are those of Python and of the vectors.
enum class TokenFault : std::uint8_t {
  oversized,      // longer than kMaxToken
  version,        // does not begin with "v4.public.": another version, algorithm or standard
  form,           // not two parts behind that, or too short for a signature
  encoding,       // not base64url without padding, or not its one spelling
  unknown_key,    // the footer names none of the keys
  signature,      // altered, or signed by another key
  text,           // the claims are not UTF-8
  claims,         // no object of the claims above with texts, a claim is missing, or is not what it should be
  duplicate,      // a claim is given twice
  audience,       // for another service
  not_yet_valid,  // before nbf, or issued in the future, by more than the skew
  expired,        // after exp by more than the skew
};

/// "not_yet_valid"
[[nodiscard]] const char* name(TokenFault fault) noexcept;

struct TokenVerdict {
  std::optional<TokenClaims> claims{};  // only if the token is accepted
  TokenFault fault{};                   // only if it is refused
  std::string message{};                // the fault in a sentence, without any text of the token

  explicit operator bool() const noexcept { return claims.has_value(); }
};

namespace tokens {

/// The claims that these bytes are, without any check of time and audience.
[[nodiscard]] TokenVerdict read_claims(std::string_view json);
/// The same of a token whose signature is not verified, to show users their own token.
[[nodiscard]] TokenVerdict read_unverified(std::string_view token);
/// The claims as JSON, to be signed. Throws Error(INVALID_ARGUMENT) for claims that every server refuses.
[[nodiscard]] std::string write_claims(const TokenClaims& claims);
/// "2026-11-29T04:05:06Z"
[[nodiscard]] std::string in_words(std::chrono::sys_seconds time);

}  // namespace tokens
}  // namespace mf
