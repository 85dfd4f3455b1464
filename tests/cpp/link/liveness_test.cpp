// When a silent peer is pinged, and when it is taken for gone.
#include "mf/link/liveness.hpp"

#include <gtest/gtest.h>

namespace mf::link::liveness_test {
namespace {

using namespace std::chrono_literals;
using Verdict = Silence::Verdict;

TEST(Silence, PingsAfterTheFirstQuietTurnAndEndsWithTheFourth) {
  Silence silence(10s);
  EXPECT_EQ(silence.period(), 2s);
  EXPECT_EQ(silence.turn(false), Verdict::ping);
  EXPECT_EQ(silence.turn(false), Verdict::alive);
  EXPECT_EQ(silence.turn(false), Verdict::alive);
  EXPECT_EQ(silence.turn(false), Verdict::dead);
  EXPECT_EQ(silence.lasted(), 8s);
}

TEST(Silence, BeginsAnewWithEachSignOfLife) {
  Silence silence(10s);
  for (int i = 0; i < 3; ++i) (void)silence.turn(false);
  EXPECT_EQ(silence.turn(true), Verdict::alive);
  EXPECT_EQ(silence.turn(false), Verdict::ping);
  silence.reset();
  EXPECT_EQ(silence.turn(false), Verdict::ping);
}

TEST(Silence, OfNoLengthHasNoTimer) {
  EXPECT_EQ(Silence(0ms).period(), 0ms);
}

TEST(Silence, IsShortenedButNeverMadeLonger) {
  EXPECT_TRUE(Silence(0ms).shortens(10s));
  EXPECT_TRUE(Silence(10s).shortens(5s));
  EXPECT_FALSE(Silence(10s).shortens(10s));
  EXPECT_FALSE(Silence(10s).shortens(20s));
  EXPECT_FALSE(Silence(10s).shortens(0ms));
}

}  // namespace
}  // namespace mf::link::liveness_test
