// R1. Values one behind the other: the items of a batch, and the elements of what is no row of integers.
//
// Those whose encoding is their memory are one copy; integers, which only a batch has, are varints
// (varint_row.hpp). They come as pointers: making a std::span of a type costs a compiler some 20 ms of its
// concepts, in each file.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/append_new.hpp"
#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/varint_row.hpp"
#include "mf/codec/writer.hpp"

namespace mf::codec::detail {

template <class T>
concept VarintCoded = std::integral<T> && sizeof(T) > 1;

template <class T>
std::size_t items_size(const T* values, std::size_t count) noexcept {
  if constexpr (RawCoded<T>) {
    return memcpy_size<T>(count);
  } else if constexpr (VarintCoded<T>) {
    return varint_row_size(std::span<const T>(values, count));
  } else {
    std::size_t sum = 0;
    for (const T* const end = values + count; values != end; ++values) {
      sum += Febird<T>::size(*values);
    }
    return sum;
  }
}

template <class T>
std::size_t items_bound(const T* values, std::size_t count) noexcept {
  if constexpr (BoundedSize<T>) {
    return count * Febird<T>::kMaxSize;
  } else {
    std::size_t sum = 0;
    for (const T* const end = values + count; values != end && sum <= kMaxBound; ++values) {
      sum += bound_of(*values);
    }
    return sum;
  }
}

template <class T>
void write_items(Writer& writer, const T* values, std::size_t count) noexcept {
  if constexpr (RawCoded<T>) {
    memcpy_write(writer, values, count);
  } else if constexpr (VarintCoded<T>) {
    write_varint_row(writer, std::span<const T>(values, count));
  } else if constexpr (requires { Febird<T>::write(writer, values, count); }) {
    Febird<T>::write(writer, values, count);
  } else {
    for (const T* const end = values + count; values != end; ++values) {
      Febird<T>::write(writer, *values);
    }
  }
}

/// Into as many values as there are.
template <class T>
[[nodiscard]] bool read_items(Reader& reader, T* values, std::size_t count) {
  if constexpr (VarintCoded<T>) {
    return read_varint_row(reader, std::span<T>(values, count));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      if (!Febird<T>::read(reader, values[i])) [[unlikely]] {
        return reader.inside(i);
      }
    }
    return true;
  }
}

/// Strings that are made where they stay, instead of empty ones that are filled.
[[nodiscard]] inline bool append_texts(Reader& reader, std::size_t count, std::vector<std::string>& texts) {
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view text;
    if (!read_text(reader, text)) [[unlikely]] {
      return reader.inside(i);
    }
    texts.emplace_back(text);
  }
  return true;
}

/// `count` elements that check_count() has admitted. Those that the vector has are overwritten, and keep
/// their memory while it need not grow; others are made just before they are read.
template <class T>
[[nodiscard]] bool read_items(Reader& reader, std::size_t count, std::vector<T>& values) {
  if constexpr (RawCoded<T>) {
    return memcpy_read(reader, count, values);
  } else {
    if (!reader.charge(count, kSizeOfNew<T>)) [[unlikely]] {
      return false;
    }
    if constexpr (VarintCoded<T>) {
      values.resize(count);
      return read_items(reader, values.data(), count);
    } else {
      if constexpr (std::same_as<T, std::string>) {
        if (values.empty()) {
          return append_texts(reader, count, values);
        }
      }
      VectorPlace<T>::make_room(values, count);
      const std::size_t kept = values.size();
      for (std::size_t i = 0; i < count; ++i) {
        if (!Febird<T>::read(reader, i < kept ? values[i] : append_new(values))) [[unlikely]] {
          return reader.inside(i);
        }
      }
      return true;
    }
  }
}

}  // namespace mf::codec::detail
