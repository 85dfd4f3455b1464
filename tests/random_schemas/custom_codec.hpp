// The codec of the custom structs of random schemas, in C++: any bytes are a value.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

namespace custom_codec {

struct Blob {
  std::vector<std::byte> bytes;

  friend bool operator==(const Blob&, const Blob&) = default;
  friend std::strong_ordering operator<=>(const Blob&, const Blob&) = default;
};

struct Codec {
  static std::size_t size(const Blob& value) { return value.bytes.size(); }
  static void write(std::span<std::byte> to, const Blob& value) {
    std::ranges::copy(value.bytes, to.begin());
  }
  static bool read(std::span<const std::byte> from, Blob& value) {
    value.bytes.assign(from.begin(), from.end());
    return true;
  }
};

/// A C++ type belongs to one struct only: the module that is imported has this one.
struct OtherBlob : Blob {
  friend bool operator==(const OtherBlob&, const OtherBlob&) = default;
  friend std::strong_ordering operator<=>(const OtherBlob&, const OtherBlob&) = default;
};

/// An existing type, without operators.
struct Vec3 {
  float x = 0;
  float y = 0;
  float z = 0;
};

}  // namespace custom_codec
