#include "http/dash_page.hpp"

#include <array>
#include <utility>

namespace mf::http {
namespace {

// Each is `constexpr unsigned char kName[]`, with the bytes of one file.
#include "dash_page.inc"

template <std::size_t Size>
std::string_view text_in(const unsigned char (&bytes)[Size]) noexcept {
  return {reinterpret_cast<const char*>(bytes), Size};
}

}  // namespace

const PageFile* dash_file(std::string_view path) noexcept {
  static const std::array<std::pair<std::string_view, PageFile>, 4> kFiles{{
      {"/", {"text/html; charset=utf-8", text_in(k_index_html)}},
      {"/dash.css", {"text/css; charset=utf-8", text_in(k_dash_css)}},
      {"/model.js", {"text/javascript; charset=utf-8", text_in(k_model_js)}},
      {"/dash.js", {"text/javascript; charset=utf-8", text_in(k_dash_js)}},
  }};
  for (const auto& [name, file] : kFiles)
    if (name == path) return &file;
  return nullptr;
}

}  // namespace mf::http
