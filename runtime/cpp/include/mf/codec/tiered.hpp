// R1. The front of the codecs: values to bytes and back in the tier that a schema planned, one at a time or
// as a batch.
//
//   std::size_t size = encoded_size<Tier::febird>(hit);         exact
//   Writer writer(memory);  encode<Tier::febird>(writer, hit);  writes so many bytes
//   std::size_t room = encoded_room<Tier::febird>(hit);         no less, but quicker to tell
//   Reader reader(bytes);   decode<Tier::febird>(reader, hit) && reader.finish()
//
// A batch is `count` values one behind the other. Decoders leave what follows to the caller: reader.finish()
// refuses it. The result of a method with one result is the bare value, that of a method without results
// std::monostate.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "mf/codec/back_writer.hpp"
#include "mf/codec/custom.hpp"
#include "mf/codec/febird.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/service.hpp"

namespace mf::codec {

template <class T>
struct Archive;  // mf/codec/archive.hpp

namespace detail {

/// Of a value that is not part of a graph.
template <class T>
struct LoneArchive : Archive<T> {
  static_assert(!Archive<T>::kLinked, "values of this type refer to objects: take an mf::Graph of it");
};

}  // namespace detail

/// Bytes of the smallest encoding of a T. Only memcpy and febird know where a value ends, and so have
/// batches; the parameters and results of methods are always one of the two.
template <Tier kTier, class T>
[[nodiscard]] constexpr std::size_t min_size() noexcept {
  static_assert(kTier == Tier::memcpy || kTier == Tier::febird);
  if constexpr (kTier == Tier::memcpy) {
    return Memcpy<T>::kSize;
  } else {
    return Febird<T>::kMinSize;
  }
}

template <Tier kTier, class T>
[[nodiscard]] std::size_t encoded_size(const T& value) noexcept {
  if constexpr (kTier == Tier::memcpy) {
    return Memcpy<T>::kSize;
  } else if constexpr (kTier == Tier::archive) {
    return detail::LoneArchive<T>::size(value);
  } else if constexpr (kTier == Tier::custom) {
    return custom_size(value);
  } else {
    return Febird<T>::size(value);
  }
}

/// What to have ready for encode() where memory is cut to what was written: encoded_size(), or more where
/// that is quicker to tell and no more than kMaxBound.
template <Tier kTier, class T>
[[nodiscard]] std::size_t encoded_room(const T& value) noexcept {
  if constexpr (kTier == Tier::febird) {
    const std::size_t bound = bound_of(value);
    if (bound <= kMaxBound) [[likely]] {
      return bound;
    }
  }
  return encoded_size<kTier>(value);
}

/// `size` is the result of encoded_size(): archives are written from back to front, and the codecs of users
/// get the end of their memory.
template <Tier kTier, class T>
void encode(Writer& writer, const T& value, std::size_t size) noexcept {
  if constexpr (kTier == Tier::archive) {
    BackWriter back(writer.skip(size) + size);
    detail::LoneArchive<T>::write(back, value);
  } else if constexpr (kTier == Tier::custom) {
    custom_write(writer.skip(size), size, value);
  } else if constexpr (kTier == Tier::memcpy) {
    memcpy_write(writer, value);
  } else {
    Febird<T>::write(writer, value);
  }
}

template <Tier kTier, class T>
void encode(Writer& writer, const T& value) noexcept {
  constexpr bool kNeedsSize = kTier == Tier::archive || kTier == Tier::custom;
  encode<kTier>(writer, value, kNeedsSize ? encoded_size<kTier>(value) : 0);
}

/// Appends a value that is known to be fit for it.
template <Tier kTier, class T>
void append_value(Buffer& out, const T& value) {
  Writer writer(out.append(encoded_room<kTier>(value)));
  encode<kTier>(writer, value);
  out.cut_at(writer.position());
}

template <Tier kTier, class T>
[[nodiscard]] bool decode(Reader& reader, T& value) {
  if constexpr (kTier == Tier::memcpy) {
    return memcpy_read(reader, value);
  } else if constexpr (kTier == Tier::archive) {
    return detail::LoneArchive<T>::read(reader, value);
  } else if constexpr (kTier == Tier::custom) {
    return custom_read(reader, value);
  } else {
    return Febird<T>::read(reader, value);
  }
}

/// All that the reader has left, as one value. False: the reader says why, with a path from the type on.
template <Tier kTier, class T>
[[nodiscard]] bool decode_whole(Reader& reader, T& value) {
  if (decode<kTier>(reader, value) && reader.finish()) [[likely]] {
    return true;
  }
  if constexpr (!kShortName<T>.empty()) {
    reader.inside(kShortName<T>);
  }
  return false;
}

/// Bytes of a batch of `count` values that lie side by side.
template <Tier kTier, class T>
[[nodiscard]] std::size_t encoded_batch_size(const T* values, std::size_t count) noexcept {
  if constexpr (kTier == Tier::memcpy) {
    return memcpy_size<T>(count);
  } else {
    return detail::items_size(values, count);
  }
}

template <Tier kTier, class T>
[[nodiscard]] std::size_t encoded_batch_room(const T* values, std::size_t count) noexcept {
  if constexpr (kTier == Tier::febird) {
    const std::size_t bound = detail::items_bound(values, count);
    if (bound <= kMaxBound) [[likely]] {
      return bound;
    }
  }
  return encoded_batch_size<kTier>(values, count);
}

template <Tier kTier, class T>
void encode_batch(Writer& writer, const T* values, std::size_t count) noexcept {
  if constexpr (kTier == Tier::memcpy) {
    memcpy_write(writer, values, count);
  } else {
    detail::write_items(writer, values, count);
  }
}

/// Refuses a count that the bytes left cannot hold before it allocates.
template <Tier kTier, class T>
[[nodiscard]] bool decode_batch(Reader& reader, std::size_t count, std::vector<T>& values) {
  if (!reader.check_count(count, min_size<kTier, T>())) [[unlikely]] {
    return false;
  }
  if constexpr (kTier == Tier::memcpy) {
    return memcpy_read(reader, count, values);
  } else {
    return detail::read_items(reader, count, values);
  }
}

/// The same into an array of so many, whose number is believed, and whose memory is charged.
template <Tier kTier, class T>
[[nodiscard]] bool decode_items(Reader& reader, T* values, std::size_t count) {
  if constexpr (kTier == Tier::memcpy) {
    return memcpy_read(reader, count, values);
  } else {
    return detail::read_items(reader, values, count);
  }
}

/// The parameters of a method, from where they are: only tier memcpy puts them into their struct first.
template <Tier kTier, class Request, class... Args>
[[nodiscard]] std::size_t encoded_args_size(const Args&... args) noexcept {
  if constexpr (kTier == Tier::memcpy) {
    return Memcpy<Request>::kSize;
  } else {
    return febird_size(args...);
  }
}

template <Tier kTier, class Request, class... Args>
[[nodiscard]] std::size_t encoded_args_room(const Args&... args) noexcept {
  if constexpr (kTier == Tier::febird) {
    const std::size_t bound = febird_bound(args...);
    if (bound <= kMaxBound) [[likely]] {
      return bound;
    }
  }
  return encoded_args_size<kTier, Request>(args...);
}

template <Tier kTier, class Request, class... Args>
void encode_args(Writer& writer, const Args&... args) noexcept {
  if constexpr (kTier == Tier::memcpy) {
    memcpy_write(writer, Request{args...});
  } else {
    febird_write(writer, args...);
  }
}

/// A value to bytes of its own; mf/codec/value.hpp has the same without the argument for the tier.
template <Tier kTier, class T>
[[nodiscard]] std::vector<std::byte> to_bytes(const T& value) {
  std::vector<std::byte> bytes(encoded_size<kTier>(value));
  Writer writer(bytes.data());
  encode<kTier>(writer, value, bytes.size());
  return bytes;
}

}  // namespace mf::codec
