#include "mf/codec/overwrite.hpp"

#include <cstdint>
#include <cstring>

#include "mf/codec/utf8.hpp"
#include "mf/codec/writer.hpp"

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec::detail {

namespace {

// The length of a string of libstdc++ is set by a member that is private; an explicit instantiation may name
// it all the same.
#if defined(__GLIBCXX__) && _GLIBCXX_USE_CXX11_ABI && !defined(_GLIBCXX_DEBUG)
void set_length(std::string& string, std::size_t size);

template <void (std::string::*kMember)(std::size_t)>
struct StringLength {
  friend void set_length(std::string& string, std::size_t size) { (string.*kMember)(size); }
};
template struct StringLength<&std::string::_M_set_length>;
#else
void set_length(std::string& string, std::size_t size) {
  string.resize(size);
}
#endif

bool is_ascii(std::uint64_t bits) noexcept {
  return (bits & 0x8080808080808080U) == 0;
}
bool is_ascii(const Sixteen& bits) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, &bits, sizeof(halves));
  return is_ascii(halves[0] | halves[1]);
}

/// copy_bytes() that looks at what it copies.
bool copy_text(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size > 64) {
    std::memcpy(to, from, size);
    return codec::is_ascii(from, size);
  }
  if (size >= 32) return is_ascii(copy_double_ends(to, from, size));
  if (size >= 16) return is_ascii(copy_ends<Sixteen>(to, from, size));
  if (size >= 8) return is_ascii(copy_ends<std::uint64_t>(to, from, size));
  if (size >= 4) return is_ascii(copy_ends<std::uint32_t>(to, from, size));
  copy_bytes(to, from, size);
  return codec::is_ascii(from, size);
}

}  // namespace

bool overwrite(std::string& string, std::string_view text) {
  const auto* const from = reinterpret_cast<const std::byte*>(text.data());
  if (text.size() > string.capacity()) {
    string = std::string(text);
    return codec::is_ascii(from, text.size());
  }
  const bool ascii = copy_text(reinterpret_cast<std::byte*>(string.data()), from, text.size());
  set_length(string, text.size());
  return ascii;
}

}  // namespace mf::codec::detail
