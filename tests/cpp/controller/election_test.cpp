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
  Election election(1'000);
  EXPECT_EQ(election.next_epoch(5), 1'001U) << "the clock is behind what was given";
  EXPECT_EQ(election.next_epoch(5'000), 5'000U) << "so it does if nothing is known";
  election.add(key("Clock"), 1);
  (void)election.give(key("Clock"), 5'000);
  EXPECT_EQ(election.next_epoch(5'000), 5'001U);
}

TEST(Election, KeysHaveOwnersOfTheirOwn) {
  Election election;
  election.add(key("Clock", "a"), 1);
  election.add(key("Clock", "b"), 2);
  EXPECT_THAT(election.vacant(), ElementsAre(key("Clock", "a"), key("Clock", "b")));
}

TEST(Election, WhoeverWaitsWhenTheStoreAnswersLeads) {
  Election election;
  election.add(key("Clock"), 1);
  election.ask(key("Clock"));
  EXPECT_THAT(election.vacant(), IsEmpty()) << "it is asked for once";
  election.add(key("Clock"), 2);
  election.remove(key("Clock"), 1);
  EXPECT_EQ(election.give(key("Clock"), 10), 2U);
  election.remove(key("Clock"), 2);
  election.add(key("Clock"), 3);
  election.ask(key("Clock"));
  election.remove(key("Clock"), 3);
  EXPECT_EQ(election.give(key("Clock"), 11), std::nullopt) << "no process waits any more";
  EXPECT_EQ(election.next_epoch(5), 12U) << "its epoch counts as given";
}

TEST(Election, ARefusedLeadIsAskedForAgain) {
  Election election;
  election.add(key("Clock"), 1);
  election.ask(key("Clock"));
  election.refuse(key("Clock"));
  EXPECT_THAT(election.vacant(), ElementsAre(key("Clock")));
  election.ask(key("Clock"));
  election.remove(key("Clock"), 1);
  election.refuse(key("Clock"));
  EXPECT_THAT(election.vacant(), IsEmpty());
}

TEST(ClientIds, AreThoseOfTheBlocksThatWereReserved) {
  ClientIds ids;
  EXPECT_EQ(ids.take(), 0U) << "none is reserved";
  EXPECT_TRUE(ids.ask());
  EXPECT_FALSE(ids.ask()) << "once";
  ids.answered(1);
  for (std::uint32_t i = 0; i < ClientIds::kBlock; ++i) EXPECT_EQ(ids.take(), 1 + i);
  EXPECT_EQ(ids.take(), 0U);
  ids.answered(50'000);
  EXPECT_EQ(ids.take(), 50'000U);
}

TEST(ClientIds, AreAskedForBeforeTheyAreOver) {
  ClientIds ids;
  EXPECT_TRUE(ids.ask());
  ids.answered(1);
  std::uint32_t taken = 0;
  while (!ids.ask()) {
    EXPECT_NE(ids.take(), 0U);
    ++taken;
  }
  EXPECT_EQ(taken, ClientIds::kBlock / 2);
  ids.answered(std::nullopt);
  EXPECT_TRUE(ids.ask()) << "a refusal is asked about again";
  ids.answered(1 + ClientIds::kBlock);
  for (; taken < 2 * ClientIds::kBlock; ++taken) EXPECT_EQ(ids.take(), 1 + taken);
}

TEST(ClientIds, GoBeyond256And2To24AndWrapAt2To32WithoutZero) {
  for (const std::uint32_t around : {256U, 1U << 24U, 0U}) {
    ClientIds ids;
    ids.answered(around - 3);
    std::set<std::uint32_t> given;
    for (int i = 0; i < 6; ++i) given.insert(ids.take());
    EXPECT_EQ(given.size(), 6U);
    EXPECT_FALSE(given.contains(0));
    EXPECT_TRUE(given.contains(around - 1) && given.contains(around + 1));
  }
}

}  // namespace
}  // namespace mf::controller
