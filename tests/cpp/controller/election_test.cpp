#include "mf/controller/election.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "controller/offers.hpp"
#include "mf/controller/client_ids.hpp"

namespace mf::controller {
namespace {

using namespace testing_offers;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Election, WhoHasWaitedLongestIsNext) {
  Election election;
  election.add(key("Clock"), 1);
  EXPECT_THAT(election.vacant(), ElementsAre(key("Clock")));
  EXPECT_EQ(election.give(key("Clock"), 10), 1U);
  election.add(key("Clock"), 2);
  election.add(key("Clock"), 3);
  EXPECT_THAT(election.vacant(), IsEmpty()) << "one at a time";
  election.remove(key("Clock"), 2);  // gives up before its turn
  EXPECT_THAT(election.vacant(), IsEmpty());
  election.remove(key("Clock"), 1);
  EXPECT_THAT(election.vacant(), ElementsAre(key("Clock")));
  EXPECT_EQ(election.give(key("Clock"), 11), 3U);
  election.remove(key("Clock"), 3);
  EXPECT_THAT(election.vacant(), IsEmpty());
}

TEST(Election, EpochsOnlyGrowAlsoWhereTheClockGoesBackOrTheStoreIsLost) {
  Election election({{key("Clock"), 1'000}});
  EXPECT_EQ(election.next_epoch(key("Clock"), 5), 1'001U) << "the clock is behind what was given";
  EXPECT_EQ(election.next_epoch(key("Clock"), 5'000), 5'000U);
  EXPECT_EQ(election.next_epoch(key("Other"), 5'000), 5'000U) << "nothing is known: the time is larger";
  election.add(key("Clock"), 1);
  (void)election.give(key("Clock"), 5'000);
  EXPECT_EQ(election.next_epoch(key("Clock"), 5'000), 5'001U);
}

TEST(Election, KeysHaveOwnersOfTheirOwn) {
  Election election;
  election.add(key("Clock", "a"), 1);
  election.add(key("Clock", "b"), 2);
  EXPECT_THAT(election.vacant(), ElementsAre(key("Clock", "a"), key("Clock", "b")));
}

TEST(ClientIds, ComeInBlocksThatAreReservedBeforeTheyAreUsed) {
  std::vector<std::uint32_t> reserved;
  const auto reserve = [&](std::uint32_t next) {
    reserved.push_back(next);
    return true;
  };
  ClientIds ids(1);
  for (std::uint32_t i = 0; i < ClientIds::kBlock; ++i) EXPECT_EQ(ids.take(reserve), 1 + i);
  EXPECT_THAT(reserved, ElementsAre(1 + ClientIds::kBlock));
  EXPECT_EQ(ids.take(reserve), 1 + ClientIds::kBlock);
  ClientIds restarted(reserved.back());
  EXPECT_EQ(restarted.take(reserve), 1 + 2 * ClientIds::kBlock)
      << "what is left of a block is not given again";
}

TEST(ClientIds, GoBeyond256And2To24AndWrapAt2To32WithoutZero) {
  const auto reserve = [](std::uint32_t) { return true; };
  for (const std::uint32_t around : {256U, 1U << 24U, 0U}) {
    ClientIds ids(around - 3);
    std::set<std::uint32_t> given;
    for (int i = 0; i < 6; ++i) given.insert(ids.take(reserve));
    EXPECT_EQ(given.size(), 6U);
    EXPECT_FALSE(given.contains(0));
    EXPECT_TRUE(given.contains(around - 1) && given.contains(around + 1));
  }
}

TEST(ClientIds, AreNotGivenWhereTheStoreCannotReserveThem) {
  ClientIds ids(1);
  EXPECT_EQ(ids.take([](std::uint32_t) { return false; }), 0U);
  EXPECT_EQ(ids.take([](std::uint32_t) { return true; }), 1U);
}

}  // namespace
}  // namespace mf::controller
