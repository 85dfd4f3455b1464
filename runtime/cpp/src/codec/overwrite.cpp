#include "mf/codec/overwrite.hpp"

#include <cstring>

#include "mf/codec/utf8.hpp"
#include "mf/codec/writer.hpp"

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

using Sixteen [[gnu::vector_size(16)]] = std::uint64_t;

std::uint64_t folded(std::uint64_t bits) noexcept {
  return bits;
}
std::uint64_t folded(const Sixteen& bits) noexcept {
  return bits[0] | bits[1];
}

/// Copies both halves of a text of twice a part at most, which overlap; true if all of it is ASCII.
template <class Part>
bool copy_halves(char* to, const char* from, std::size_t size) noexcept {
  Part first;
  Part last;
  std::memcpy(&first, from, sizeof(Part));
  std::memcpy(&last, from + size - sizeof(Part), sizeof(Part));
  std::memcpy(to, &first, sizeof(Part));
  std::memcpy(to + size - sizeof(Part), &last, sizeof(Part));
  return (folded(first | last) & 0x8080808080808080U) == 0;
}

bool copy_text(char* to, const char* from, std::size_t size) noexcept {
  if (size > 64) {
    std::memcpy(to, from, size);
    return is_ascii(reinterpret_cast<const std::byte*>(from), size);
  }
  if (size > 32) {
    const bool ascii = copy_halves<Sixteen>(to, from, 32);
    return copy_halves<Sixteen>(to + size - 32, from + size - 32, 32) && ascii;
  }
  if (size >= 16) return copy_halves<Sixteen>(to, from, size);
  if (size >= 8) return copy_halves<std::uint64_t>(to, from, size);
  if (size >= 4) return copy_halves<std::uint32_t>(to, from, size);
  if (size == 0) return true;
  const char bits = from[0] | from[size / 2] | from[size - 1];
  to[0] = from[0];
  to[size / 2] = from[size / 2];
  to[size - 1] = from[size - 1];
  return (bits & 0x80) == 0;
}

}  // namespace

bool overwrite(std::string& string, std::string_view text) {
  if (text.size() > string.capacity()) {
    string = std::string(text);
    return is_ascii(reinterpret_cast<const std::byte*>(text.data()), text.size());
  }
  const bool ascii = copy_text(string.data(), text.data(), text.size());
  set_length(string, text.size());
  return ascii;
}

}  // namespace mf::codec::detail
