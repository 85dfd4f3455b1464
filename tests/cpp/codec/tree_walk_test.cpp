// A walk against the iterators of the same tree, however it has grown.
#include "mf/codec/tree_walk.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mf::codec::detail {
namespace {

template <class Tree>
void expect_ways(const Tree& tree) {
  using Element = std::pair<const void*, typename Tree::key_type>;
  const auto element = [](const auto& value) -> Element {
    if constexpr (requires { value.first; }) {
      return {&value, value.first};
    } else {
      return {&value, value};
    }
  };
  std::vector<Element> forwards;
  for (const auto& value : in_order(tree)) forwards.push_back(element(value));
  std::vector<Element> backwards_found;
  for (const auto& value : backwards(tree)) backwards_found.push_back(element(value));
  std::vector<Element> wanted;
  for (const auto& value : tree) wanted.push_back(element(value));
  EXPECT_EQ(forwards, wanted);
  EXPECT_EQ(backwards_found, std::vector<Element>(wanted.rbegin(), wanted.rend()));
}

TEST(TreeWalk, MeetsTheSameElementsAsIterators) {
  std::mt19937_64 random(1);
  for (std::size_t size = 0; size < 300; ++size) {
    std::map<std::uint64_t, std::string> any_order;
    std::set<std::string> texts;
    std::map<std::size_t, int> ascending;
    for (std::size_t i = 0; i < size; ++i) {
      any_order.emplace(random(), "x");
      texts.insert(std::to_string(random()));
      ascending.emplace_hint(ascending.end(), i, 1);
    }
    expect_ways(any_order);
    expect_ways(texts);
    expect_ways(ascending);
  }
}

TEST(TreeWalk, MeetsWhatIsLeftOfATree) {
  std::mt19937_64 random(2);
  std::set<std::uint64_t> numbers;
  for (std::size_t i = 0; i < 3'000; ++i) numbers.insert(random() % 10'000);
  while (!numbers.empty()) {
    for (std::size_t i = 0; i < 100 && !numbers.empty(); ++i) {
      const auto at = numbers.lower_bound(random() % 10'000);
      numbers.erase(at == numbers.end() ? numbers.begin() : at);
    }
    expect_ways(numbers);
  }
}

TEST(TreeWalk, OfALargeTreeHasRoom) {
  std::set<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < 300'000; ++i)
    numbers.emplace_hint(numbers.end(), i);  // as lopsided as it may be
  std::uint32_t next = 0;
  for (const std::uint32_t number : in_order(numbers)) ASSERT_EQ(number, next++);
  for (const std::uint32_t number : backwards(numbers)) ASSERT_EQ(number, --next);
}

TEST(TreeWalk, StopsWhereItIsLeft) {
  const std::set<int> numbers{1, 2, 3, 4, 5};
  int sum = 0;
  for (const int number : in_order(numbers)) {
    if (number == 4) break;
    sum += number;
  }
  EXPECT_EQ(sum, 6);
}

}  // namespace
}  // namespace mf::codec::detail
