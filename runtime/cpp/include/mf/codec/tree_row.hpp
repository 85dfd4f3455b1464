// R1. Sets of integers, which are rows, and maps of integers to integers: blocks of 256 entries, each the
// codes of its keys and values in one byte, then the keys, then the values (docs/protocol.md, section 8,
// "Maps of integers").
//
// The nodes of a tree lie anywhere, and going from one to the next is most of the work: so each is met once,
// and a block is gathered into arrays, where the kernels of rows take it from. Whether keys ascend is seen in
// the array that they were read into, before there are nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "mf/codec/fault.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/refill.hpp"
#include "mf/codec/row.hpp"
#include "mf/codec/row_kernel.hpp"
#include "mf/codec/tree_walk.hpp"

namespace mf::codec::detail {

/// Keys that were just taken, each in turn; `last` is the one before them, if there is one.
template <class K>
[[nodiscard]] bool check_each_key(Reader& reader, const K* keys, const K* last, std::size_t first,
                                  std::size_t count, unsigned code, std::string_view disorder) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t start = reader.offset() - ((count - i) << code);
    if (!check_value(reader, keys[i], first + i, start)) [[unlikely]] {
      return false;
    }
    if (last != nullptr && !(*last < keys[i])) [[unlikely]] {
      reader.fail(Fault::keys_not_ascending, disorder, start);
      return reader.inside(first + i);
    }
    last = &keys[i];
  }
  return true;
}

/// The same; while all is well, without a branch a key.
template <class K>
[[nodiscard]] bool check_keys(Reader& reader, const K* keys, const K* last, std::size_t first,
                              std::size_t count, unsigned code, std::string_view disorder) {
  bool good = !kMayBeUnknown<K> && (last == nullptr || *last < keys[0]);
  for (std::size_t i = 1; i < count; ++i) {
    good &= keys[i - 1] < keys[i];
  }
  return good || check_each_key(reader, keys, last, first, count, code, disorder);
}

// --- sets

/// A row's values out of a set, a block of them at a time.
template <class K>
class SetBlocks {
 public:
  explicit SetBlocks(const std::set<K>& values) noexcept : values_(values) {}
  SetBlocks(const SetBlocks&) = delete;  // the walk points at the member beside it
  SetBlocks& operator=(const SetBlocks&) = delete;
  const K* block(std::size_t index, std::size_t count) noexcept {
    if (index == 0) {
      walk_ = TreeWalk(values_, above_);
    }
    for (std::size_t i = 0; i < count; ++i) {
      block_[i] = walk_.next();
    }
    return block_.data();
  }

 private:
  const std::set<K>& values_;
  NodesAbove above_;
  TreeWalk<std::set<K>> walk_{values_, above_};
  std::array<K, kRowBlock> block_;
};

/// A row's values into a set.
template <class K>
class SetSink {
 public:
  explicit SetSink(std::set<K>& values) noexcept : values_(values), refill_(values) {}
  K* room(std::size_t /*first*/, std::size_t /*count*/) noexcept { return block_.data(); }
  [[nodiscard]] bool take(Reader& reader, std::size_t first, std::size_t count, unsigned code) {
    const K* const last = values_.empty() ? nullptr : &*std::prev(values_.end());
    if (!check_keys(reader, block_.data(), last, first, count, code,
                    "the elements of a set are not strictly ascending")) [[unlikely]] {
      return false;
    }
    append_keys(values_, refill_, block_.data(), count);
    return true;
  }

 private:
  std::set<K>& values_;
  Refill<std::set<K>> refill_;
  std::array<K, kRowBlock> block_;
};

// --- maps

/// The codes of a block.
struct MapCodes {
  unsigned key = 0;
  unsigned value = 0;
};

/// Calls use(keys, values, count, codes) for each block, in order. The widths are found on the way, where the
/// processor waits for the next node anyway; keys ascend, so that the first and the last one tell theirs.
template <class K, class V, class Use>
void each_map_block(const std::map<K, V>& map, const Use& use) noexcept {
  using Key = typename RowBase<K>::Type;
  using Mapped = typename RowBase<V>::Type;
  std::array<Key, kRowBlock> keys;
  std::array<Mapped, kRowBlock> values;
  NodesAbove above;
  TreeWalk walk(map, above);
  for (std::size_t left = map.size(); left != 0;) {
    const std::size_t here = (std::min)(kRowBlock, left);
    Mapped bits = 0;
    for (std::size_t i = 0; i < here; ++i) {
      const auto& [key, value] = walk.next();
      keys[i] = row_number(key);
      values[i] = row_number(value);
      bits = static_cast<Mapped>(bits | BitsOf<Mapped>::significant(values[i]));
    }
    const auto ends = BitsOf<Key>::significant(keys[0]) | BitsOf<Key>::significant(keys[here - 1]);
    use(keys.data(), values.data(), here,
        MapCodes{BitsOf<Key>::code_of_bits(static_cast<Key>(ends)), BitsOf<Mapped>::code_of_bits(bits)});
    left -= here;
  }
}

template <class K, class V>
[[nodiscard]] std::size_t map_blocks_size(const std::map<K, V>& map) noexcept {
  std::size_t sum = 0;
  each_map_block(map, [&sum](auto* /*keys*/, auto* /*values*/, std::size_t count, MapCodes codes) noexcept {
    sum += 1 + (count << codes.key) + (count << codes.value);
  });
  return sum;
}

/// Whatever the numbers are.
template <class K, class V>
constexpr std::size_t map_blocks_bound(std::size_t count) noexcept {
  return row_blocks(count) + count * (sizeof(K) + sizeof(V));
}

/// Gives the place behind the last block.
template <class K, class V>
[[nodiscard]] std::byte* write_map_blocks(std::byte* to, const std::map<K, V>& map) noexcept {
  each_map_block(map, [&to](auto* keys, auto* values, std::size_t count, MapCodes codes) noexcept {
    *to++ = static_cast<std::byte>(codes.key + 4 * codes.value);
    narrow<typename RowBase<K>::Type>(to, keys, count, codes.key);
    to += count << codes.key;
    narrow<typename RowBase<V>::Type>(to, values, count, codes.value);
    to += count << codes.value;
  });
  return to;
}

/// The keys or the values of a block, of which nothing is looked at yet.
template <class T>
[[nodiscard]] bool take_half(Reader& reader, T* to, std::size_t count, unsigned code) {
  const std::byte* from = nullptr;
  if (!reader.take(count << code, from)) [[unlikely]] {
    return false;
  }
  widen<typename RowBase<T>::Type>(to, from, count, code);
  return true;
}

/// A block's first byte; `widest`: the codes that there may be at most.
[[nodiscard]] bool read_map_codes(Reader& reader, MapCodes widest, MapCodes& codes);

/// So many entries, which have been charged, into a map.
template <class K, class V>
[[nodiscard]] bool read_map_blocks(Reader& reader, std::size_t count, std::map<K, V>& map) {
  Refill<std::map<K, V>> refill(map);
  std::array<K, kRowBlock> keys;
  std::array<V, kRowBlock> values;
  for (std::size_t first = 0; first < count; first += kRowBlock) {
    const std::size_t here = (std::min)(kRowBlock, count - first);
    const K* const last = map.empty() ? nullptr : &std::prev(map.end())->first;
    MapCodes codes;
    if (!read_map_codes(reader, {kMaxCode<K>, kMaxCode<V>}, codes) ||
        !take_half(reader, keys.data(), here, codes.key) ||
        !check_keys(reader, keys.data(), last, first, here, codes.key,
                    "the keys of a map are not strictly ascending") ||
        !take_half(reader, values.data(), here, codes.value) ||
        !check_block(reader, values.data(), first, here, codes.value)) [[unlikely]] {
      return false;
    }
    append_entries(map, refill, keys.data(), values.data(), here);
  }
  return true;
}

}  // namespace mf::codec::detail
