// The page of the dashboard, which is that of `mf dash`: the files in cli/mf_tools/dash/page, which the build
// puts into the program (cmake/embed.cmake).
#pragma once

#include <string_view>

#include "http/page.hpp"

namespace mf::http {

/// Header fields of all answers of a dashboard: nothing but what it serves is loaded or asked.
inline constexpr std::string_view kDashPolicy =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

/// Null if the page has no such file.
[[nodiscard]] const PageFile* dash_file(std::string_view path) noexcept;

}  // namespace mf::http
