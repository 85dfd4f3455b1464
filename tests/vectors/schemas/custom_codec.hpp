// The codecs of custom.mfidl in C++; custom_codec.py makes the same bytes. What a value is differs from its
// bytes, so that bytes which are passed on and not given to the codec are found out.
//
//   Runs   lower-case letters: for each run of one letter its length, 1 to 255, and the letter. A reader
//          takes runs that could be one; a writer makes them one.
//   Spot   a column, 0 to 99, and a row, 0 to 255.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace custom_codec {

struct Runs {
  std::string letters;

  friend bool operator==(const Runs&, const Runs&) = default;
};

struct RunsCodec {
  static std::size_t size(const Runs& value) {
    std::size_t size = 0;
    each_run(value.letters, [&size](std::size_t, char) { size += 2; });
    return size;
  }
  static void write(std::span<std::byte> to, const Runs& value) {
    std::size_t at = 0;
    each_run(value.letters, [&](std::size_t length, char letter) {
      to[at++] = static_cast<std::byte>(length);
      to[at++] = static_cast<std::byte>(letter);
    });
  }
  static bool read(std::span<const std::byte> from, Runs& value) {
    value.letters.clear();
    if (from.size() % 2 != 0) return false;
    for (; !from.empty(); from = from.subspan(2)) {
      const char letter = static_cast<char>(from[1]);
      if (from[0] == std::byte{0} || letter < 'a' || letter > 'z') return false;
      value.letters.append(std::to_integer<std::size_t>(from[0]), letter);
    }
    return true;
  }

 private:
  template <class Take>
  static void each_run(const std::string& letters, const Take& take) {
    constexpr std::size_t kLongest = 255;
    std::size_t end = 0;
    for (std::size_t at = 0; at < letters.size(); at = end) {
      while (end < letters.size() && end - at < kLongest && letters[end] == letters[at]) ++end;
      take(end - at, letters[at]);
    }
  }
};

struct Spot {
  std::uint8_t column = 0;
  std::uint8_t row = 0;

  friend bool operator==(const Spot&, const Spot&) = default;
};

struct SpotCodec {
  static std::size_t size(const Spot& /*value*/) noexcept { return 2; }
  static void write(std::span<std::byte> to, const Spot& value) noexcept {
    to[0] = std::byte{value.column};
    to[1] = std::byte{value.row};
  }
  static bool read(std::span<const std::byte> from, Spot& value) noexcept {
    constexpr std::uint8_t kColumns = 100;
    if (from.size() != 2) return false;
    value = {std::to_integer<std::uint8_t>(from[0]), std::to_integer<std::uint8_t>(from[1])};
    return value.column < kColumns;
  }
};

}  // namespace custom_codec
