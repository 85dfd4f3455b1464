// Batches of calls.
#include "mf/client/client.hpp"

#include <gtest/gtest.h>

#include "client/fake_resolver.hpp"
#include "support/joined.hpp"

namespace mftest::batch_test {
namespace {

using mf::Code;
using namespace std::chrono_literals;

TEST(Batch, IsSplitAsAskedAndKeepsTheOrder) {
  Calling calling;
  std::vector<calls::EchoTwiceRequest> requests;
  for (std::int32_t i = 0; i < 300; ++i) requests.push_back({.x = i});
  for (const std::uint32_t size : {0U, 1U, 7U, 5000U}) {
    for (const std::uint32_t window : {0U, 1U, 3U}) {
      const auto outcomes = calling.stub.twice_batch(requests, {.size = size, .window = window}).results();
      ASSERT_EQ(outcomes.size(), 300U);
      for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(outcomes[i].value(), 2 * static_cast<std::int32_t>(i));
    }
  }
  EXPECT_TRUE(calling.stub.twice_batch({}).results().empty());
  EXPECT_TRUE(calling.stub.twice_bulk({}).empty());
}

TEST(Batch, ItemsEndEachInTheirOwnWay) {
  Calling calling;
  std::vector<calls::EchoFailRequest> requests;
  for (int i = 0; i < 40; ++i)
    requests.push_back({.how = i % 4 == 0 ? "nope" : i % 4 == 1 ? "many" : i % 4 == 2 ? "latin" : "fine"});
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

TEST(Batch, NoOutcomeOfAHandlerThatMiscountsCounts) {
  mf::Server server;
  server.offer(std::make_shared<Miscounting>());
  server.start();
  mf::Client client(server.address().str());
  for (const std::size_t items : {3U, 5U}) {
    const auto outcomes = calls::EchoClient(client).even_bulk(std::vector<calls::EchoEvenRequest>(items));
    ASSERT_EQ(outcomes.size(), items);
    for (const auto& outcome : outcomes) {
      ASSERT_FALSE(outcome.ok());
      EXPECT_EQ(outcome.failure().message,
                "the batch handler answered 2 of " + std::to_string(items) + " items");
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

TEST(Batch, ThatEndsWhenItIsMadeShowsAllItsOutcomes) {
  Calling calling;
  const std::vector<calls::EchoNoteRequest> notes(3);
  for (const auto& outcome : calling.stub.note_batch(notes).partial()) EXPECT_TRUE(outcome && outcome->ok());

  const auto resolver = std::make_shared<FakeResolver>();
  resolver->set(answered());
  mf::Client nowhere(resolver, {.wait_for_server = 1ms});
  const std::vector<calls::EchoTwiceRequest> requests(3);
  const auto partial = calls::EchoClient(nowhere).twice_batch(requests).partial();
  ASSERT_EQ(partial.size(), 3U);
  for (const auto& outcome : partial) {
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->failure().code, Code::unavailable);
  }
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

}  // namespace
}  // namespace mftest::batch_test
