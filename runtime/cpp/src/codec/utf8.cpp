#include "mf/codec/utf8.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "mf/core/text.hpp"

namespace mf::codec {
namespace {

std::size_t ascii_prefix(std::span<const std::byte> bytes) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if ((word & kHighBits) != 0) {
      break;
    }
  }
  while (at < bytes.size() && std::to_integer<unsigned>(bytes[at]) < 0x80) {
    ++at;
  }
  return at;
}

}  // namespace

std::size_t valid_utf8_prefix(std::span<const std::byte> bytes) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t at = 0;
  while ((at += ascii_prefix(bytes.subspan(at))) < bytes.size()) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return at;
}

}  // namespace mf::codec
