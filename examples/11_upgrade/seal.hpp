// A signature and its codec: the text, each byte of it less one. seal.py makes the same bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace seal {

struct Seal {
  std::string text;
  friend bool operator==(const Seal&, const Seal&) = default;
};

struct Codec {
  static std::size_t size(const Seal& seal) { return seal.text.size(); }
  static void write(std::span<std::byte> bytes, const Seal& seal) {
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(seal.text[at] - 1);
  }
  static bool read(std::span<const std::byte> bytes, Seal& seal) {
    seal.text.clear();
    for (const auto byte : bytes) seal.text += static_cast<char>(std::to_integer<int>(byte) + 1);
    return true;
  }
};

}  // namespace seal
