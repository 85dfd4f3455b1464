// What is written into room for it, as stubs do into a message.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "mf/codec/tiered.hpp"
#include "mf/core/types.hpp"

namespace mf {

/// Encoded values, to be looked at and spoilt.
using ByteVector = std::vector<std::byte>;

}  // namespace mf

namespace mf::codec {

/// A value's bytes, written into no more memory than encoded_room() asks for.
template <Tier kTier, class T>
ByteVector bytes_in_room(const T& value) {
  ByteVector bytes(encoded_room<kTier>(value));
  Writer writer(bytes.data());
  encode<kTier>(writer, value, bytes.size());
  const auto size = static_cast<std::size_t>(writer.position() - bytes.data());
  if (size > bytes.size()) {
    std::abort();
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace mf::codec
