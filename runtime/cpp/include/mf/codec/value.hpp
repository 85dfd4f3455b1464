// R1. The public front of the codecs: a value to bytes and back, in the tier that its schema planned.
//
//   mf::Bytes bytes = mf::to_bytes(hit);
//   if (auto hit = mf::from_bytes<Hit>(bytes)) use(*hit); else log(hit.error().message());
//
// It takes every type of a schema and every container of them (docs/generated-code.md); the generated codecs
// are in <module>.codec.hpp. to_bytes of an mf::Graph throws Error(INVALID_ARGUMENT) for a reference that is
// null and must not be; nothing is thrown on the way from bytes to a value but std::bad_alloc.
#pragma once

#include <cstddef>
#include <span>

#include "mf/codec/limits.hpp"
#include "mf/codec/result.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/types.hpp"

namespace mf {

using codec::Limits;

template <class T>
[[nodiscard]] Bytes to_bytes(const T& value) {
  if constexpr (requires { codec::Archive<T>::bytes(value); }) {
    return codec::Archive<T>::bytes(value);
  } else {
    return codec::to_bytes<codec::kTierOf<T>>(value);
  }
}

/// Adds a value's bytes behind those that are there.
template <class T>
void append_bytes(Bytes& out, const T& value) {
  constexpr Tier kTier = codec::kTierOf<T>;
  const std::size_t before = out.size();
  const std::size_t size = codec::encoded_size<kTier>(value);
  out.resize(before + size);
  codec::Writer writer(out.data() + before);
  codec::encode<kTier>(writer, value, size);
}
template <class T>
void append_bytes(Buffer& out, const T& value) {
  constexpr Tier kTier = codec::kTierOf<T>;
  const std::size_t size = codec::encoded_size<kTier>(value);
  codec::Writer writer(out.append(size));
  codec::encode<kTier>(writer, value, size);
}

/// Exactly one value, nothing behind it. It may take as much memory and nest as deeply as `limits` allow.
template <class T>
[[nodiscard]] Result<T> from_bytes(std::span<const std::byte> bytes, const Limits& limits = {}) {
  Result<T> result{T{}};
  DecodeError error;
  if (!codec::from_bytes<codec::kTierOf<T>>(bytes, *result, error, limits)) [[unlikely]] {
    return error;
  }
  return result;
}

/// The same into an object that exists, whose memory is used again. After a failure it holds any value of its
/// type.
template <class T>
[[nodiscard]] Result<void> from_bytes_into(std::span<const std::byte> bytes, T& value,
                                           const Limits& limits = {}) {
  DecodeError error;
  if (!codec::from_bytes<codec::kTierOf<T>>(bytes, value, error, limits)) [[unlikely]] {
    return error;
  }
  return {};
}

}  // namespace mf
