// R1. The first byte of a flexible value, and the bounds of messages (docs/protocol.md, section 5c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mf/core/error.hpp"

namespace mf::flex {

enum class Tag : std::uint8_t {
  none = 0,
  no = 1,
  yes = 2,
  i8 = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  u64 = 7,
  f64 = 8,
  text = 9,
  bytes = 10,
  timestamp = 11,
  uuid = 12,
  list = 13,
  integers = 14,
  floats = 15,
  map = 16,
  array = 17,
  declared = 18,
};
inline constexpr std::uint8_t kLastTag = 18;

inline constexpr std::size_t kMaxTypeName = 1024;
inline constexpr unsigned kMaxDepth = 64;
/// At a multiple of which the elements of arrays stand.
inline constexpr std::size_t kAlignment = 8;

[[nodiscard]] constexpr bool reserved(std::string_view name) noexcept {
  return name == "src" || name == "dest";
}

[[noreturn]] inline void refuse(const std::string& text) {
  throw Error(Code::invalid_argument, Execution::not_executed, text);
}

/// As paths and texts show it: 'text'
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace mf::flex
