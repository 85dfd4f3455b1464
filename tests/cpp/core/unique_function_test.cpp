#include "mf/core/unique_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace mf {
namespace {

TEST(UniqueFunction, CallsWhatItHolds) {
  UniqueFunction<int(int)> add = [n = 5](int x) { return x + n; };
  ASSERT_TRUE(add);
  EXPECT_EQ(add(1), 6);
}

TEST(UniqueFunction, HoldsWhatCannotBeCopied) {
  auto owned = std::make_unique<int>(3);
  UniqueFunction<int()> get = [owned = std::move(owned)] { return *owned; };
  UniqueFunction<int()> moved = std::move(get);
  EXPECT_FALSE(get);
  EXPECT_EQ(moved(), 3);
}

TEST(UniqueFunction, DestroysWhatItHeldOnce) {
  const auto counted = std::make_shared<int>(0);
  {
    UniqueFunction<void()> small = [counted] {};
    UniqueFunction<void()> large = [counted, filler = std::array<char, 100>{}] { (void)filler; };
    EXPECT_EQ(counted.use_count(), 3);
    small = std::move(large);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(UniqueFunction, LargeCallablesMoveToo) {
  std::array<int, 50> numbers{};
  numbers[49] = 9;
  UniqueFunction<int()> last = [numbers] { return numbers[49]; };
  UniqueFunction<int()> moved;
  moved = std::move(last);
  EXPECT_EQ(moved(), 9);
}

TEST(UniqueFunction, PassesArgumentsOnWithoutCopying) {
  UniqueFunction<int(std::unique_ptr<int>)> take = [](std::unique_ptr<int> p) { return *p; };
  EXPECT_EQ(take(std::make_unique<int>(4)), 4);
}

TEST(UniqueFunction, DropsAResultThatNobodyWants) {
  int calls = 0;
  UniqueFunction<void()> ignore = [&] { return ++calls; };
  ignore();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace mf
