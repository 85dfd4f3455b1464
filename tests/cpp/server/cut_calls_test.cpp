// A server that stops before its calls have ended logs them.
#include <gtest/gtest.h>

#include <thread>

#include "support/joined.hpp"

namespace mftest::cut_calls_test {
namespace {

TEST(CutCalls, AreCountedByMethodInTheLogAndMakeStopFail) {
  const auto log = std::make_shared<KeptLog>();
  const auto echo = std::make_shared<Echo>();
  mf::Server server({.drain_timeout = std::chrono::milliseconds(10), .log = mf::Log(log)});
  server.offer(echo, {.where = mf::Where::worker});
  server.start();
  mf::Client client(server.address().str());
  const calls::EchoClient stub(client);
  mf::Failure failure;
  std::jthread caller([&] { failure = failure_of([&] { stub.wait(1'000); }); });
  ASSERT_TRUE(eventually([&] { return echo->ran == 1; }));
  EXPECT_FALSE(server.stop());
  caller.join();
  EXPECT_TRUE(log->has("calls_cut calls=1 methods=\"mftest.calls.Echo.wait 1\""));
  EXPECT_FALSE(log->has("drained"));
  EXPECT_TRUE(log->has("stopped"));
}

TEST(CutCalls, AreNotLoggedByAServerThatDrainsInTime) {
  Calling calling;
  EXPECT_EQ(calling.stub.twice(2), 4);
  EXPECT_TRUE(calling.server.stop());
  EXPECT_TRUE(calling.server.stop()) << "there is nothing to stop any more";
  EXPECT_FALSE(calling.log->has("calls_cut"));
  EXPECT_TRUE(calling.log->has("drained"));
  EXPECT_TRUE(calling.log->has("stopped"));
}

}  // namespace
}  // namespace mftest::cut_calls_test
