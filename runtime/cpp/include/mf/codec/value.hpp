// R1. The public front of the codecs: a value to bytes and back, in the tier that its schema planned.
//
//   std::vector<std::byte> bytes = mf::to_bytes(hit);     or mf::Bytes, into which it is moved
//   if (auto hit = mf::from_bytes<Hit>(bytes)) use(*hit); else log(hit.error().message());
//
// It takes every type of a schema and every container of them (docs/generated-code.md); the generated codecs
// are in <module>.codec.hpp. What is written, every reader takes: a value that breaks a constraint of its
// schema, or that no bytes can hold (mf/codec/readable.hpp), is refused by Error(INVALID_ARGUMENT), which
// names the field. Nothing is thrown on the way from bytes to a value but std::bad_alloc.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "mf/codec/limits.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/result.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/types.hpp"

namespace mf {

using codec::Limits;

template <class T>
[[nodiscard]] std::vector<std::byte> to_bytes(const T& value) {
  if constexpr (requires { codec::Archive<T>::bytes(value); }) {
    return codec::Archive<T>::bytes(value);
  } else {
    codec::check_written(value);
    std::vector<std::byte> bytes(codec::checked_size(value));
    codec::Writer writer(bytes.data());
    codec::encode<codec::kTierOf<T>>(writer, value, bytes.size());
    return bytes;
  }
}

/// Adds a value's bytes behind those that are there; if it throws, nothing was added.
template <class T>
void append_bytes(std::vector<std::byte>& out, const T& value) {
  codec::check_written(value);
  const std::size_t before = out.size();
  const std::size_t size = codec::checked_size(value);
  out.resize(before + size);
  codec::Writer writer(out.data() + before);
  codec::encode<codec::kTierOf<T>>(writer, value, size);
}
template <class T>
void append_bytes(Buffer& out, const T& value) {
  codec::check_written(value);
  constexpr auto kTier = codec::kTierOf<T>;
  const std::size_t room = codec::counted(codec::encoded_room<kTier>(value), codec::kShortName<T>);
  codec::Writer writer(out.append(room));
  codec::encode<kTier>(writer, value, room);
  out.cut_at(writer.position());
}

/// Exactly one value, nothing behind it, into an object that exists, whose memory is used again. It may take
/// as much memory and nest as deeply as `limits` allow, and keeps to its constraints. After a failure the
/// object holds any value of its type.
template <class T>
[[nodiscard]] Result<void> from_bytes_into(std::span<const std::byte> bytes, T& value,
                                           const Limits& limits = {}) {
  codec::Reader reader(bytes, limits);
  if (!codec::decode_whole<codec::kTierOf<T>>(reader, value)) [[unlikely]] {
    return reader.error();
  }
  if (const auto bad = codec::read_violation(value)) [[unlikely]] {
    return codec::violated(codec::kShortName<T>, *bad);
  }
  return {};
}

namespace codec::detail {

template <class T>
[[nodiscard]] Result<T> read_value(Reader& reader) {
  Result<T> result{std::in_place};  // the one that all ways return: it is made where the caller wants it
  if (!codec::decode_whole<codec::kTierOf<T>>(reader, *result)) [[unlikely]] {
    result.refuse(reader.error());
  } else if (const auto bad = codec::read_violation(*result)) [[unlikely]] {
    result.refuse(codec::violated(codec::kShortName<T>, *bad));
  }
  return result;
}

}  // namespace codec::detail

/// The same into a new one.
template <class T>
[[nodiscard]] Result<T> from_bytes(std::span<const std::byte> bytes, const Limits& limits = {}) {
  codec::Reader reader(bytes, limits);
  return codec::detail::read_value<T>(reader);
}
/// The large `bytes` in the value share the memory of these.
template <class T, std::same_as<Bytes> Owner>
[[nodiscard]] Result<T> from_bytes(const Owner& bytes, const Limits& limits = {}) {
  codec::Reader reader(bytes, limits);
  reader.set_owner(bytes);
  return codec::detail::read_value<T>(reader);
}

}  // namespace mf
