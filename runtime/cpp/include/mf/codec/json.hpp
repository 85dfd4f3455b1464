// R1. Values as JSON (docs/json.md): the same text in every runtime, for people, logs, tests and tools.
//
//   std::string text = mf::to_json(hit);
//   mf::Result<Hit> hit = mf::from_json<Hit>(text);
//
// Needs the generated header <module>.schema.hpp. A value goes by its bytes: what the module says of its
// types is read once, and then kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/codec/custom.hpp"
#include "mf/codec/described/json_type.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/result.hpp"
#include "mf/codec/spelled_type.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/tiered.hpp"

namespace mf {

namespace codec::detail {

template <class T>
[[nodiscard]] const described::JsonType& json_type() {
  static const described::JsonType& type =
      *new described::JsonType(spelled<T>());  // threads may outlive statics
  return type;
}

}  // namespace codec::detail

/// Throws Error(INVALID_ARGUMENT) for what readers refuse: a string that is not UTF-8, a closed enum with an
/// unknown number, what is nested too deep, a reference that is null and must not be; and where the codec of
/// a type of tier custom throws.
template <class T>
[[nodiscard]] std::string to_json(const T& value) {
  if (const auto bad = codec::too_deep(value)) [[unlikely]] {
    codec::refuse_value(codec::kShortName<T>, *bad);
  }
  if constexpr (requires { codec::Archive<T>::numbers(value); }) {
    if (const auto bad = codec::Archive<T>::numbers(value).null_reference()) {
      codec::refuse_value(codec::kShortName<T>, *bad);
    }
  }
  std::vector<std::byte> bytes;
  codec::write_guarded(codec::kShortName<T>, [&] { bytes.resize(codec::checked_size(value)); });
  codec::write_guarded(codec::kShortName<T>, [&] {
    codec::Writer writer(bytes.data());
    codec::encode<codec::kTierOf<T>>(writer, value, bytes.size());
  });
  return codec::detail::json_type<T>().text_of(bytes);
}

/// One value and nothing behind it, into a new one.
template <class T>
[[nodiscard]] Result<T> from_json(std::string_view text, const codec::Limits& limits = {}) {
  const auto bytes = codec::detail::json_type<T>().bytes_of(text, limits);
  if (!bytes) {
    return bytes.error();
  }
  codec::Reader reader(*bytes, limits);
  Result<T> result{std::in_place};
  if (!codec::decode_whole<codec::kTierOf<T>>(reader, *result)) [[unlikely]] {
    // Its memory is counted more exactly than by description. The bytes have no place in the text.
    DecodeError error = reader.error();
    error.offset = text.size();
    result.refuse(std::move(error));
  }
  return result;
}

}  // namespace mf
