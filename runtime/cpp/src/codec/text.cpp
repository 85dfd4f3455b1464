#include "mf/codec/text.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "mf/codec/writer.hpp"

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec::detail {

namespace {

[[gnu::noinline]] bool fill_long(Reader& reader, std::string& string, std::string_view text) {
  if (text.size() > string.capacity()) {
    string = std::string(text);
  } else {
    string.assign(text);
  }
  return codec::is_ascii(reinterpret_cast<const std::byte*>(text.data()), text.size()) ||
         check_utf8(reader, text);
}

[[gnu::noinline]] bool read_long(Reader& reader, std::string& string) {
  const std::byte* from = nullptr;
  std::size_t length = 0;
  return reader.take_long(from, length) &&
         fill_text(reader, string, {reinterpret_cast<const char*>(from), length});
}

}  // namespace

bool check_utf8(Reader& reader, std::string_view text) {
  const std::size_t good = valid_utf8_prefix(std::as_bytes(std::span(text)));
  return good == text.size() ||
         reader.fail(Fault::invalid_utf8, "a string is not UTF-8", reader.offset() - text.size() + good);
}

#if defined(__GLIBCXX__) && _GLIBCXX_USE_CXX11_ABI && !defined(_GLIBCXX_DEBUG)

namespace {

// What a string of libstdc++ consists of is set by members that are private; an explicit instantiation may
// name them all the same. Where strings are others, or check themselves, the branch below does without (test:
// codec.CheckedLibrary).
void set_length(std::string& string, std::size_t size);
void set_memory(std::string& string, char* memory, std::size_t capacity);

template <void (std::string::*kSetLength)(std::size_t), void (std::string::*kSetData)(char*),
          void (std::string::*kSetCapacity)(std::size_t)>
struct StringPlace {
  friend void set_length(std::string& string, std::size_t size) { (string.*kSetLength)(size); }
  friend void set_memory(std::string& string, char* memory, std::size_t capacity) {
    (string.*kSetData)(memory);
    (string.*kSetCapacity)(capacity);
  }
};
template struct StringPlace<&std::string::_M_set_length, &std::string::_M_data, &std::string::_M_capacity>;

[[gnu::noinline]] void release(std::string& string) noexcept {
  std::string().swap(string);
}

/// Memory for so many letters and no more; what the string held is lost.
void make_room(std::string& string, std::size_t size) {
  if (string.capacity() != std::string().capacity()) [[unlikely]] {
    release(string);
  }
  set_memory(string, std::allocator<char>().allocate(size + 1), size);
}

bool is_ascii(std::uint64_t bits) noexcept {
  return (bits & 0x8080808080808080U) == 0;
}
bool is_ascii(const Sixteen& bits) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, &bits, sizeof(halves));
  return is_ascii(halves[0] | halves[1]);
}

/// copy_bytes() of up to 64 that looks at what it copies.
[[gnu::always_inline]] inline bool copy_text(std::byte* to, const std::byte* from,
                                             std::size_t size) noexcept {
  if (size >= 32) return is_ascii(copy_double_ends(to, from, size));
  if (size >= 16) return is_ascii(copy_ends<Sixteen>(to, from, size));
  if (size >= 8) return is_ascii(copy_ends<std::uint64_t>(to, from, size));
  if (size >= 4) return is_ascii(copy_ends<std::uint32_t>(to, from, size));
  if (size == 0) return true;
  const std::byte first = from[0];
  const std::byte middle = from[size / 2];
  const std::byte last = from[size - 1];
  to[0] = first;
  to[size / 2] = middle;
  to[size - 1] = last;
  return is_ascii(std::to_integer<std::uint64_t>(first | middle | last));
}

/// Of up to 64 letters, for which there is room.
[[gnu::always_inline]] inline bool fill_short(Reader& reader, std::string& string, std::string_view text) {
  const bool ascii = copy_text(reinterpret_cast<std::byte*>(string.data()),
                               reinterpret_cast<const std::byte*>(text.data()), text.size());
  set_length(string, text.size());
  return ascii || check_utf8(reader, text);
}

// A function that makes calls saves registers first: so fill_text() makes none, but ends in a jump to one of
// these.

[[gnu::noinline]] bool fill_new(Reader& reader, std::string& string, std::string_view text) {
  make_room(string, text.size());
  return fill_short(reader, string, text);
}

}  // namespace

bool fill_text(Reader& reader, std::string& string, std::string_view text) {
  if (text.size() > 64) [[unlikely]]
    return fill_long(reader, string, text);
  if (text.size() > string.capacity()) return fill_new(reader, string, text);
  return fill_short(reader, string, text);
}

#else

bool fill_text(Reader& reader, std::string& string, std::string_view text) {
  return fill_long(reader, string, text);
}

#endif

bool read_text(Reader& reader, std::string& string) {
  const std::byte* from = nullptr;
  std::size_t length = 0;
  if (!reader.take_short(from, length)) [[unlikely]]
    return read_long(reader, string);
  return fill_text(reader, string, {reinterpret_cast<const char*>(from), length});
}

}  // namespace mf::codec::detail
