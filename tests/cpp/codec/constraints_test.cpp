#include "mf/codec/constraints.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "sample.hpp"

namespace mf::codec {
namespace {

using sample::Limited;

TEST(Constraints, AValueThatKeepsToThemHasNoViolation) {
  EXPECT_EQ(violation(Limited{1000, {"a"}, 0.5}), std::nullopt);
  EXPECT_EQ(violation(Limited{1, {"a", "abcd"}, std::nullopt}), std::nullopt);
}

TEST(Constraints, ATypeWithoutAnyIsNeverViolated) {
  EXPECT_EQ(violation(sample::Posting{}), std::nullopt);
}

TEST(Constraints, TheTextNamesThePlaceTheValueAndTheBounds) {
  EXPECT_EQ(violation(Limited{5000, {"a"}, {}}), "limit: 5000 is not in 1..1000");
  EXPECT_EQ(violation(Limited{1, {}, {}}), "terms: a length of 0 is not in 1..2");
  EXPECT_EQ(violation(Limited{1, {"a", "abcde"}, {}}), "terms[1]: a length of 5 is not in 1..4");
  EXPECT_EQ(violation(Limited{1, {"a"}, std::nan("")}), "weight: nan is not finite");
}

TEST(Constraints, NoNumberIsInARangeThatItIsNotIn) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(check::in_range(std::nanf(""), -kInfinity, kInfinity, "", ""));
  EXPECT_EQ(check::in_range(-0.5F, 0.0F, kInfinity, "0", ""), ": -0.5 is not in 0..");
  EXPECT_EQ(check::in_range<std::int8_t>(-3, -2, 2, "-2", "2"), ": -3 is not in -2..2");
  using namespace std::chrono_literals;
  EXPECT_EQ(check::in_range(Duration(2s), Duration(0s), Duration(1s), "0s", "1s"),
            ": 2000000000 is not in 0s..1s");
}

TEST(Constraints, KeysAndValuesOfMapsAreNamedByTheirPlace) {
  const std::map<std::string, int> map{{"a", 1}, {"bb", 7}};
  EXPECT_EQ(check::each_key(map, [](const auto& key) { return check::has_length(key, 1, 1); }),
            "[1]: a length of 2 is not in 1..1");
  EXPECT_EQ(check::each_value(map, [](const auto& value) { return check::in_range(value, 0, 5, "0", "5"); }),
            "[1]: 7 is not in 0..5");
}

TEST(Constraints, StructsInsideAreFollowed) {
  EXPECT_EQ(check::holds(Limited{0, {"a"}, {}}), ".limit: 0 is not in 1..1000");
}

}  // namespace
}  // namespace mf::codec
