// struct_pack of yalantinglibs (github.com/alibaba/yalantinglibs): reflection of aggregates, fixed widths.
// Only for the two values for which the goals quote its figures.
#pragma once

#include <concepts>
#include <span>
#include <vector>
#include <ylt/struct_pack.hpp>

namespace bench_codecs {

template <class T>
struct Adapter {};

template <class T>
  requires(std::same_as<T, payload::Heartbeat> || std::same_as<T, payload::SearchResult>)
struct Adapter<T> {
  using Value = T;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }

  std::span<const std::byte> write(const T& value) {
    buffer.clear();
    struct_pack::serialize_to(buffer, value);
    return std::as_bytes(std::span(buffer));
  }
  static bool read(std::span<const std::byte> bytes, T& value) {
    return !struct_pack::deserialize_to(value, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  std::vector<char> buffer;
};

}  // namespace bench_codecs
