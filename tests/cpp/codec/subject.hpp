// One type of a schema behind a face that all types have: its values from and to bytes and JSON. A file that
// includes this and calls subject<T>() compiles the codecs of T, so there is one file a schema.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"
#include "room.hpp"

namespace mf::codec {

/// What is done with one type.
struct Subject {
  std::string_view name;  // "vectors.wide.Person"
  Tier tier;
  Result<ByteVector> (*write)(std::string_view text);
  ByteVector (*write_into_room)(std::string_view text);  // of febird only
  Result<std::string> (*read)(std::span<const std::byte> bytes);
  Result<ByteVector> (*rewrite)(std::span<const std::byte> bytes, const Limits& limits);
  /// The same of `bytes` that are read into a value which was read from `before`, as far as those go.
  Result<ByteVector> (*rewrite_after)(std::span<const std::byte> before, std::span<const std::byte> bytes,
                                      const Limits& limits);
  Result<std::string> (*rewrite_text)(std::string_view text, const Limits& limits);
};

namespace detail {

template <class T>
[[nodiscard]] Result<ByteVector> bytes_of(const Result<T>& value) {
  if (!value) {
    return value.error();
  }
  return mf::to_bytes(*value);
}

template <class T>
[[nodiscard]] Result<std::string> text_of(const Result<T>& value) {
  if (!value) {
    return value.error();
  }
  return mf::to_json(*value);
}

}  // namespace detail

/// That of T, whose name it has.
template <class T>
[[nodiscard]] Subject subject(std::string_view name) {
  using Read = std::span<const std::byte>;
  Subject subject{
      .name = name,
      .tier = kTierOf<T>,
      .write = [](std::string_view text) { return detail::bytes_of(mf::from_json<T>(text)); },
      .write_into_room = nullptr,
      .read = [](Read bytes) { return detail::text_of(mf::from_bytes<T>(bytes)); },
      .rewrite = [](Read bytes,
                    const Limits& limits) { return detail::bytes_of(mf::from_bytes<T>(bytes, limits)); },
      .rewrite_after = [](Read before, Read bytes, const Limits& limits) -> Result<ByteVector> {
        T value{};
        (void)mf::from_bytes_into(before, value, limits);
        const Result<void> read = mf::from_bytes_into(bytes, value, limits);
        if (!read) return read.error();
        return mf::to_bytes(value);
      },
      .rewrite_text = [](std::string_view text,
                         const Limits& limits) { return detail::text_of(mf::from_json<T>(text, limits)); },
  };
  if constexpr (kTierOf<T> == Tier::febird) {
    subject.write_into_room = [](std::string_view text) {
      return bytes_in_room<Tier::febird>(*mf::from_json<T>(text));
    };
  }
  return subject;
}

}  // namespace mf::codec
