#include "mf/core/rounds.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace mf::rounds_test {
namespace {

TEST(Rounds, FollowARoundThatAsksForThem) {
  Rounds rounds;
  int done = 0;
  const std::function<void()> round = [&] {
    if (++done == 1) rounds.ask(round);
    EXPECT_LE(done, 2);
  };
  rounds.ask(round);
  EXPECT_EQ(done, 2);
}

TEST(Rounds, GoOnAfterARoundThatThrows) {
  Rounds rounds;
  int done = 0;
  const auto round = [&] {
    if (++done == 1) {
      rounds.ask([] {});
      throw std::runtime_error("the first");
    }
  };
  EXPECT_THROW(rounds.ask(round), std::runtime_error);
  EXPECT_EQ(done, 2) << "what was asked for within it has followed";
  rounds.ask(round);
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace mf::rounds_test
