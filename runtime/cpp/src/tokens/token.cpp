#include "mf/tokens/token.hpp"

#include <array>
#include <cstddef>

#include "tokens/parts.hpp"

namespace mf {

const char* name(TokenFault fault) noexcept {
  constexpr std::array<const char*, 12> kNames{"oversized",   "version",   "form",          "encoding",
                                               "unknown_key", "signature", "text",          "claims",
                                               "duplicate",   "audience",  "not_yet_valid", "expired"};
  return kNames[static_cast<std::size_t>(fault)];
}

namespace tokens {

std::optional<TokenVerdict> Parts::split(std::string_view token) {
  if (token.size() > kMaxToken)
    return refused(TokenFault::oversized, "the token is longer than " + std::to_string(kMaxToken) + " bytes");
  if (!token.starts_with(kHeader))
    return refused(TokenFault::version, "it is no token of PASETO v4.public, and no other kind is accepted");
  token.remove_prefix(kHeader.size());
  const auto dot = token.find('.');
  if (dot == std::string_view::npos || token.find('.', dot + 1) != std::string_view::npos)
    return refused(TokenFault::form, "the token has not the two parts that it should have");
  auto payload = from_base64url(token.substr(0, dot));
  auto last = from_base64url(token.substr(dot + 1));
  if (!payload || !last) return refused(TokenFault::encoding, "the token is no base64url without padding");
  if (payload->size() < kSignature)
    return refused(TokenFault::form, "the token is too short for a signature");
  signature = payload->substr(payload->size() - kSignature);
  payload->resize(payload->size() - kSignature);
  claims = std::move(*payload);
  footer = std::move(*last);
  return std::nullopt;
}

namespace {

void append_piece(std::string& to, std::string_view piece) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    to += static_cast<char>(std::uint64_t{piece.size()} >> shift & 0xffU);
  to += piece;
}

}  // namespace

std::string pre_authenticated(std::string_view claims, std::string_view footer) {
  std::string all("\x04\0\0\0\0\0\0\0", 8);
  for (const std::string_view piece : {kHeader, claims, footer, std::string_view()}) append_piece(all, piece);
  return all;
}

TokenVerdict read_unverified(std::string_view token) {
  Parts parts;
  if (auto fault = parts.split(token)) return *fault;
  constexpr std::string_view kBefore = R"({"kid":")";
  constexpr std::string_view kAfter = R"("})";
  const std::string_view footer = parts.footer;
  if (footer.size() <= kBefore.size() + kAfter.size() || !footer.starts_with(kBefore) ||
      !footer.ends_with(kAfter))
    return refused(TokenFault::unknown_key, "the token does not name the key that has signed it");
  auto verdict = read_claims(parts.claims);
  if (verdict)
    verdict.claims->key_id = footer.substr(kBefore.size(), footer.size() - kBefore.size() - kAfter.size());
  return verdict;
}

}  // namespace tokens
}  // namespace mf
