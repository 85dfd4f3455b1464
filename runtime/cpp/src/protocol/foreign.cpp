#include "mf/protocol/foreign.hpp"

#include <algorithm>
#include <array>

#include "mf/protocol/control.hpp"
#include "mf/protocol/frame.hpp"

namespace mf::protocol {
namespace {

// The first four bytes of what browsers, their proxies and servers send.
constexpr std::array<std::string_view, 9> kHttp{"GET ", "POST", "HEAD", "PUT ", "DELE",
                                                "OPTI", "CONN", "PRI ", "HTTP"};

}  // namespace

std::string_view looks_like(std::span<const std::byte> first) noexcept {
  constexpr std::size_t kEnough = 4;
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.size() < kEnough) return {};
  if (begins_tls(first[0]) && first[1] == std::byte{3} && first[2] <= std::byte{4}) return "TLS";
  if (std::ranges::find(kHttp, text.substr(0, kEnough)) != kHttp.end()) return "HTTP";
  if (text.size() < kHeaderSize + kMagic.size()) return {};
  const auto magic = first.subspan(kHeaderSize, kMagic.size());
  return std::ranges::equal(magic, std::as_bytes(std::span(kMagic))) ? "MF" : std::string_view();
}

}  // namespace mf::protocol
