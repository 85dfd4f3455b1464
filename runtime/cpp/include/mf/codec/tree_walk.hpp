// R1. Goes through a std::map or a std::set, forwards or backwards.
//
//   for (const auto& [key, value] : in_order(map)) …
//   for (const K& key : backwards(set)) …
//   NodesAbove above;   TreeWalk walk(map, above);   walk.next(), map.size() times
//
// An iterator has one node, so that the processor has to load each before it can ask for the next one: nodes
// that were made in another order than that of their keys are seldom where it looks. libstdc++ shows how its
// nodes hang together. A walk that goes down to one child asks for the other one on the way, long before it
// comes there: it takes a third of the time. With another standard library, or a checked one, it is the
// iterator.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>

namespace mf::codec::detail {

enum class TreeWay { forwards, backwards };

#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG)

/// Nodes whose turn is when all below them are done. A red-black tree of 2^47 nodes is no deeper than this.
/// It is no member of the walk, so that compilers keep that in registers.
using NodesAbove = std::array<const std::_Rb_tree_node_base*, 96>;

template <class Tree, TreeWay kWay = TreeWay::forwards>
class TreeWalk {
 public:
  TreeWalk(const Tree& tree, NodesAbove& above) noexcept
      : down_(tree.end()._M_node->_M_parent), above_(above.data()) {}

  [[nodiscard, gnu::always_inline]] const typename Tree::value_type& next() noexcept {
    for (; down_ != nullptr; down_ = before(down_)) {
      __builtin_prefetch(behind(down_));
      *above_++ = down_;
    }
    const Node* const node = *--above_;
    down_ = behind(node);
    return *static_cast<const std::_Rb_tree_node<typename Tree::value_type>*>(node)->_M_valptr();
  }

 private:
  using Node = std::_Rb_tree_node_base;
  static const Node* before(const Node* node) noexcept {
    return kWay == TreeWay::forwards ? node->_M_left : node->_M_right;
  }
  static const Node* behind(const Node* node) noexcept {
    return kWay == TreeWay::forwards ? node->_M_right : node->_M_left;
  }

  const Node* down_;  // what hangs here comes before all that is above
  const Node** above_;
};

#else

struct NodesAbove {};

template <class Tree, TreeWay kWay = TreeWay::forwards>
class TreeWalk {
 public:
  TreeWalk(const Tree& tree, NodesAbove& /*above*/) noexcept
      : at_(kWay == TreeWay::forwards ? tree.begin() : tree.end()) {}
  [[nodiscard]] const typename Tree::value_type& next() noexcept {
    return kWay == TreeWay::forwards ? *at_++ : *--at_;
  }

 private:
  typename Tree::const_iterator at_;
};

#endif

/// A walk as a range; once.
template <class Tree, TreeWay kWay>
class TreeRange {
 public:
  explicit TreeRange(const Tree& tree) noexcept : tree_(tree) {}
  TreeRange(const TreeRange&) = delete;  // iterators look into it
  TreeRange& operator=(const TreeRange&) = delete;

  struct End {};
  class Iterator {
   public:
    Iterator(const Tree& tree, NodesAbove& above) noexcept : walk_(tree, above), left_(tree.size()) {}
    [[nodiscard]] const typename Tree::value_type& operator*() noexcept { return walk_.next(); }
    Iterator& operator++() noexcept {
      --left_;
      return *this;
    }
    [[nodiscard]] bool operator==(End /*end*/) const noexcept { return left_ == 0; }

   private:
    TreeWalk<Tree, kWay> walk_;
    std::size_t left_;
  };
  [[nodiscard]] Iterator begin() noexcept { return Iterator(tree_, above_); }
  [[nodiscard]] End end() const noexcept { return {}; }

 private:
  const Tree& tree_;
  NodesAbove above_;
};

template <class Tree>
[[nodiscard]] TreeRange<Tree, TreeWay::forwards> in_order(const Tree& tree) noexcept {
  return TreeRange<Tree, TreeWay::forwards>(tree);
}
template <class Tree>
[[nodiscard]] TreeRange<Tree, TreeWay::backwards> backwards(const Tree& tree) noexcept {
  return TreeRange<Tree, TreeWay::backwards>(tree);
}

}  // namespace mf::codec::detail
