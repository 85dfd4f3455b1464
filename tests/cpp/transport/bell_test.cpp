// A thread sleeps until another one rings. That nothing delays it is a test of the simulation (waits.cpp).
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mf/transport/bell.hpp"

namespace mftest::bell_test {
namespace {

using mf::transport::Bell;
using namespace std::chrono_literals;

TEST(ABell, ThatWasRungBeforeEndsOneWaitHoweverOftenItWasRung) {
  Bell bell;
  bell.ring();
  bell.ring();
  EXPECT_TRUE(bell.wait(mf::TimePoint{})) << "the time has come long ago, but it was rung before";
  EXPECT_FALSE(bell.wait(mf::TimePoint{}));
}

TEST(ABell, EndsAWaitWhenItsTimeHasComeAndNotBefore) {
  Bell bell;
  const auto until = mf::now() + 20ms;
  EXPECT_FALSE(bell.wait(until));
  EXPECT_GE(mf::now(), until);
}

TEST(ABell, LosesNoRingBetweenTwoThreads) {
  constexpr int kTurns = 20'000;
  Bell ping;
  Bell pong;
  int turns = 0;  // written by one of them at a time
  std::jthread other([&] {
    for (int i = 0; i < kTurns; ++i) {
      ASSERT_TRUE(ping.wait(i % 2 == 0 ? mf::kNever : mf::now() + 60s));
      ++turns;
      pong.ring();
    }
  });
  for (int i = 0; i < kTurns; ++i) {
    ping.ring();
    ASSERT_TRUE(pong.wait(i % 2 == 0 ? mf::now() + 60s : mf::kNever));
    ASSERT_EQ(turns, i + 1);
  }
}

}  // namespace
}  // namespace mftest::bell_test
