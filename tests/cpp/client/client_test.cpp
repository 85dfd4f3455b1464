#include "mf/client/client.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <set>

#include "mf/protocol/limits.hpp"
#include "mf/transport/tcp.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// What a test says is offered, changed while calls are made.
class FakeResolver final : public mf::Resolver {
 public:
  void set(mf::Offers offers) {
    const std::scoped_lock lock(mutex_);
    offers_ = std::make_shared<const mf::Offers>(std::move(offers));
    ++version_;
    changed_.notify_all();
  }
  Snapshot offers(std::string_view) override {
    const std::scoped_lock lock(mutex_);
    return offers_;
  }
  Snapshot wait_for_change(std::string_view, const Snapshot& known, TimePoint until) override {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [&] { return offers_ != known; });
    return offers_;
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return version_; }
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const mf::Offers> offers_ = std::make_shared<const mf::Offers>();
  std::atomic<std::uint64_t> version_{1};
};

mf::Offers answered() {
  mf::Offers offers;
  offers.answered = true;
  return offers;
}

mf::Address nobody() {
  const mf::transport::TcpListener gone(mf::Address::parse("tcp://127.0.0.1:0"));
  return gone.address();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Client, AddressesThatCannotBeUsedAreRefused) {
  for (const char* url : {"", "http://localhost:1", "tcp://localhost", "tcp://a:1,mf://b:2"}) {
    EXPECT_EQ(failure_of([&] { return mf::Client(url); }).code, Code::invalid_argument) << url;
  }
  EXPECT_EQ(failure_of([&] {
              return mf::Client("tcp://a:1", {.authentication = std::vector<std::byte>(20'000)});
            }).code,
            Code::invalid_argument);
}

TEST(Client, ManyThreadsShareOneClient) {
  Calling calling;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i)
        if (calling.stub.twice(t * 1000 + i) == 2 * (t * 1000 + i)) ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 2400);
}

TEST(Client, AsynchronousChainsFromManyThreadsBesideBlockingCalls) {
  Calling calling(mf::Where::io_thread);
  constexpr int kCalls = 4000;
  std::atomic<int> started{0};
  std::atomic<int> right{0};
  std::atomic<int> ended{0};
  std::function<void()> next = [&] {
    const int i = started++;
    if (i >= kCalls) return;
    calling.stub.async_twice(i, [&, i](mf::Outcome<std::int32_t> outcome) {
      if (outcome && outcome.value() == 2 * i) ++right;
      next();
      ++ended;
    });
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i) next();
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(calling.stub.twice(i), 2 * i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return ended == kCalls; }));
  EXPECT_EQ(right, kCalls);
}

TEST(Client, BlockingCallsInsideCompletionsOnEitherThread) {
  Calling calling;
  EXPECT_EQ(calling.stub.twice(1), 2);
  std::atomic<int> sum{0};
  std::atomic<int> ended{0};
  for (int i = 0; i < 20; ++i) {
    calling.stub.async_twice(i, [&](mf::Outcome<std::int32_t> outcome) {
      sum += calling.stub.twice(outcome.value());
      ++ended;
    });
    (void)calling.stub.twice(i);
  }
  EXPECT_TRUE(eventually([&] { return ended == 20; }));
  EXPECT_EQ(sum, 4 * 190);
}

// The link is looked at before it is used after a pause: completions run there, and may call, while the
// arguments of the outer call are encoded already.
TEST(Client, ACompletionDuringTheLookBeforeACallDoesNotTouchItsArguments) {
  Calling calling(mf::Where::io_thread);
  EXPECT_EQ(calling.stub.twice(1), 2);
  for (int i = 0; i < 20; ++i) {
    const std::vector<calls::EchoTwiceRequest> one{{.x = i}};
    auto batch = calling.stub.twice_batch(one);  // its reply waits to be fetched
    std::atomic<bool> ended{false};
    calling.stub.async_twice(i, [&](mf::Outcome<std::int32_t>) {
      EXPECT_EQ(calling.stub.text("inner"), "inner");
      ended = true;
    });
    std::this_thread::sleep_for(6ms);
    EXPECT_EQ(calling.stub.text("outer"), "outer");
    EXPECT_EQ(batch.results().at(0).value(), 2 * i);
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
  }
}

TEST(Client, ArgumentsThatBreakAConstraintNeverLeave) {
  Calling calling;
  const std::string long_text(65, 'x');
  EXPECT_EQ(failure_of([&] { return calling.stub.text(long_text); }).code, Code::invalid_argument);
  std::atomic<bool> ended{false};
  calling.stub.async_text(long_text, [&](mf::Outcome<std::string> outcome) {
    EXPECT_EQ(outcome.failure().code, Code::invalid_argument);
    EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
    ended = true;
  });
  EXPECT_TRUE(ended);
  const std::vector<calls::EchoTextRequest> requests{{.value = "short"}, {.value = long_text}};
  EXPECT_THAT(failure_of([&] { return calling.stub.text_bulk(requests); }).message, HasSubstr("item 1"));
  EXPECT_EQ(calling.echo->ran, 0);
}

TEST(Client, DeadlinesOfCallsBatchesAndScatters) {
  Calling calling;
  EXPECT_NO_THROW(calling.stub.wait(0));
  EXPECT_EQ(failure_of([&] { return calling.stub.wait(300, {.deadline = 20ms}), 0; }).code,
            Code::deadline_exceeded);
  std::atomic<bool> ended{false};
  calling.stub.async_wait(300, {.deadline = 20ms}, [&](mf::Outcome<void> outcome) {
    EXPECT_EQ(outcome.failure().code, Code::deadline_exceeded);
    ended = true;
  });
  const std::vector<calls::EchoWaitRequest> waits(3, calls::EchoWaitRequest{.ms = 300});
  auto batch = calling.stub.wait_batch(waits, {.deadline = 20ms, .size = 1});
  for (const auto& outcome : batch.results()) EXPECT_EQ(outcome.failure().code, Code::deadline_exceeded);
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

TEST(Client, CallsAfterTheClientsEndAreCancelled) {
  Served served;
  auto client = std::make_unique<mf::Client>(served.url());
  const calls::EchoClient stub(*client);
  EXPECT_EQ(stub.twice(1), 2);
  client.reset();
  const auto failure = failure_of([&] { return stub.twice(1); });
  EXPECT_EQ(failure.code, Code::cancelled);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  std::atomic<bool> ended{false};
  stub.async_twice(1, [&](mf::Outcome<std::int32_t> outcome) {
    EXPECT_EQ(outcome.failure().code, Code::cancelled);
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

TEST(Client, ItsEndEndsWhatIsInFlight) {
  Served served;
  std::atomic<int> ended{0};
  {
    mf::Client client(served.url());
    const calls::EchoClient stub(client);
    EXPECT_EQ(stub.twice(1), 2);
    for (int i = 0; i < 10; ++i) stub.async_wait(200, [&](mf::Outcome<void>) { ++ended; });
  }
  EXPECT_EQ(ended, 10);
}

TEST(Client, MayEndInsideACompletion) {
  Served served;
  std::atomic<bool> gone{false};
  auto client = std::make_shared<mf::Client>(served.url());
  auto stub = std::make_shared<calls::EchoClient>(*client);
  EXPECT_EQ(stub->twice(1), 2);
  stub->async_twice(1, [&gone, client, stub](mf::Outcome<std::int32_t>) mutable {
    while (client.use_count() > 1) std::this_thread::yield();
    stub.reset();
    client.reset();
    gone = true;
  });
  stub.reset();
  client.reset();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST(Batch, IsSplitAsAskedAndKeepsTheOrder) {
  Calling calling;
  std::vector<calls::EchoTwiceRequest> requests;
  for (std::int32_t i = 0; i < 1000; ++i) requests.push_back({.x = i});
  for (const std::uint32_t size : {0U, 1U, 7U, 5000U}) {
    for (const std::uint32_t window : {0U, 1U, 3U}) {
      const auto outcomes = calling.stub.twice_batch(requests, {.size = size, .window = window}).results();
      ASSERT_EQ(outcomes.size(), 1000U);
      for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(outcomes[i].value(), 2 * static_cast<std::int32_t>(i));
    }
  }
  EXPECT_TRUE(calling.stub.twice_batch({}).results().empty());
  EXPECT_TRUE(calling.stub.twice_bulk({}).empty());
}

TEST(Batch, ItemsEndEachInTheirOwnWay) {
  Calling calling;
  std::vector<calls::EchoFailRequest> requests;
  for (int i = 0; i < 40; ++i)
    requests.push_back({.how = i % 4 == 0 ? "nope" : i % 4 == 1 ? "many" : i % 4 == 2 ? "std" : "fine"});
  for (const auto& outcomes :
       {calling.stub.fail_batch(requests, {.size = 7}).results(), calling.stub.fail_bulk(requests)}) {
    ASSERT_EQ(outcomes.size(), 40U);
    for (std::size_t i = 0; i < 40; i += 4) {
      EXPECT_EQ(outcomes[i].error_as<calls::Nope>()->why, "because");
      EXPECT_EQ(outcomes[i + 1].error_as<calls::TooMany>()->limit, 7U);
      EXPECT_EQ(outcomes[i + 2].failure().code, Code::handler_failed);
      EXPECT_EQ(outcomes[i + 3].value(), 1);
    }
  }
}

TEST(Batch, CanBeWaitedForLookedAtAndDropped) {
  Calling calling(mf::Where::worker, {.workers = 2});
  EXPECT_EQ(calling.stub.twice(1), 2);
  std::vector<calls::EchoWaitRequest> requests{{.ms = 0}, {.ms = 0}, {.ms = 150}};
  auto batch = calling.stub.wait_batch(requests, {.size = 1});
  EXPECT_FALSE(batch.wait(5ms));
  EXPECT_TRUE(eventually([&] {
    const auto partial = batch.partial();
    return partial[0] && partial[1] && !partial[2];
  }));
  EXPECT_FALSE(batch.ready());
  EXPECT_TRUE(batch.wait());
  EXPECT_TRUE(batch.ready());
  for (const auto& outcome : batch.results()) EXPECT_TRUE(outcome.ok());

  const int before = calling.echo->ran;
  {
    const auto dropped = calling.stub.wait_batch(requests, {.size = 1});
  }
  EXPECT_TRUE(eventually([&] { return calling.echo->ran == before + 3; }));
}

TEST(Batch, GoesOutWhenItIsMadeAndReadyFetchesIt) {
  Calling calling;
  EXPECT_EQ(calling.stub.twice(1), 2);
  const std::vector<calls::EchoTwiceRequest> requests(300);
  auto batch = calling.stub.twice_batch(requests, {.window = 1});
  EXPECT_TRUE(eventually([&] { return batch.ready(); }));
  EXPECT_EQ(batch.results().size(), 300U);
}

TEST(Batch, IsNotHeldUpByAServerThatTakesFewCallsAtOnce) {
  Calling calling(mf::Where::worker, {.max_in_flight = 3});
  const std::vector<calls::EchoTwiceRequest> requests(500, calls::EchoTwiceRequest{.x = 1});
  for (const auto& outcome : calling.stub.twice_batch(requests, {.size = 5}).results())
    EXPECT_TRUE(outcome.ok());
}

TEST(Batch, MayBeWaitedForInsideACompletion) {
  Calling calling(mf::Where::io_thread);
  EXPECT_EQ(calling.stub.twice(1), 2);
  const std::vector<calls::EchoTwiceRequest> requests(10, calls::EchoTwiceRequest{.x = 3});
  std::atomic<int> right{0};
  std::atomic<int> ended{0};
  for (int i = 0; i < 10; ++i) {
    calling.stub.async_twice(1, [&](mf::Outcome<std::int32_t>) {
      for (const auto& outcome : calling.stub.twice_batch(requests, {.size = 3}).results())
        if (outcome && outcome.value() == 6) ++right;
      ++ended;
    });
  }
  EXPECT_TRUE(eventually([&] { return ended == 10; }));
  EXPECT_EQ(right, 100);
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
  // It was there and has gone: no waiting, a clear failure. (After a pause the link looks before it sends.)
  std::this_thread::sleep_for(10ms);
  const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 10s}); });
  EXPECT_EQ(failure.execution, Execution::not_executed);
  served = std::make_unique<Served>(mf::Where::worker, mf::ServerOptions{.listen = url});
  EXPECT_TRUE(eventually([&] { return failure_of([&] { return stub.twice(1); }).code == Code::ok; }));
  // The next one at once, though the connection was lost while idle.
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
  EXPECT_GT(one->echo->ran, 40);
  EXPECT_GT(two.echo->ran, 40);
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
  // It goes on as soon as there is an answer.
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

TEST(Client, AnAgentsNameThatCannotBeSentIsAFailureOfTheCallAlone) {
  Calling calling;
  const calls::PartClient part(calling.client);
  const auto nobody = part.at(std::string(40'000, 'x'));
  EXPECT_EQ(failure_of([&] { return nobody.name(); }).code, Code::message_too_large);
  std::atomic<bool> ended{false};
  nobody.async_name([&](mf::Outcome<std::string> outcome) {
    EXPECT_EQ(outcome.failure().code, Code::message_too_large);
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(part.at("books").name(), "books");
}

TEST(Client, AMessageAboveTheServersLimitIsRefusedHereAndAReplyAboveOursThere) {
  Calling calling(mf::Where::worker, {.max_payload = 100'000});
  const auto request = failure_of([&] { return calling.stub.blob(mf::Bytes(200'000)); });
  EXPECT_EQ(request.code, Code::message_too_large);
  EXPECT_EQ(request.execution, Execution::not_executed);
  EXPECT_EQ(calling.stub.twice(1), 2);
  mf::Client small(calling.url(), {.max_payload = 5000});
  const calls::EchoClient stub(small);
  const auto reply = failure_of([&] { return stub.blob(mf::Bytes(50'000)); });
  EXPECT_EQ(reply.code, Code::message_too_large);
  EXPECT_EQ(reply.execution, Execution::unknown);
  EXPECT_EQ(stub.twice(1), 2);
}

}  // namespace
}  // namespace mftest
