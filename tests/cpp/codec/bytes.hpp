// Bytes as tests write them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "mf/codec/tiered.hpp"
#include "mf/core/types.hpp"
#include "room.hpp"

namespace mf::codec {

/// "0a ff" -> two bytes; blanks are for the reader.
inline ByteVector from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  ByteVector bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(digits[i]) * 16 + digit(digits[i + 1])));
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

/// One value in any tier, and why it is none.
template <Tier kTier, class T>
[[nodiscard]] bool from_bytes(std::span<const std::byte> bytes, T& value, DecodeError& error,
                              const Limits& limits = {}) {
  Reader reader(bytes, limits);
  const bool good = decode_whole<kTier>(reader, value);
  error = reader.error();
  return good;
}

/// The value makes exactly these bytes, they make the value again, and no shorter bytes do.
template <Tier kTier, class T>
void expect_bytes(const T& value, std::string_view hex) {
  const ByteVector bytes = to_bytes<kTier>(value);
  EXPECT_EQ(to_hex(bytes), to_hex(from_hex(hex)));
  EXPECT_EQ(to_hex(bytes_in_room<kTier>(value)), to_hex(bytes));
  T back{};
  DecodeError error;
  EXPECT_TRUE(from_bytes<kTier>(bytes, back, error)) << error.message();
  EXPECT_TRUE(back == value);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    T partial{};
    const ByteVector prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(from_bytes<kTier>(std::span(prefix), partial, error)) << "of " << size << " bytes";
  }
}

template <class T>
void expect_febird(const T& value, std::string_view hex) {
  expect_bytes<Tier::febird>(value, hex);
}

/// Why these bytes are no T; "decoded" if they are.
template <class T, Tier kTier = Tier::febird>
std::string refusal(std::string_view hex, const Limits& limits = {}) {
  T value{};
  DecodeError error;
  return from_bytes<kTier>(from_hex(hex), value, error, limits) ? "decoded" : error.message();
}

}  // namespace mf::codec
