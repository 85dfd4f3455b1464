// R1. What a decoder allows before it has seen a value: hostile bytes must not buy stack, memory or time.
//
// Depth counts declared structs and containers (list, array, set, map); the implicit struct of a method's
// parameters or results is not counted. The budget counts what the decoded value takes in memory beyond the
// outermost struct.
#pragma once

#include <array>
#include <cstddef>

namespace mf::codec {

struct Limits {
  unsigned depth = 64;
  std::size_t decoded_bytes = std::size_t{128} << 20U;
};

/// Elements that take no bytes on the wire cannot be bounded by the bytes left, so they are bounded by this.
inline constexpr std::size_t kMaxEmptyElements = 65'536;

/// What an element of an ordered map or set costs beside itself: the links and colour of its node.
inline constexpr std::size_t kNodeOverhead = 48;

/// Bytes that a new T holds on the heap, by the defaults of its members; about. Generated code specialises
/// it.
template <class T>
inline constexpr std::size_t kHeapOfNew = 0;
template <class T, std::size_t N>
inline constexpr std::size_t kHeapOfNew<std::array<T, N>> = N * kHeapOfNew<T>;
/// What a reader charges for each T that it makes before it reads into it.
template <class T>
inline constexpr std::size_t kSizeOfNew = sizeof(T) + kHeapOfNew<T>;

}  // namespace mf::codec
