// zpp_bits (github.com/eyalz800/zpp_bits): reflection of aggregates, fixed widths. It does not support
// mf::Boxed.
#pragma once

#include <zpp_bits.h>

#include <concepts>

namespace payload {

/// Needed because zpp_bits cannot count fields that are optional.
constexpr auto serialize(auto& archive, C2& value) {
  return archive(value.flag, value.tiny, value.small, value.number, value.big, value.single, value.real,
                 value.text);
}
constexpr auto serialize(auto& archive, const C2& value) {
  return archive(value.flag, value.tiny, value.small, value.number, value.big, value.single, value.real,
                 value.text);
}

}  // namespace payload

namespace bench_codecs {

template <class T>
struct Adapter {};

template <class T>
  requires(!std::same_as<T, payload::Nested>)
struct Adapter<T> {
  using Value = T;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }

  std::span<const std::byte> write(const T& value) {
    zpp::bits::out out{buffer, zpp::bits::no_enlarge_overflow{}};
    if (failure(out(value))) return {};
    return {buffer.data(), out.position()};
  }
  static bool read(std::span<const std::byte> bytes, T& value) {
    return !failure(zpp::bits::in{bytes}(value));
  }

  std::vector<std::byte> buffer;
};

}  // namespace bench_codecs
