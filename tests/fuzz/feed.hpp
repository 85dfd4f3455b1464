// What every target requires of a decoder and any bytes: no crash, no leak, memory within the budget; a
// refusal names a fault inside of the bytes; a value is written and read again as itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"

namespace fuzz {

/// Reads the bytes as a value of one type; whether they were one.
using Feed = bool (*)(std::span<const std::byte> bytes);

inline constexpr std::size_t kBudget = std::size_t{1} << 20U;

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline bool refused(const mf::DecodeError& error, std::size_t size) {
  require(error.fault != mf::Fault::none && !error.reason.empty() && error.offset <= size);
  return false;
}

template <class T>
bool feed_bytes(std::span<const std::byte> bytes) {
  const mf::Limits limits{.decoded_bytes = kBudget};
  const auto value = mf::from_bytes<T>(bytes, limits);
  if (!value) return refused(value.error(), bytes.size());
  const mf::Bytes once = mf::to_bytes(*value);
  const auto again = mf::from_bytes<T>(std::span(once));
  require(again.ok() && mf::to_bytes(*again) == once);
  return true;
}

template <class T>
bool feed_text(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const mf::Limits limits{.decoded_bytes = kBudget};
  const auto value = mf::from_json<T>(text, limits);
  if (!value) return refused(value.error(), bytes.size());
  const std::string once = mf::to_json(*value);
  const auto again = mf::from_json<T>(once);
  require(again.ok() && mf::to_json(*again) == once);
  return true;
}

/// Byte 0 picks the decoder, the rest is what it reads.
inline bool pick(std::span<const Feed> feeds, std::span<const std::byte> input) {
  if (input.empty()) return false;
  return feeds[std::to_integer<std::size_t>(input[0]) % feeds.size()](input.subspan(1));
}

}  // namespace fuzz
