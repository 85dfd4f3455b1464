// A forked child process has none of its parent's threads, and must not touch its parent's connections: what
// it does with a client of its parent fails at once.
#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <vector>

#include "support/forked.hpp"
#include "support/joined.hpp"

namespace mftest::forked_test {
namespace {

bool is_refused_after_a_fork(const mf::Failure& failure) {
  return failure.code == mf::Code::unavailable && failure.execution == mf::Execution::not_executed &&
         failure.message.find("before this process was forked") != std::string::npos;
}

TEST(ForkedClients, RefuseBlockingAndAsynchronousCallsAtOnce) {
  Calling calling;
  EXPECT_EQ(calling.stub.twice(1), 2);
  EXPECT_TRUE(holds_in_a_child(
      [&] { return is_refused_after_a_fork(failure_of([&] { return calling.stub.twice(2); })); }));
  EXPECT_TRUE(holds_in_a_child([&] {
    mf::Failure ended;
    calling.stub.async_twice(2, [&](const mf::Outcome<std::int32_t>& outcome) { ended = outcome.failure(); });
    return is_refused_after_a_fork(ended);
  }));
  EXPECT_TRUE(holds_in_a_child([&] {
    const std::vector<calls::EchoTwiceRequest> requests{{.x = 1}, {.x = 2}};
    auto batch = calling.stub.twice_batch(requests);
    return is_refused_after_a_fork(batch.results().at(1).failure()) &&
           is_refused_after_a_fork(failure_of([&] { (void)calling.stub.twice_bulk(requests); }));
  }));
  EXPECT_EQ(calling.stub.twice(3), 6) << "the parent's connection is as it was";
}

/// A servant whose wait() ends when the test releases the gate.
class Gated final : public Echo {
 public:
  void wait(std::uint32_t /*ms*/) override { gate.acquire(); }

  std::binary_semaphore gate{0};
};

TEST(ForkedClients, EndABatchOfTheParent) {
  const auto servant = std::make_shared<Gated>();
  mf::Server server;
  server.offer(servant, {.where = mf::Where::worker});
  server.start();
  mf::Client client(server.address().str());
  const std::vector<calls::EchoWaitRequest> requests{{.ms = 0}};
  auto batch = calls::EchoClient(client).wait_batch(requests);
  EXPECT_TRUE(holds_in_a_child([&] {
    const auto outcomes = batch.results();
    const auto& failure = outcomes.at(0).failure();
    return failure.code == mf::Code::connection_lost &&
           failure.message == "the process was forked: the batch belongs to the parent process";
  }));
  servant->gate.release();
  EXPECT_TRUE(batch.results().at(0).ok()) << "the parent gets the answer";
}

TEST(ForkedClients, MayBeDestroyedInTheChildAndReplacedThere) {
  Served served;
  auto client = std::make_unique<mf::Client>(served.url());
  EXPECT_EQ(calls::EchoClient(*client).twice(1), 2);
  EXPECT_TRUE(holds_in_a_child([&] {
    client.reset();
    mf::Client own(served.url());
    return calls::EchoClient(own).twice(4) == 8;
  }));
  EXPECT_EQ(calls::EchoClient(*client).twice(3), 6);
}

}  // namespace
}  // namespace mftest::forked_test
