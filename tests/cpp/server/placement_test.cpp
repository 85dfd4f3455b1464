#include "server/placement.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "server/preemption.hpp"

namespace mf::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kJustQuick = Placement::kQuick - 1ns;

/// The number of quick runs until the method is promoted.
std::uint32_t runs_until_promoted(Placement& placement) {
  for (std::uint32_t runs = 0;; ++runs) {
    if (placement.promoted()) return runs;
    placement.ran_on_worker(kJustQuick, 1);
  }
}

TEST(Placement, PromotesWhatWasQuickThirtyTwoTimes) {
  Placement placement;
  EXPECT_EQ(runs_until_promoted(placement), 32U);
}

TEST(Placement, CountsQuickRunsInARow) {
  Placement placement;
  for (int i = 0; i < 31; ++i) placement.ran_on_worker(kJustQuick, 1);
  placement.ran_on_worker(Placement::kQuick, 1);
  EXPECT_EQ(runs_until_promoted(placement), 32U);
}

TEST(Placement, KeepsAPromotedMethodUntilARunTakesMoreThanAMillisecond) {
  Placement placement;
  (void)runs_until_promoted(placement);
  placement.ran_here(1ms);
  EXPECT_TRUE(placement.promoted());
  placement.ran_here(1ms + 1ns);
  EXPECT_FALSE(placement.promoted());
}

TEST(Placement, LearnsNothingFromWorkersThatRunCallsOfAPromotedMethod) {
  Placement placement;
  (void)runs_until_promoted(placement);
  placement.ran_on_worker(2ms, 1);
  EXPECT_TRUE(placement.promoted());
}

TEST(Placement, EachDemotionDoublesWhatTheNextPromotionAsksFor) {
  Placement placement;
  std::uint32_t needed = 32;
  for (int demotions = 0; demotions < 20; ++demotions) {
    EXPECT_EQ(runs_until_promoted(placement), needed);
    placement.ran_here(2ms);
    needed = std::min(needed * 2, Placement::kRunsAtMost);
  }
  EXPECT_EQ(needed, Placement::kRunsAtMost);
  EXPECT_EQ(runs_until_promoted(placement), Placement::kRunsAtMost);
}

TEST(Placement, SlowRunsOfAMethodThatIsNotPromotedDoubleNothing) {
  Placement placement;
  for (int i = 0; i < 10; ++i) placement.ran_on_worker(2ms, 1);
  for (int i = 0; i < 10; ++i) placement.waited();
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
  for (int i = 0; i < 32; ++i) placement.ran_on_worker(Placement::kQuick * 3 - 1ns, 3);
  EXPECT_TRUE(placement.promoted());
}

TEST(Placement, MeasuresWhatIsSmallEnoughToRunWhereItWasRead) {
  EXPECT_TRUE(Placement::measures(64U << 10U, 1));
  EXPECT_FALSE(Placement::measures((64U << 10U) + 1, 1));
  EXPECT_TRUE(Placement::measures(0, 20));
  EXPECT_FALSE(Placement::measures(0, 21));
}

void burn(std::chrono::nanoseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

TEST(Preemption, WhatUsesItsProcessorForLongIsSlow) {
  watch_preemption(std::chrono::steady_clock::now() + 1h);  // forces a new query
  burn(50ms);
  EXPECT_FALSE(was_preempted(50ms, 1ms));
}

TEST(Preemption, WhatTakesLongerThanAnyWaitForAProcessorIsSlow) {
  watch_preemption(std::chrono::steady_clock::now() + 2h);
  EXPECT_FALSE(was_preempted(101ms, 1h));
}

TEST(Preemption, WhatLosesItsProcessorIsNotSlow) {
  // Two threads that never sleep on one processor preempt each other sooner or later.
  const auto here = [] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    return one;
  }();
  std::atomic<bool> over{false};
  bool preempted = false;
  std::thread watched([&] {
    (void)::sched_setaffinity(0, sizeof here, &here);
    watch_preemption(std::chrono::steady_clock::now() + 3h);
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!preempted && std::chrono::steady_clock::now() < until) preempted = was_preempted(2ms, 1h);
    over = true;
  });
  std::thread other([&] {
    (void)::sched_setaffinity(0, sizeof here, &here);
    while (!over) {
    }
  });
  watched.join();
  other.join();
  EXPECT_TRUE(preempted);
}

}  // namespace
}  // namespace mf::server
