// base64url of RFC 4648 without padding: each sequence of bytes has one spelling, and no other is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mf::tokens {

[[nodiscard]] std::string to_base64url(std::string_view bytes);
/// Nothing if it is no base64url, has padding, or has bits behind the last byte.
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

}  // namespace mf::tokens
