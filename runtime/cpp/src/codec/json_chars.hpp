// Classes of the characters of JSON, for its reader, its writer and the texts of numbers and times.
#pragma once

namespace mf::codec {

/// Is written in a string as it is, without a backslash?
inline bool is_plain(char each) noexcept {
  return static_cast<unsigned char>(each) >= 0x20 && each != '"' && each != '\\';
}

inline bool is_digit(char each) noexcept {
  return each >= '0' && each <= '9';
}

}  // namespace mf::codec
