// Client: calls of one server, in every way but batches.
#include "mf/client/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/joined.hpp"

namespace mftest::client_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Client, AddressesThatCannotBeUsedAreRefused) {
  for (const char* url : {"", "http://localhost:1", "tcp://localhost", "tcp://a:1,mf://b:2"}) {
    EXPECT_EQ(failure_of([&] { return mf::Client(url); }).code, Code::invalid_argument) << url;
  }
  EXPECT_EQ(failure_of([&] {
              return mf::Client("tcp://a:1", {.authentication = std::vector<std::byte>(20'000)});
            }).code,
            Code::invalid_argument);
}

TEST(Client, ALimitOfPayloadsThatNoPeerAcceptsIsRefusedWhereItIsGiven) {
  const auto failure = failure_of([] { return mf::Client("tcp://a:1", {.max_payload = 1'000}); });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_THAT(failure.message, HasSubstr("max_payload is 1000: give bytes from 4096"));
  mf::Server server({.max_payload = 4'095});
  EXPECT_EQ(failure_of([&] { server.start(); }).code, Code::invalid_argument);
}

TEST(Client, SeveralResultsArePrintedAsTheirStruct) {
  Calling calling;
  std::ostringstream text;
  text << calling.stub.both(3);
  EXPECT_EQ(text.str(), "EchoBothResult{plus: 4, minus: 2}");
  EXPECT_EQ(to_string(calling.stub.both(1)), "EchoBothResult{plus: 2, minus: 0}");
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

// The link is checked before use after a pause: completions run there, and may make calls, while the
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
}  // namespace mftest::client_test
