// Which calls are sent again, how often, and which never are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <numeric>
#include <semaphore>

#include "mf/client/client.hpp"
#include "mf/transport/socket.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest::repeats_test {
namespace {

using mf::Code;
using mf::Execution;
using namespace std::chrono_literals;

/// A server that accepts requests and closes the connection without an answer.
class Closing {
 public:
  Closing() : thread_([this](std::stop_token stop) { serve(stop); }) {}

  [[nodiscard]] std::string url() const { return listener_.address().str(); }
  std::atomic<int> requests{0};

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::unique_ptr<mf::transport::Stream> stream;
      if (listener_.accept(stream) != mf::transport::Listener::Accept::accepted) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      Peer peer(mf::protocol::Role::server, std::move(stream));
      try {
        peer.greet();
        peer.accept_bind();
        (void)peer.next(mf::protocol::EventType::request);
        ++requests;
      } catch (const std::runtime_error&) {
      }
      peer.close();
    }
  }

  mf::transport::Listener listener_{mf::Address::parse("tcp://127.0.0.1:0")};
  std::jthread thread_;
};

TEST(Repeats, AnIdempotentCallIsMadeThreeTimesInEveryShape) {
  const std::vector<calls::EchoAgainRequest> one(1);
  const auto blocking = [](const calls::EchoClient& stub) {
    return failure_of([&] { return stub.again(1); });
  };
  const auto asynchronous = [](const calls::EchoClient& stub) {
    mf::Failure failure;
    std::binary_semaphore ended{0};
    stub.async_again(1, [&](mf::Outcome<std::int32_t> outcome) {
      failure = outcome.failure();
      ended.release();
    });
    ended.acquire();
    return failure;
  };
  const auto batch = [&](const calls::EchoClient& stub) {
    return stub.again_batch(one).results().at(0).failure();
  };
  const auto bulk = [&](const calls::EchoClient& stub) {
    return failure_of([&] { return stub.again_bulk(one); });
  };
  const std::vector<std::function<mf::Failure(const calls::EchoClient&)>> shapes{blocking, asynchronous,
                                                                                 batch, bulk};
  for (const auto& shape : shapes) {
    const Closing server;
    mf::Client client(server.url());
    const auto failure = shape(calls::EchoClient(client));
    EXPECT_EQ(failure.code, Code::connection_lost) << failure.message;
    EXPECT_EQ(failure.execution, Execution::unknown);
    EXPECT_EQ(server.requests, 3);
  }
}

TEST(Repeats, ACallThatMayHaveRunIsMadeOnce) {
  const Closing server;
  mf::Client client(server.url());
  const calls::EchoClient stub(client);
  EXPECT_EQ(failure_of([&] { return stub.twice(1); }).execution, Execution::unknown);
  EXPECT_EQ(server.requests, 1);
  const std::vector<calls::EchoTwiceRequest> one(1);
  EXPECT_EQ(stub.twice_batch(one).results().at(0).failure().execution, Execution::unknown);
  EXPECT_EQ(server.requests, 2);
}

TEST(Repeats, NoItemOfABatchIsLostOrRunTwiceWhenAServerStops) {
  for (int round = 0; round < 3; ++round) {
    auto one = std::make_unique<Served>();
    const auto first = one->echo;
    Served two;
    mf::Client client(one->url() + "," + two.url());
    const calls::EchoClient stub(client);
    // Until batches start at the server that will stop.
    std::vector<calls::EchoTwiceRequest> requests;
    for (std::int32_t i = 0; i < 3000; ++i) requests.push_back({.x = i});
    std::jthread stopping([&] {
      EXPECT_TRUE(eventually([&] { return first->ran > 500 || two.echo->ran > 500; }));
      one.reset();
    });
    const auto outcomes = stub.twice_batch(requests, {.size = 3, .window = 8}).results();
    ASSERT_EQ(outcomes.size(), requests.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      ASSERT_TRUE(outcomes[i].ok()) << outcomes[i].failure().message;
      EXPECT_EQ(outcomes[i].value(), 2 * static_cast<std::int32_t>(i));
    }
    stopping.join();
    EXPECT_EQ(first->ran + two.echo->ran, 3000);
  }
}

/// Records its calls in the order in which they ended.
class Ledger final : public calls::LedgerServant {
 public:
  std::int32_t put(std::int32_t x) override {
    const std::scoped_lock lock(mutex_);
    order_.push_back(x);
    return x;
  }
  void drop(std::int32_t /*x*/) override {}

  [[nodiscard]] std::vector<std::int32_t> order() const {
    const std::scoped_lock lock(mutex_);
    return order_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::int32_t> order_;
};

std::vector<calls::LedgerPutRequest> puts(std::int32_t count) {
  std::vector<calls::LedgerPutRequest> requests;
  for (std::int32_t i = 0; i < count; ++i) requests.push_back({.x = i});
  return requests;
}

TEST(Repeats, AnOrderedBatchKeepsItsOrderWhenAServerStops) {
  const auto ledger = std::make_shared<Ledger>();
  std::array<std::unique_ptr<mf::Server>, 2> servers;
  std::string where;
  for (auto& server : servers) {
    server = std::make_unique<mf::Server>();
    server->offer(ledger, {.where = mf::Where::worker});
    server->start();
    where += (where.empty() ? "" : ",") + server->address().str();
  }
  mf::Client client(where);
  std::jthread stopping([&] {
    EXPECT_TRUE(eventually([&] { return ledger->order().size() > 50; }));
    servers[0].reset();
  });
  const auto outcomes = calls::LedgerClient(client).put_batch(puts(300), {.window = 64}).results();
  std::vector<std::int32_t> expected(300);
  std::iota(expected.begin(), expected.end(), 0);
  for (const auto& outcome : outcomes) ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
  EXPECT_EQ(ledger->order(), expected);
}

TEST(Repeats, NothingFollowsAMessageOfAnOrderedBatchThatMayStillRun) {
  const Closing server;
  mf::Client client(server.url());
  const calls::LedgerClient stub(client);

  const auto outcomes = stub.put_batch(puts(6)).results();
  EXPECT_EQ(server.requests, 1);  // though the method is idempotent
  ASSERT_EQ(outcomes.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& failure = outcomes[i].failure();
    EXPECT_EQ(failure.code, Code::connection_lost);
    EXPECT_EQ(failure.execution, i < 2 ? Execution::unknown : Execution::not_executed);
    EXPECT_EQ(
        failure.message.starts_with("not sent, as an earlier message of this ordered batch may still run: "),
        i >= 2)
        << failure.message;
  }

  EXPECT_EQ(failure_of([&] { return stub.put_bulk(puts(6)); }).execution, Execution::unknown);
  EXPECT_EQ(server.requests, 2);
  EXPECT_EQ(failure_of([&] { return stub.put(1); }).execution, Execution::unknown);
  EXPECT_EQ(server.requests, 5);  // a single call has no later calls
}

TEST(Repeats, AsynchronousCallsGoElsewhereWhenAServerStops) {
  auto one = std::make_unique<Served>();
  const Served two;
  mf::Client client(one->url() + "," + two.url());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::atomic<int> ended{0};
  std::atomic<int> right{0};
  std::string other;               // a failure; written by the one thread that reads
  const mf::Bytes large(100'000);  // moved into the connection, and needed again
  for (int i = 0; i < 200; ++i) {
    stub.async_blob(large, [&](mf::Outcome<mf::Bytes> outcome) {
      if (outcome && outcome.value().size() == 100'000) ++right;
      if (!outcome) other = std::string(mf::name(outcome.failure().code)) + ": " + outcome.failure().message;
      ++ended;
    });
    if (i == 100) one.reset();
  }
  EXPECT_TRUE(eventually([&] { return ended == 200; }));
  EXPECT_EQ(right, 200) << other;
}

}  // namespace
}  // namespace mftest::repeats_test
