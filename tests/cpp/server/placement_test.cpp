#include "server/placement.hpp"

#include <gtest/gtest.h>

namespace mf::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kJustQuick = Placement::kQuick - 1ns;

/// How many quick runs it takes until the method is promoted.
std::uint32_t runs_until_promoted(Placement& placement) {
  for (std::uint32_t runs = 0;; ++runs) {
    if (placement.promoted()) return runs;
    placement.ran(kJustQuick, 1);
  }
}

TEST(Placement, PromotesWhatWasQuickThirtyTwoTimes) {
  Placement placement;
  EXPECT_EQ(runs_until_promoted(placement), 32U);
}

TEST(Placement, CountsQuickRunsInARow) {
  Placement placement;
  for (int i = 0; i < 31; ++i) placement.ran(kJustQuick, 1);
  placement.ran(Placement::kQuick, 1);
  EXPECT_EQ(runs_until_promoted(placement), 32U);
}

TEST(Placement, KeepsAPromotedMethodUntilARunTakesMoreThanAMillisecond) {
  Placement placement;
  (void)runs_until_promoted(placement);
  placement.ran(1ms, 1);
  EXPECT_TRUE(placement.promoted());
  placement.ran(1ms + 1ns, 1);
  EXPECT_FALSE(placement.promoted());
}

TEST(Placement, EachDemotionDoublesWhatTheNextPromotionAsksFor) {
  Placement placement;
  std::uint32_t needed = 32;
  for (int demotions = 0; demotions < 20; ++demotions) {
    EXPECT_EQ(runs_until_promoted(placement), needed);
    placement.ran(2ms, 1);
    needed = std::min(needed * 2, Placement::kRunsAtMost);
  }
  EXPECT_EQ(needed, Placement::kRunsAtMost);
  EXPECT_EQ(runs_until_promoted(placement), Placement::kRunsAtMost);
}

TEST(Placement, SlowRunsOfAMethodThatIsNotPromotedDoubleNothing) {
  Placement placement;
  for (int i = 0; i < 10; ++i) placement.ran(2ms, 1);
  EXPECT_EQ(runs_until_promoted(placement), 32U);
}

TEST(Placement, ARunThatWaitsIsSlow) {
  Placement placement;
  (void)runs_until_promoted(placement);
  placement.waited();
  EXPECT_FALSE(placement.promoted());
  EXPECT_EQ(runs_until_promoted(placement), 64U);
}

TEST(Placement, MeasuresAMessageByItsItems) {
  Placement placement;
  for (int i = 0; i < 32; ++i) placement.ran(Placement::kQuick * 3 - 1ns, 3);
  EXPECT_TRUE(placement.promoted());
  placement.ran(Placement::kSlow + 1ns, 20);
  EXPECT_FALSE(placement.promoted());
}

TEST(Placement, MeasuresWhatIsSmallEnoughToRunWhereItWasRead) {
  EXPECT_TRUE(Placement::measures(64U << 10U, 1));
  EXPECT_FALSE(Placement::measures((64U << 10U) + 1, 1));
  EXPECT_TRUE(Placement::measures(0, 20));
  EXPECT_FALSE(Placement::measures(0, 21));
}

}  // namespace
}  // namespace mf::server
