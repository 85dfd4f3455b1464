// Servers that are stopped and continued (SIGSTOP, SIGCONT), as their clients see it: the kernel goes on
// taking connections and bytes for them. Counts and outcomes alone; nothing is timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mf/client/client.hpp"
#include "mftest/calls.client.hpp"
#include "support/joined.hpp"
#include "support/process.hpp"

namespace mftest::frozen_server_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

struct Remote {
  Process process{{MF_ECHO_SERVER, "tcp://127.0.0.1:0"}};
  std::string url = process.out_line();
};

/// Two servers of a kind, both of which have answered a client.
struct Two {
  Two() {
    for (int i = 0; i < 200; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
  }
  /// Calls until so many have ended well; gives how many did not.
  int lost_until(int wanted, std::chrono::milliseconds deadline = 200ms) const {
    int lost = 0;
    for (int well = 0; well < wanted && lost < wanted;) {
      (failure_of([&] { return stub.twice(1, {.deadline = deadline}); }).code == Code::ok ? well : lost) += 1;
    }
    return lost;
  }

  Remote one;
  Remote two;
  mf::Client client{one.url + "," + two.url};
  calls::EchoClient stub{client};
};

TEST(FrozenServer, LosesTheCallsThatAreWithItAndNoMore) {
  const Two servers;
  servers.one.process.freeze();
  EXPECT_LE(servers.lost_until(3'000), 2);
}

TEST(FrozenServer, IsUsedAgainWhenItIsContinued) {
  const Two servers;
  servers.one.process.freeze();
  EXPECT_LE(servers.lost_until(500), 2);
  servers.one.process.thaw();
  // Until it has been found to live, and has been asked to prove it.
  EXPECT_TRUE(eventually([&] {
    (void)servers.lost_until(100);
    servers.two.process.freeze();
    const bool used =
        failure_of([&] { return servers.stub.again(1, {.deadline = 200ms}); }).code == Code::ok &&
        servers.lost_until(20) <= 2;
    servers.two.process.thaw();
    return used;
  }));
  EXPECT_LE(servers.lost_until(500), 4);
}

TEST(FrozenServer, LosesNoMoreThanOneCallOfEachThread) {
  const Two servers;
  servers.one.process.freeze();
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { lost += servers.lost_until(500); });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(lost, 8);
}

TEST(FrozenServer, LosesOfManyAsynchronousCallsThoseThatWereWithIt) {
  const Two servers;
  servers.one.process.freeze();
  constexpr int kAtOnce = 64;
  constexpr int kCalls = 20'000;
  struct State {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::atomic<int> lost{0};
    const calls::EchoClient* stub = nullptr;
    void next() {
      if (begun++ >= kCalls) return;
      stub->async_twice(1, {.deadline = 2s}, [this](mf::Outcome<std::int32_t> outcome) {
        if (!outcome.ok()) ++lost;
        next();
        ++ended;
      });
    }
  };
  State state;
  state.stub = &servers.stub;
  for (int i = 0; i < kAtOnce; ++i) state.next();
  EXPECT_TRUE(eventually([&] { return state.ended == kCalls; }));
  EXPECT_LE(state.lost, kAtOnce);
}

TEST(FrozenServer, AloneEndsTheCallThatWaitsForItLongBeforeItsDeadline) {
  const Remote remote;
  mf::Client client(remote.url, {.dead_after = 500ms});
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  remote.process.freeze();
  const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 300s}); });
  EXPECT_EQ(failure.code, Code::connection_lost);
  EXPECT_EQ(failure.execution, Execution::unknown);
  EXPECT_THAT(failure.message,
              testing::AllOf(HasSubstr(remote.url), HasSubstr("nothing has come for 0.4 s")));
  remote.process.thaw();
  EXPECT_TRUE(eventually([&] { return failure_of([&] { return stub.twice(1); }).code == Code::ok; }));
}

TEST(FrozenServer, LetsIdempotentCallsGoElsewhere) {
  const Remote one;
  const Remote two;
  mf::Client client(one.url + "," + two.url, {.dead_after = 500ms});
  const calls::EchoClient stub(client);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
  one.process.freeze();
  for (int i = 0; i < 500; ++i) EXPECT_EQ(stub.again(i, {.deadline = 300s}), i);
}

TEST(BusyServer, IsNotCutWhileItRunsALongCallAndAnswersPings) {
  const Remote remote;
  mf::Client client(remote.url, {.dead_after = 1s});
  const calls::EchoClient stub(client);
  const auto failure = failure_of([&] { return stub.wait(3'000, {.deadline = 60s}), 0; });
  EXPECT_EQ(failure.code, Code::ok) << failure.message;
}

}  // namespace
}  // namespace mftest::frozen_server_test
