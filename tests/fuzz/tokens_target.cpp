// What any bytes must come to that are taken for a token, or for the claims of one: claims that are written
// and read again as themselves, or a refusal in words.

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mf/tokens/keys.hpp"
#include "mf/tokens/token.hpp"
#include "targets.hpp"

namespace fuzz {
namespace {

/// Those that sign the tokens of tests/vectors.
const mf::TokenKeys& keys() {
  static const mf::TokenKeys kKeys = mf::TokenKeys::of_pem(
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
      "-----END PUBLIC KEY-----\n");
  return kKeys;
}

}  // namespace

bool token_text(std::span<const std::byte> input) {
  if (input.empty()) return false;
  const std::string_view text(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  const bool is_claims = (std::to_integer<unsigned>(input[0]) & 1U) != 0;
  const auto verdict = is_claims ? mf::tokens::read_claims(text) : mf::tokens::read_unverified(text);
  if (!is_claims) {
    const auto verified = keys().check_signature(text);
    require(!verified || (verdict && verified.claims->subject == verdict.claims->subject));
    require(bool(verified) == verified.message.empty());
  }
  if (!verdict) {
    require(!verdict.message.empty());
    return false;
  }
  mf::TokenClaims claims = *verdict.claims;
  claims.key_id.clear();
  const auto is_writable = [](std::chrono::sys_seconds time) {
    return time >= std::chrono::sys_seconds() &&
           time < std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  };
  constexpr std::chrono::sys_seconds kAny{};
  if (is_writable(claims.expires) && is_writable(claims.not_before.value_or(kAny)) &&
      is_writable(claims.issued.value_or(kAny))) {
    const auto again = mf::tokens::read_claims(mf::tokens::write_claims(claims));
    require(again && *again.claims == claims);
  }
  return true;
}

}  // namespace fuzz
