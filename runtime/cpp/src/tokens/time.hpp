// Times of RFC 3339, as PASETO writes them: "2026-11-29T04:05:06Z", with a fraction or an offset, too.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace mf::tokens {

/// Nothing if it is no such time. A fraction is cut off.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) noexcept;

}  // namespace mf::tokens
