#include "mf/protocol/stream.hpp"

#include <gtest/gtest.h>

#include <random>

namespace mf::protocol {
namespace {

TEST(SendWindow, SpendsWhatItWasGivenAndNoMore) {
  SendWindow window(100);
  EXPECT_TRUE(window.spend(60));
  EXPECT_FALSE(window.spend(41));
  EXPECT_TRUE(window.spend(40));
  EXPECT_TRUE(window.add(5));
  EXPECT_EQ(window.credit(), 5U);
}

TEST(SendWindow, CreditNeverGoesAboveThirtyOneBits) {
  SendWindow window(1);
  EXPECT_FALSE(window.add(kMaxCredit));
  EXPECT_TRUE(window.add(kMaxCredit - 1));
  EXPECT_FALSE(window.add(1));
}

TEST(ReceiveWindow, GivesBackWhatWasTakenByHalves) {
  WindowBudget none(0, 0, 0);
  ReceiveWindow window(1000);
  EXPECT_TRUE(window.arrived(600));
  EXPECT_EQ(window.taken(499, none), 0U);
  EXPECT_EQ(window.taken(1, none), 500U);
  EXPECT_TRUE(window.arrived(900));
  EXPECT_FALSE(window.arrived(1)) << "the sender had 900 left";
}

TEST(ReceiveWindow, GrowsWhereItHoldsTheSenderUpAndTheBudgetHasRoom) {
  WindowBudget budget(2, 1000, 5000);  // 3,000 beside what is promised
  ReceiveWindow window(1000);
  ASSERT_TRUE(window.arrived(1000));
  EXPECT_EQ(window.taken(1000, budget), 2000U);
  EXPECT_EQ(window.window(), 2000U);
  ASSERT_TRUE(window.arrived(2000));
  EXPECT_EQ(window.taken(2000, budget), 4000U);
  ASSERT_TRUE(window.arrived(4000));
  EXPECT_EQ(window.taken(4000, budget), 4000U) << "the budget is used up";
  EXPECT_EQ(budget.left(), 0U);
  window.release(budget);
  EXPECT_EQ(budget.left(), 3000U);
}

// The sum of data in transit and data that wait for the user never exceeds the windows.
TEST(ReceiveWindow, HoldsItsSumsWhateverTheOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    WindowBudget budget(4, 1024, 16'384);
    std::vector<ReceiveWindow> windows(4, ReceiveWindow(1024));
    std::vector<SendWindow> senders(4, SendWindow(1024));
    std::vector<std::size_t> waiting(4);
    for (int step = 0; step < 2000; ++step) {
      const auto at = random() % 4;
      const std::size_t bytes = random() % 700 + 1;
      if (random() % 2 == 0) {
        if (!senders[at].spend(bytes)) continue;
        ASSERT_TRUE(windows[at].arrived(bytes));
        waiting[at] += bytes;
      } else {
        const auto taken = std::min(bytes, waiting[at]);
        waiting[at] -= taken;
        const auto credit = windows[at].taken(taken, budget);
        ASSERT_TRUE(senders[at].add(credit));
      }
      std::size_t sum = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_LE(senders[i].credit() + waiting[i], windows[i].window());
        sum += windows[i].window();
        // If the receiver has taken everything, the sender has at least half of the window.
        if (waiting[i] == 0) {
          ASSERT_GE(senders[i].credit() * 2, windows[i].window());
        }
      }
      ASSERT_LE(sum, 16'384U);
    }
  }
}

}  // namespace
}  // namespace mf::protocol
