#include "mf/controller/wait_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const TimePoint kStart{1h};

TEST(WaitList, AKeyWakesAllWhoWaitForItAndNobodyElse) {
  WaitList<std::string, int> list;
  list.add("a", kStart, 7, 1);
  list.add("b", kStart, 7, 2);
  list.add("a", kStart + 1s, 8, 3);
  EXPECT_THAT(list.take("a"), ElementsAre(Pair("a", 1), Pair("a", 3)));
  EXPECT_THAT(list.take("a"), IsEmpty());
  EXPECT_EQ(list.size(), 1U);
}

TEST(WaitList, TimeWakesInItsOrder) {
  WaitList<std::string, int> list;
  list.add("a", kStart + 2s, 7, 1);
  list.add("b", kStart + 1s, 7, 2);
  list.add("c", kStart + 3s, 7, 3);
  EXPECT_EQ(list.next(), kStart + 1s);
  EXPECT_THAT(list.take_due(kStart), IsEmpty());
  EXPECT_THAT(list.take_due(kStart + 2s), ElementsAre(Pair("b", 2), Pair("a", 1)));
  EXPECT_EQ(list.next(), kStart + 3s);
  EXPECT_THAT(list.take_due(kNever), ElementsAre(Pair("c", 3)));
  EXPECT_EQ(list.next(), kNever);
}

TEST(WaitList, TheEndOfAConnectionTakesWhatCameOverItAndNothingElse) {
  WaitList<std::string, int> list;
  list.add("a", kStart, 7, 1);
  list.add("a", kStart + 1s, 8, 2);
  list.add("b", kStart + 2s, 7, 3);
  EXPECT_EQ(list.count_of(7), 2U);
  EXPECT_THAT(list.take_of(7), ElementsAre(Pair("a", 1), Pair("b", 3)));
  EXPECT_THAT(list.take_of(7), IsEmpty());
  EXPECT_EQ(list.count_of(7), 0U);
  EXPECT_EQ(list.next(), kStart + 1s);
  EXPECT_THAT(list.take("a"), ElementsAre(Pair("a", 2)));
  EXPECT_EQ(list.count_of(8), 0U);
}

TEST(WaitList, HoldsWhatCannotBeCopied) {
  WaitList<int, std::unique_ptr<int>> list;
  list.add(1, kStart, 7, std::make_unique<int>(7));
  const auto taken = list.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(*taken[0].second, 7);
}

}  // namespace
}  // namespace mf::controller
