// R1. Views: received bytes of tier memcpy as the values that they are, without a copy.
//
//   auto points = mf::view<Point>(bytes);       mf::Result<std::span<const Point>>
//   if (points) for (const Point& each : *points) ...
//
// The bytes are a row of values, as a batch is or what append_bytes() puts one behind the other. The view
// lives as long as they do. Bools, closed enums and the constraints of the schema are checked once, here;
// where a type has none of them, nothing looks at the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mf/codec/constraints.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/result.hpp"
#include "mf/codec/tier.hpp"

namespace mf::codec {

namespace detail {

/// The refusal of bytes that no view of values of this size and alignment can be over; none if one can.
[[nodiscard]] bool check_view(Reader& reader, std::size_t size, std::size_t alignment);

}  // namespace detail

template <MemoryImage T>
[[nodiscard]] Result<std::span<const T>> view(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  const std::size_t count = bytes.size() / sizeof(T);
  const std::byte* from = nullptr;
  if (!detail::check_view(reader, sizeof(T), alignof(T)) || !reader.take(bytes.size(), from) ||
      !check_valid_row<T>(reader, from, count, 0, 0)) [[unlikely]] {
    return reader.error();
  }
  const std::span<const T> values(reinterpret_cast<const T*>(from), count);
  if constexpr (Constrained<T>) {
    if (const auto bad = check::each(values, &check::inside<T>)) [[unlikely]] {
      return violated("", *bad);
    }
  }
  return values;
}

}  // namespace mf::codec

namespace mf {

using codec::view;

}  // namespace mf
