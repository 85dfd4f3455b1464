#include "mf/codec/vector_place.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "archive/after.hpp"
#include "mf/codec/append_new.hpp"

namespace legacy {

/// A user's, which leaves a member without a value.
struct Account {
  std::string name;
  int number;
};

}  // namespace legacy

template <>
inline constexpr mf::codec::TypeInfo mf::codec::kTypeInfo<legacy::Account>{mf::Tier::custom, {}};

namespace mf::codec::detail {
namespace {

using ::archive::after::Stored;

TEST(VectorPlace, GivesAsManyElementsAsAreAskedFor) {
  std::vector<std::uint32_t> values;
  for (const std::size_t count : {5U, 3U, 3U, 0U, 900U, 901U, 1U}) {
    const std::size_t before = values.capacity();
    std::uint32_t* const place = overwrite(values, count);
    ASSERT_EQ(values.size(), count);
    EXPECT_EQ(place, values.data());
    EXPECT_EQ(values.capacity(), count <= before ? before : count);
    std::iota(place, place + count, 1U);
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::size_t{0}), count * (count + 1) / 2);
  }
  values.push_back(2);  // it is a vector like any other
  EXPECT_EQ(values, (std::vector<std::uint32_t>{1, 2}));
}

TEST(VectorPlace, ANewElementHasTheValuesThatItsTypeGives) {
  std::vector<Stored> values(3, {.added = 1, .name = std::string(40, 'x'), .limit = 2});
  values.clear();  // its memory is as it was
  for (std::size_t i = 0; i < 3; ++i) {
    Stored& made = append_new(values);
    EXPECT_EQ(&made, &values.back());
    made.count = 8;
  }
  EXPECT_EQ(values, std::vector<Stored>(3, {.count = 8}));
}

TEST(VectorPlace, ANewElementOfAUsersTypeIsEmpty) {
  std::vector<legacy::Account> values(1, {"x", 7});
  values.clear();
  EXPECT_EQ(append_new(values).number, 0);
}

TEST(VectorPlace, NewElementsOfOtherTypesAreEmpty) {
  std::vector<std::uint64_t> numbers(2, ~std::uint64_t{0});
  numbers.clear();
  EXPECT_EQ(append_new(numbers), 0U);
  std::vector<std::vector<int>> lists;
  lists.reserve(1);
  EXPECT_TRUE(append_new(lists).empty());
}

}  // namespace
}  // namespace mf::codec::detail
