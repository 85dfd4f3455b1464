// How a client handles OVERLOADED: another instance first, then a rest, within the retry budget, with exact
// counts. Capacity is a semaphore that the test controls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <semaphore>

#include "mf/client/core.hpp"
#include "mf/core/blocking.hpp"
#include "support/joined.hpp"

namespace mftest::overloaded_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// again() holds its slot until the test gives a permit.
class Held final : public Echo {
 public:
  std::int32_t again(std::int32_t x) override {
    mf::blocking();
    permits.acquire();
    return x;
  }
  std::counting_semaphore<> permits{0};
};

/// A server with one slot by default.
struct Instance {
  explicit Instance(mf::Limit limit = {.concurrent = 1, .queued = 0})
      : server({.workers = 4, .limit = limit}) {
    server.offer(servant);
    server.start();
  }
  ~Instance() { release(); }
  /// Occupies all slots until release().
  void hold() {
    holding = std::thread([this] {
      mf::Client client(server.address().str());
      EXPECT_EQ(calls::EchoClient(client).again(7, {.deadline = std::chrono::minutes(5)}), 7);
    });
    ASSERT_TRUE(eventually([&] { return server.stats().running == 1; }));
  }
  void release() {
    servant->permits.release(100);
    if (holding.joinable()) holding.join();
  }
  [[nodiscard]] std::uint64_t refused() const { return server.stats().refused; }
  [[nodiscard]] std::string address() const { return server.address().str(); }

  std::shared_ptr<Held> servant = std::make_shared<Held>();
  mf::Server server;
  std::thread holding;
};

/// The parameter: blocking calls, or callbacks.
class Overloaded : public testing::TestWithParam<bool> {
 protected:
  mf::Outcome<std::int32_t> twice(const calls::EchoClient& stub, std::int32_t x,
                                  mf::CallOptions options = {}) {
    if (!GetParam()) {
      try {
        return stub.twice(x, options);
      } catch (...) {
        return mf::Failure::from_current_exception();
      }
    }
    std::binary_semaphore done{0};
    std::optional<mf::Outcome<std::int32_t>> ended;
    stub.async_twice(x, options, [&](mf::Outcome<std::int32_t> outcome) {
      ended = std::move(outcome);
      done.release();
    });
    done.acquire();
    return std::move(*ended);
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, Overloaded, testing::Bool(),
                         [](const auto& info) { return info.param ? "Async" : "Blocking"; });

TEST_P(Overloaded, AnotherInstanceIsAskedAtOnce) {
  Instance full;
  Instance free;
  mf::Client client(full.address() + "," + free.address());
  const calls::EchoClient stub(client);
  ASSERT_TRUE(eventually([&] {  // both are connected
    return twice(stub, 0).ok() && full.servant->ran != 0 && free.servant->ran != 0;
  }));
  full.hold();
  const int full_ran = full.servant->ran;
  const int free_ran = free.servant->ran;
  for (std::int32_t x = 0; x < 200; ++x) {
    const auto outcome = twice(stub, x);
    ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
    EXPECT_EQ(outcome.value(), 2 * x);
  }
  EXPECT_EQ(full.servant->ran, full_ran);
  EXPECT_EQ(free.servant->ran, free_ran + 200);
  EXPECT_LT(full.refused(), 50U);  // it is avoided for a while after each refusal
}

TEST_P(Overloaded, ThreeAttemptsAreMadeAndTheWordsAreTheServers) {
  Instance full;
  full.hold();
  mf::Client client(full.address());
  const auto outcome = twice(calls::EchoClient(client), 1);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().code, Code::overloaded);
  EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
  EXPECT_THAT(outcome.failure().message, HasSubstr("at most 1 calls run at once on this server, and 0 wait"));
  EXPECT_EQ(full.refused(), 3U);
  EXPECT_EQ(full.servant->ran, 0);
}

TEST_P(Overloaded, ACallThatRestsGoesOnOnceThereIsRoom) {
  Instance full;
  full.hold();
  mf::Client client(full.address());
  std::thread freeing([&] {
    EXPECT_TRUE(eventually([&] { return full.refused() != 0; }));
    full.servant->permits.release(1);
  });
  const calls::EchoClient stub(client);
  mf::Outcome<std::int32_t> outcome = twice(stub, 1);
  // On a loaded machine the slot may become free too late for the third attempt.
  for (int i = 0; i < 50 && !outcome.ok() && outcome.failure().code == Code::overloaded; ++i)
    outcome = twice(stub, 1);
  freeing.join();
  ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
  EXPECT_EQ(full.servant->ran, 1);
}

TEST_P(Overloaded, ADeadlineThatLeavesNoRoomEndsTheCallWithTheServersWords) {
  Instance full;
  full.hold();
  mf::Client client(full.address());
  const calls::EchoClient stub(client);
  ASSERT_EQ(twice(stub, 1).failure().code, Code::overloaded);  // connected
  // No rest is shorter than 10 ms, so that a deadline leaves no time for one which passes less than that
  // after the refusal has arrived. How long that takes is found by trying.
  int refused = 0;
  for (auto deadline = 9ms; deadline < 1s && refused < 3; deadline += refused == 0 ? 5ms : 0ms) {
    const auto before = full.refused();
    const auto outcome = twice(stub, 1, {.deadline = deadline});
    if (outcome.failure().code != Code::overloaded || full.refused() - before != 1) continue;
    ++refused;
    EXPECT_THAT(outcome.failure().message, HasSubstr("at most 1 calls run at once"));
  }
  EXPECT_EQ(refused, 3);
}

TEST_P(Overloaded, AllRepeatsShareTheRetryBudget) {
  Instance full;
  full.hold();
  mf::Client client(full.address());
  while (client.core()->retry_budget().take()) continue;
  const calls::EchoClient stub(client);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(twice(stub, i).failure().code, Code::overloaded);
  EXPECT_EQ(full.refused(), 3U);
}

TEST(OverloadedBatch, EachItemHasAnExactOutcome) {
  Instance full;
  full.hold();
  mf::Client client(full.address());
  const std::vector<calls::EchoTwiceRequest> requests(20);
  auto batch = calls::EchoClient(client).twice_batch(requests, {.size = 2});
  std::size_t count = 0;
  for (const auto& outcome : batch.results()) {
    ++count;
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure().code, Code::overloaded);
    EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
  }
  EXPECT_EQ(count, 20U);
  EXPECT_EQ(full.refused(), 60U);  // items, since each message has three attempts
  EXPECT_EQ(full.servant->ran, 0);
}

TEST(OverloadedBatch, WhatItSaysHasRunAndNothingElse) {
  Instance busy({.concurrent = 1, .queued = 1});
  mf::Client client(busy.address());
  std::vector<calls::EchoTwiceRequest> requests;
  for (std::int32_t x = 0; x < 400; ++x) requests.push_back({.x = x});
  auto batch = calls::EchoClient(client).twice_batch(requests, {.size = 2, .window = 16});
  int ran = 0;
  std::int32_t x = 0;
  for (const auto& outcome : batch.results()) {
    if (outcome.ok()) {
      ++ran;
      EXPECT_EQ(outcome.value(), 2 * x);
    } else {
      EXPECT_EQ(outcome.failure().code, Code::overloaded);
      EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
    }
    ++x;
  }
  EXPECT_EQ(x, 400);
  EXPECT_EQ(busy.servant->ran, ran);
}

TEST(OverloadedBatch, GoesOnAtAnotherServer) {
  Instance full;
  Instance free({.concurrent = 1, .queued = 100});
  full.hold();
  mf::Client client(full.address() + "," + free.address());
  const std::vector<calls::EchoTwiceRequest> requests(40);
  for (int i = 0; i < 10; ++i) {
    auto batch = calls::EchoClient(client).twice_batch(requests, {.size = 2, .window = 4});
    for (const auto& outcome : batch.results()) EXPECT_TRUE(outcome.ok());
  }
  EXPECT_EQ(free.servant->ran, 400);
}

TEST(OverloadedEnds, ClosingTheClientAndCancellingEndACallThatRests) {
  Instance full;
  full.hold();
  for (const bool closing : {true, false}) {
    std::atomic<int> cancelled{0};
    std::atomic<int> overloaded{0};
    {
      mf::Client client(full.address());
      const calls::EchoClient stub(client);
      std::stop_source source;
      for (int i = 0; i < 200; ++i) {
        stub.async_twice(i, {.stop = closing ? std::stop_token() : source.get_token()},
                         [&](mf::Outcome<std::int32_t> outcome) {
                           ++(outcome.failure().code == Code::cancelled ? cancelled : overloaded);
                         });
      }
      const auto before = full.refused();
      EXPECT_TRUE(eventually([&] { return full.refused() > before; }));
      if (!closing) {
        source.request_stop();
        EXPECT_TRUE(eventually([&] { return cancelled + overloaded == 200; }));
      }
    }
    EXPECT_EQ(cancelled + overloaded, 200);
    EXPECT_GT(cancelled, 0);
  }
}

}  // namespace
}  // namespace mftest::overloaded_test
