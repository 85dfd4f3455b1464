// The parts of a token, of which nothing is believed before the signature was verified.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tokens/base64url.hpp"
#include "tokens/verdict.hpp"

namespace mf::tokens {

inline constexpr std::string_view kHeader = "v4.public.";
inline constexpr std::size_t kSignature = 64;

struct Parts {
  std::string claims;
  std::string signature;
  std::string footer;

  /// The fault of a token that has not these parts.
  std::optional<TokenVerdict> split(std::string_view token);
};

/// What is signed: PASETO's encoding of the header, the claims, the footer, and no implicit assertion.
[[nodiscard]] std::string pre_authenticated(std::string_view claims, std::string_view footer);

}  // namespace mf::tokens
