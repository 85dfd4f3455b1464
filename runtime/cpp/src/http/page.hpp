// The page by which people try calls, as the files that a browser loads.
#pragma once

#include <string_view>

namespace mf::http {

struct PageFile {
  std::string_view type;
  std::string_view text;
};

/// Header fields of these files: nothing but what this door serves is loaded or asked.
inline constexpr std::string_view kPagePolicy =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n";

/// Null if the page has no such file.
[[nodiscard]] const PageFile* page_file(std::string_view path) noexcept;

}  // namespace mf::http
