// R1. Texts: where they lie in the bytes, and into strings, which keep their memory. Fails unless they are
// UTF-8.
//
// std::string::assign() takes three times as long for a short text, and does not check UTF-8: here a text is
// copied and checked in one pass, which takes little longer than either.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mf/codec/reader.hpp"
#include "mf/codec/utf8.hpp"

namespace mf::codec::detail {

/// Fails unless this text, which was just taken, is UTF-8.
[[nodiscard]] bool check_utf8(Reader& reader, std::string_view text);

/// Makes the string this text, which was just taken and is no part of the string.
[[nodiscard]] bool fill_text(Reader& reader, std::string& string, std::string_view text);

/// A length and the text, which is not copied.
[[nodiscard, gnu::always_inline]] inline bool read_text(Reader& reader, std::string_view& text) {
  const std::byte* from = nullptr;
  std::size_t length = 0;
  if (!reader.take_counted(from, length)) [[unlikely]] {
    return false;
  }
  text = {reinterpret_cast<const char*>(from), length};
  return is_ascii(from, length) || check_utf8(reader, text);
}

/// The same into a string.
[[nodiscard]] bool read_text(Reader& reader, std::string& string);

}  // namespace mf::codec::detail
