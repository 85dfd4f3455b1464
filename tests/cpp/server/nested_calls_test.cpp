// A handler that waits for a call of its own gives its place to other calls meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/joined.hpp"

namespace mftest::nested_calls_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;

/// Counts down by calls of another server, or of its own, one for each step.
class Counting : public Echo {
 public:
  std::int32_t twice(std::int32_t x) override {
    if (x == 0) return 0;
    try {
      return 2 + next->twice(x - 1);
    } catch (const mf::Error& error) {
      const std::scoped_lock lock(mutex_);
      if (first_refusal_.empty()) first_refusal_ = error.message();
      throw;
    }
  }
  /// The same, by a batch of two messages.
  std::int32_t again(std::int32_t x) override {
    if (x == 0) return 0;
    const std::vector<calls::EchoTwiceRequest> requests{{.x = x - 1}, {.x = x - 1}};
    std::int32_t sum = 0;
    for (const auto& outcome : next->twice_batch(requests, {.size = 1}).results()) sum += outcome.value();
    return sum;
  }

  [[nodiscard]] std::string first_refusal() const {
    const std::scoped_lock lock(mutex_);
    return first_refusal_;
  }

  const calls::EchoClient* next = nullptr;

 private:
  mutable std::mutex mutex_;
  std::string first_refusal_;
};

/// A server, and a client of it for the handlers of others.
struct Stop {
  explicit Stop(std::size_t workers, const std::shared_ptr<KeptLog>& log = std::make_shared<KeptLog>())
      : server({.workers = workers, .log = mf::Log(log)}) {
    server.offer(echo, {.where = mf::Where::worker});
    server.start();
    client.emplace(server.address().str());
    stub.emplace(*client);
  }

  std::shared_ptr<Counting> echo = std::make_shared<Counting>();
  mf::Server server;
  std::optional<mf::Client> client;
  std::optional<calls::EchoClient> stub;
};

TEST(NestedCalls, OfAServersOwnMethodGoDeeperThanThereAreWorkers) {
  Stop here(1);
  here.echo->next = &*here.stub;
  EXPECT_EQ(here.stub->twice(6), 12);
  EXPECT_EQ(here.stub->again(3), 8) << "by batches, whose items make calls, too";
}

TEST(NestedCalls, OfTwoServersThatCallEachOtherCompleteWithAllWorkersTaken) {
  constexpr int kCallers = 4;
  Stop one(kCallers);
  Stop other(kCallers);
  one.echo->next = &*other.stub;
  other.echo->next = &*one.stub;
  mf::Client client(one.server.address().str());
  const calls::EchoClient stub(client);
  std::atomic<int> good{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 25; ++round) good += stub.twice(3) == 6 ? 1 : 0;
    });
  }
  callers.clear();
  EXPECT_EQ(good, kCallers * 25);
}

TEST(NestedCalls, AreRefusedAtOnceWhenNoThreadIsLeft) {
  const auto log = std::make_shared<KeptLog>();
  Stop here(1, log);
  here.echo->next = &*here.stub;
  const auto failure = failure_of([&] { return here.stub->twice(400); });
  EXPECT_EQ(failure.code, Code::overloaded);
  EXPECT_THAT(here.echo->first_refusal(),
              HasSubstr("all 257 workers wait for calls that their handlers made"));
  EXPECT_TRUE(log->has("workers_wait workers=257"));
  EXPECT_EQ(here.stub->twice(5), 10) << "the server goes on";
}

}  // namespace
}  // namespace mftest::nested_calls_test
