// How a client finds the instances of a service, prefers live ones, and calls many.
#include "mf/client/client.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>

#include "client/fake_resolver.hpp"
#include "support/joined.hpp"

namespace mftest::instances_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Client, AServerThatIsNeverThereCostsNoTimeOfTheProcessor) {
  mf::Client client(nobody().str());
  const calls::EchoClient stub(client);
  const double before = cpu_seconds();
  const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 600ms}); });
  EXPECT_LT(cpu_seconds() - before, 0.3);
  EXPECT_EQ(failure.code, Code::unavailable);
  EXPECT_EQ(failure.execution, Execution::not_executed);
}

TEST(Client, WaitForServerIsNoLimitWhereAddressesOfServersWereGiven) {
  const auto address = nobody();
  mf::Client client(address.str(), {.wait_for_server = 1ms});
  const auto failure = failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 300ms}); });
  EXPECT_EQ(failure.code, Code::unavailable);
  EXPECT_EQ(failure.message, "gave up at the deadline: connect " + address.str() + ": connection refused");
}

TEST(Client, WaitsForNoServerThatItReachedOnceAndThatHasGone) {
  auto served = std::make_unique<Served>();
  const auto url = served->url();
  mf::Client client(url, {.wait_for_server = 60s});
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  served.reset();
  // Not "gave up at the deadline".
  EXPECT_EQ(failure_of([&] { return stub.twice(1, {.deadline = 60s}); }).message,
            "connect " + url + ": connection refused");
}

TEST(Client, WaitsForAServerThatIsStillToCome) {
  const auto address = nobody();
  mf::Client client(address.str());
  const calls::EchoClient stub(client);
  std::atomic<int> ended{0};
  stub.async_twice(4, [&](mf::Outcome<std::int32_t> outcome) {
    if (outcome && outcome.value() == 8) ++ended;
  });
  std::thread blocking([&] { EXPECT_EQ(stub.twice(1), 2); });
  std::this_thread::sleep_for(50ms);
  const Served served(mf::Where::worker, {.listen = address.str()});
  blocking.join();
  EXPECT_TRUE(eventually([&] { return ended == 1; }));
}

TEST(Client, FindsAServerAgainThatCameBackOnItsPort) {
  auto served = std::make_unique<Served>();
  const auto url = served->url();
  mf::Client client(url);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  served.reset();
  // It was there and has gone: a clear failure without waiting. (After a pause the link checks before it
  // sends.)
  std::this_thread::sleep_for(10ms);
  const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 10s}); });
  EXPECT_EQ(failure.execution, Execution::not_executed);
  served = std::make_unique<Served>(mf::Where::worker, mf::ServerOptions{.listen = url});
  EXPECT_TRUE(eventually([&] { return failure_of([&] { return stub.twice(1); }).code == Code::ok; }));
  // A new server is used at once, though the connection was lost while idle.
  served.reset();
  served = std::make_unique<Served>(mf::Where::worker, mf::ServerOptions{.listen = url});
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(stub.twice(3), 6);
  served.reset();
  served = std::make_unique<Served>(mf::Where::worker, mf::ServerOptions{.listen = url});
  std::this_thread::sleep_for(10ms);
  std::atomic<bool> ended{false};
  stub.async_twice(3, [&](mf::Outcome<std::int32_t> outcome) {
    EXPECT_TRUE(outcome.ok()) << outcome.failure().message;
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

TEST(Client, ReconnectsLeakNoDescriptors) {
  auto served = std::make_unique<Served>();
  const auto url = served->url();
  mf::Client client(url);
  const calls::EchoClient stub(client);
  const auto again = [&] {
    served.reset();
    served = std::make_unique<Served>(mf::Where::worker, mf::ServerOptions{.listen = url});
    std::atomic<bool> ended{false};
    EXPECT_TRUE(eventually([&] { return failure_of([&] { return stub.twice(1); }).code == Code::ok; }));
    stub.async_twice(1, [&](mf::Outcome<std::int32_t>) { ended = true; });
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
  };
  again();
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) again();
  EXPECT_LE(open_descriptors(), before + 1);
}

TEST(Client, SpreadsCallsOverTheInstancesAndUsesOneThatReturns) {
  auto one = std::make_unique<Served>();
  const Served two;
  const auto url = one->url();
  mf::Client client(url + "," + two.url());
  const calls::EchoClient stub(client);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(one->echo->ran, 4);  // one may be nearer
  EXPECT_GT(two.echo->ran, 4);
  one.reset();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stub.again(i), i);
  one = std::make_unique<Served>(mf::Where::worker, mf::ServerOptions{.listen = url});
  EXPECT_TRUE(eventually([&] {
    (void)stub.again(1);
    return one->echo->ran > 0;
  }));
}

TEST(Client, GivesUpAfterAWhileWhenTheSourceSaysThatThereIsNobody) {
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.note = "the controller knows 3 services";
  resolver->set(offers);
  mf::Client client(resolver, {.wait_for_server = 30ms});
  const auto failure = failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 20s}); });
  EXPECT_EQ(failure.code, Code::unavailable);
  EXPECT_THAT(failure.message, testing::AllOf(HasSubstr("mftest.calls.Echo"), HasSubstr("knows 3 services")));
}

TEST(Client, WaitsUntilItsDeadlineForASourceThatHasNotAnswered) {
  const auto resolver = std::make_shared<FakeResolver>();
  mf::Client client(resolver, {.wait_for_server = 1ms});
  const calls::EchoClient stub(client);
  const auto start = std::chrono::steady_clock::now();
  const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 60ms}); });
  EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms);
  EXPECT_EQ(failure.code, Code::unavailable);
  // The call continues as soon as there is an answer.
  const Served served;
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    auto offers = answered();
    offers.agents[""].push_back({.address = served.server.address()});
    resolver->set(offers);
  });
  EXPECT_EQ(stub.twice(1, {.deadline = 20s}), 2);
  later.join();
}

TEST(Client, FollowsWhatTheSourceSays) {
  const Served one;
  const Served two;
  const auto resolver = std::make_shared<FakeResolver>();
  const auto say = [&](const mf::Address& address) {
    auto offers = answered();
    offers.agents[""].push_back({.address = address});
    resolver->set(offers);
  };
  say(one.server.address());
  mf::Client client(resolver);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  EXPECT_EQ(one.echo->ran, 1);
  say(two.server.address());
  EXPECT_EQ(stub.twice(1), 2);
  EXPECT_EQ(two.echo->ran, 1);
}

TEST(Scatter, NamesEachAgentsEndAndADeadOneIsNoFailureOfAll) {
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents["books"].push_back({.address = served.server.address()});
  offers.agents["news"].push_back({.address = served.server.address()});
  offers.agents["films"] = {};  // had instances, and lost them
  offers.agents["maps"].push_back({.address = nobody()});
  resolver->set(offers);
  mf::Client client(resolver);
  const calls::PartClient part(client);
  for (int round = 0; round < 3; ++round) {
    std::map<std::string, mf::Outcome<std::string>> ends;
    for (auto& one : part.everywhere().name({.deadline = 500ms}))
      ends.emplace(one.agent, std::move(one.outcome));
    ASSERT_EQ(ends.size(), 4U);
    EXPECT_EQ(ends.at("books").value(), "books");
    EXPECT_EQ(ends.at("news").value(), "news");
    for (const char* dead : {"films", "maps"}) {
      EXPECT_EQ(ends.at(dead).failure().code, Code::unavailable) << ends.at(dead).failure().message;
      EXPECT_EQ(ends.at(dead).failure().execution, Execution::not_executed);
    }
  }
  const auto bulk = part.on({"news", "books"}).name_bulk(std::vector<calls::PartNameRequest>(3));
  ASSERT_EQ(bulk.size(), 2U);
  EXPECT_EQ(bulk[0].agent, "news");
  EXPECT_EQ(bulk[0].outcome.value().at(2).value(), "news");
  for (const auto& one : part.on({"books", "news"}).fail())
    EXPECT_NE(one.outcome.error_as<calls::Nope>(), nullptr);
}

TEST(Scatter, EverywhereNeedsASourceThatKnowsTheAgents) {
  Served served;
  mf::Client client(served.url());
  const auto failure = failure_of([&] { return calls::PartClient(client).everywhere().name(); });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_THAT(failure.message, HasSubstr("controller"));
}

}  // namespace
}  // namespace mftest::instances_test
