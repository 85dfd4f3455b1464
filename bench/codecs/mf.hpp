// mf as its users call it, in the tier of a type.
#pragma once

#include <span>

#include "codec.hpp"
#include "mf/codec/value.hpp"

namespace bench_codecs {

template <class Value>
struct Ours {
  std::span<const std::byte> write(const Value& value) {
    constexpr auto kTier = mf::codec::kTierOf<Value>;
    const auto room = mf::codec::encoded_room<kTier>(value);
    auto* to = memory.at_least(room);
    mf::codec::Writer writer(to);
    mf::codec::encode<kTier>(writer, value, room);
    return {to, writer.position()};
  }
  static bool read(std::span<const std::byte> bytes, Value& value) {
    return static_cast<bool>(mf::from_bytes_into(bytes, value));
  }
  static mf::Bytes to_fresh(const Value& value) { return mf::to_bytes(value); }
  static auto from_fresh(std::span<const std::byte> bytes) { return mf::from_bytes<Value>(bytes); }

  Memory memory;
};

}  // namespace bench_codecs
