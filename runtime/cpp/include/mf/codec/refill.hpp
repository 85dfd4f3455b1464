// R1. A map or a set that is read into once more: what it held before gives its nodes, and the memory that
// keys and values hold in them, to what it will hold.
//
//   Refill refill(map);   for each: if (auto node = refill.take()) … map.insert(map.end(), std::move(node));
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace mf::codec::detail {

template <class Tree>
class Refill {
 public:
  using Node = typename Tree::node_type;

  /// Leaves the tree empty.
  explicit Refill(Tree& tree) noexcept { used_.swap(tree); }
  Refill(const Refill&) = delete;
  Refill& operator=(const Refill&) = delete;

  /// With a key and a value of before; empty if there is none left.
  [[nodiscard]] Node take() { return used_.empty() ? Node() : used_.extract(used_.begin()); }

 private:
  Tree used_;
};

// New nodes are made in functions of their own, flattened: the standard library's search for a node's place
// is inlined where it is called once, and costs a tenth of all the reading where it is not.

template <class K>
[[gnu::flatten]] void append_new_keys(std::set<K>& set, const K* keys, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    set.emplace_hint(set.end(), keys[i]);
  }
}

template <class K, class V>
[[gnu::flatten]] void append_new_entries(std::map<K, V>& map, const K* keys, const V* values,
                                         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    map.emplace_hint(map.end(), keys[i], values[i]);
  }
}

/// Puts so many keys, which are not in the set yet, behind all others.
template <class K>
void append_keys(std::set<K>& set, Refill<std::set<K>>& refill, const K* keys, std::size_t count) {
  for (; count != 0; ++keys, --count) {
    auto node = refill.take();
    if (!node) return append_new_keys(set, keys, count);
    node.value() = *keys;
    set.insert(set.end(), std::move(node));
  }
}

/// The same of a map.
template <class K, class V>
void append_entries(std::map<K, V>& map, Refill<std::map<K, V>>& refill, const K* keys, const V* values,
                    std::size_t count) {
  for (; count != 0; ++keys, ++values, --count) {
    auto node = refill.take();
    if (!node) return append_new_entries(map, keys, values, count);
    node.key() = *keys;
    node.mapped() = *values;
    map.insert(map.end(), std::move(node));
  }
}

}  // namespace mf::codec::detail
