// Servers that are killed, starved of descriptors, or stopped, as their clients see it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "mf/client/client.hpp"
#include "mf/transport/socket.hpp"
#include "mftest/calls.client.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"
#include "support/process.hpp"

namespace mftest::killed_server_test {
namespace {

using mf::Code;
using mf::Execution;
using namespace std::chrono_literals;

struct Remote {
  explicit Remote(std::string listen = "tcp://127.0.0.1:0") : process({MF_ECHO_SERVER, std::move(listen)}) {}
  Process process;
  std::string url = process.out_line();
};

TEST(KilledServer, EndsTheCallInFlightAsUnknownAtOnce) {
  Remote remote;
  mf::Client client(remote.url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::thread calling([&] {
    const auto failure = failure_of([&] { return stub.wait(60'000, {.deadline = 30s}), 0; });
    EXPECT_EQ(failure.code, Code::connection_lost);
    EXPECT_EQ(failure.execution, Execution::unknown);
  });
  std::this_thread::sleep_for(30ms);
  const auto before = std::chrono::steady_clock::now();
  remote.process.kill(SIGKILL);
  calling.join();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);  // not the deadline
}

TEST(KilledServer, SplitsABatchIntoResultsUnknownAndNotExecuted) {
  Remote remote;
  mf::Client client(remote.url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  // 4 workers: the first message ends, the window's others are being run or wait, the rest has not left.
  std::vector<calls::EchoWaitRequest> requests(40, calls::EchoWaitRequest{.ms = 60'000});
  requests[0].ms = 0;
  auto batch = stub.wait_batch(requests, {.deadline = 30s, .size = 1, .window = 8});
  EXPECT_TRUE(eventually([&] { return batch.partial()[0].has_value(); }));
  remote.process.kill(SIGKILL);
  const auto outcomes = batch.results();
  ASSERT_EQ(outcomes.size(), 40U);
  EXPECT_TRUE(outcomes[0].ok());
  int unknown = 0;
  int not_executed = 0;
  for (std::size_t i = 1; i < 40; ++i) {
    ASSERT_FALSE(outcomes[i].ok());
    const auto& failure = outcomes[i].failure();
    const bool may_have_run = failure.execution == Execution::unknown;
    // What has not left looks for another server, and finds none.
    EXPECT_EQ(failure.code, may_have_run ? Code::connection_lost : Code::unavailable);
    (may_have_run ? unknown : not_executed) += 1;
  }
  EXPECT_EQ(unknown, 8);  // the window, refilled once
  EXPECT_EQ(not_executed, 31);
}

TEST(KilledServer, EndsEveryAsynchronousCallOnce) {
  Remote remote;
  mf::Client client(remote.url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::atomic<int> ended{0};
  for (int i = 0; i < 500; ++i) stub.async_wait(i % 2 == 0 ? 0 : 60'000, [&](mf::Outcome<void>) { ++ended; });
  remote.process.kill(SIGKILL);
  EXPECT_TRUE(eventually([&] { return ended == 500; }));
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(ended, 500);
}

TEST(KilledServer, IdempotentCallsGoOnWithAnotherInstance) {
  auto one = std::make_unique<Remote>();
  Remote two;
  mf::Client client(one->url + "," + two.url);
  const calls::EchoClient stub(client);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(stub.again(i), i);
  std::atomic<bool> stop{false};
  std::thread calling([&] {
    for (int i = 0; !stop; ++i) EXPECT_EQ(stub.again(i), i);
  });
  one->process.kill(SIGKILL);
  std::this_thread::sleep_for(50ms);
  stop = true;
  calling.join();
}

TEST(KilledServer, IsUsedAgainWhenItReturns) {
  auto remote = std::make_unique<Remote>();
  const auto url = remote->url;
  mf::Client client(url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  remote->process.kill(SIGKILL);
  (void)remote->process.wait();
  EXPECT_NE(failure_of([&] { return stub.twice(1, {.deadline = 5s}); }).code, Code::ok);
  remote = std::make_unique<Remote>(url);
  ASSERT_EQ(remote->url, url);
  EXPECT_TRUE(eventually([&] { return failure_of([&] { return stub.twice(1); }).code == Code::ok; }));
}

TEST(StoppedServer, FinishesWhatIsInFlightAndEndsWell) {
  Remote remote;
  mf::Client client(remote.url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::thread calling([&] { EXPECT_NO_THROW(stub.wait(200)); });
  std::this_thread::sleep_for(50ms);
  remote.process.kill(SIGTERM);
  calling.join();
  const int status = remote.process.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(StoppedServer, ASecondSignalEndsItAtOnce) {
  Remote remote;
  mf::Client client(remote.url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::thread calling([&] { (void)failure_of([&] { return stub.wait(60'000), 0; }); });
  std::this_thread::sleep_for(50ms);
  remote.process.kill(SIGINT);
  std::this_thread::sleep_for(50ms);
  remote.process.kill(SIGINT);
  calling.join();
  const int status = remote.process.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT) << status;
}

TEST(TakenPort, IsSaidAndEndsTheServer) {
  Remote remote;
  Process second({MF_ECHO_SERVER, remote.url});
  EXPECT_THAT(second.err_line(), testing::AllOf(testing::HasSubstr(remote.url), testing::HasSubstr("taken")));
  const int status = second.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

TEST(StarvedServer, TurnsCallersAwayServesTheOthersAndRecovers) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP()
      << "the undefined-behaviour sanitizer needs descriptors of its own to look at an object's type";
#endif
#endif
  Process process({MF_ECHO_SERVER, "tcp://127.0.0.1:0", "24"});
  const auto url = process.out_line();
  mf::Client client(url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  {
    std::vector<std::unique_ptr<mf::transport::Stream>> many;
    for (int i = 0; i < 40; ++i) {
      auto stream = mftest::connect(mf::Address::parse(url), 5s);
      ASSERT_TRUE(stream.ok());
      many.push_back(std::move(stream).value());
    }
    // The last one is turned away, and all before it were taken or turned away by then.
    std::array<std::byte, 256> farewell{};
    many.back()->wait_ready(true, false, 5s);
    EXPECT_EQ(many.back()->read(farewell, mf::transport::Wait::no).state, mf::transport::IoState::ok);
    EXPECT_THAT(process.err_line(), testing::HasSubstr("out_of_descriptors"));
    const auto served = failure_of([&] { return stub.twice(2); });  // over the open connection
    EXPECT_EQ(served.code, Code::ok) << served.message;
  }
  mf::Client late(url);
  const auto served = failure_of([&] { return calls::EchoClient(late).twice(3); });
  EXPECT_EQ(served.code, Code::ok) << mf::name(served.execution) << ": " << served.message;
}

}  // namespace
}  // namespace mftest::killed_server_test
