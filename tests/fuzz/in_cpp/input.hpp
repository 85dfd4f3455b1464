// Parts of inputs, for the targets of this folder: an input begins with a byte that says how it is read.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "mf/codec/value.hpp"
#include "targets.hpp"

namespace fuzz {

/// How the input is read; 0 for an empty one.
inline std::size_t way_of(std::span<const std::byte> input) {
  return input.empty() ? 0 : std::to_integer<std::size_t>(input[0]);
}
inline std::span<const std::byte> rest_of(std::span<const std::byte> input) {
  return input.empty() ? input : input.subspan(1);
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whether the bytes are a value, which is then written and read again as itself.
template <class T>
bool is_value(std::span<const std::byte> bytes) {
  const auto read = mf::from_bytes<T>(bytes, {.decoded_bytes = std::size_t{1} << 20U});
  if (!read) {
    require(!read.error().message().empty() && read.error().offset <= bytes.size());
    return false;
  }
  const auto written = mf::to_bytes(*read);
  const auto again = mf::from_bytes<T>(std::span(written));
  require(again.ok() && mf::to_bytes(*again) == written);
  return true;
}

}  // namespace fuzz
