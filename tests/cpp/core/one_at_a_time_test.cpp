#include "mf/core/one_at_a_time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace mf::one_at_a_time_test {
namespace {

TEST(OneAtATime, RunsWhatIsAskedForWithinARoundAfterIt) {
  OneAtATime rounds;
  int done = 0;
  const std::function<void()> round = [&] {
    if (++done == 1) rounds.ask(round);
    EXPECT_LE(done, 2);
  };
  rounds.ask(round);
  EXPECT_EQ(done, 2);
}

TEST(OneAtATime, GoesOnAfterARoundThatThrows) {
  OneAtATime rounds;
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

TEST(OneAtATime, LosesNoRequestOfManyThreadsWhileRoundsThrow) {
  OneAtATime rounds;
  std::atomic<int> asked{0};
  std::atomic<int> thrown{0};
  int inside = 0;  // a data race for TSan if two threads were in a round
  int seen = 0;
  const auto round = [&] {
    EXPECT_EQ(++inside, 1);
    seen = asked.load();
    --inside;
    if (seen % 7 == 0) throw std::runtime_error("a seventh");
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2'000; ++n) {
        ++asked;
        try {
          rounds.ask(round);
        } catch (const std::runtime_error&) {
          ++thrown;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen, 8'000) << "the last request was followed by a round";
  EXPECT_GT(thrown, 0);
}

}  // namespace
}  // namespace mf::one_at_a_time_test
