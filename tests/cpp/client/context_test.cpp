// The context of a call: the stop token, metadata, and the deadline of the surrounding call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include "mf/client/asio.hpp"
#include "mf/client/client.hpp"
#include "support/joined.hpp"

namespace mftest::context_test {
namespace {

namespace asio = boost::asio;
using mf::Code;
using mf::Execution;
using namespace std::chrono_literals;

/// Waits until the reply is not wanted any more; returns the metadata; makes further calls.
class Contextual : public Echo {
 public:
  void wait(std::uint32_t /*ms*/) override {
    ++waiting;
    const auto until = soon();
    while (!mf::current_call().cancelled() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(1ms);
    if (mf::current_call().cancelled()) ++stopped;
  }
  std::string text(const std::string& key) override {
    mf::set_reply_metadata("seen", key);
    if (onwards != nullptr) return onwards->text(key);
    deadline = mf::current_call().deadline;
    const auto* const value = mf::current_call().metadata().find(key);
    return value != nullptr ? *value : "-";
  }

  std::atomic<int> waiting{0};
  std::atomic<int> stopped{0};
  std::atomic<mf::TimePoint> deadline{mf::kNever};
  const calls::EchoClient* onwards = nullptr;
};

struct Offered {
  explicit Offered(mf::ClientOptions options = {}) {
    server.offer(echo);
    server.start();
    client = std::make_unique<mf::Client>(server.address().str(), std::move(options));
  }
  calls::EchoClient stub() { return calls::EchoClient(*client); }
  [[nodiscard]] bool all_stopped(int count) {
    return eventually([&] { return echo->stopped == count; });
  }

  std::shared_ptr<Contextual> echo = std::make_shared<Contextual>();
  mf::Server server{{.workers = 8}};
  std::unique_ptr<mf::Client> client;
};

TEST(Stopping, EndsABlockingCallAndItsHandler) {
  Offered offered;
  std::stop_source source;
  std::thread stopping([&] {
    EXPECT_TRUE(eventually([&] { return offered.echo->waiting == 1; }));
    source.request_stop();
  });
  const auto failure = failure_of([&] { return offered.stub().wait(0, {.stop = source.get_token()}), 0; });
  stopping.join();
  EXPECT_EQ(failure.code, Code::cancelled);
  EXPECT_EQ(failure.execution, Execution::unknown);
  EXPECT_TRUE(offered.all_stopped(1));
  // A token that was stopped before prevents sending the call.
  const auto early = failure_of([&] { return offered.stub().wait(0, {.stop = source.get_token()}), 0; });
  EXPECT_EQ(early.code, Code::cancelled);
  EXPECT_EQ(early.execution, Execution::not_executed);
  EXPECT_EQ(offered.echo->waiting, 1);
  // A token that is never stopped changes nothing.
  EXPECT_EQ(offered.stub().twice(4, {.stop = std::stop_source().get_token()}), 8);
}

TEST(Stopping, EndsAsynchronousCallsOnce) {
  Offered offered;
  std::stop_source source;
  std::atomic<int> cancelled{0};
  std::atomic<int> ended{0};
  for (int i = 0; i < 4; ++i) {
    offered.stub().async_wait(0, {.stop = source.get_token()}, [&](mf::Outcome<void> outcome) {
      if (outcome.failure().code == Code::cancelled) ++cancelled;
      ++ended;
    });
  }
  EXPECT_TRUE(eventually([&] { return offered.echo->waiting == 4; }));
  source.request_stop();
  EXPECT_TRUE(offered.all_stopped(4));
  EXPECT_TRUE(eventually([&] { return ended == 4; }));
  EXPECT_EQ(cancelled, 4);
}

TEST(Stopping, EndsACallThatStillLooksForAServer) {
  mf::Client client("tcp://127.0.0.1:1");
  const calls::EchoClient stub(client);
  std::stop_source source;
  std::atomic<bool> ended{false};
  stub.async_twice(1, {.deadline = mf::kInfinite, .stop = source.get_token()},
                   [&](mf::Outcome<std::int32_t> outcome) {
                     EXPECT_EQ(outcome.failure().code, Code::cancelled);
                     EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
                     ended = true;
                   });
  std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(ended);
  source.request_stop();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

TEST(Stopping, EndsBatchesItemByItem) {
  Offered offered;
  std::stop_source source;
  const std::vector<calls::EchoWaitRequest> requests(10);
  auto batch = offered.stub().wait_batch(requests, {.size = 1, .window = 2, .stop = source.get_token()});
  EXPECT_TRUE(eventually([&] { return offered.echo->waiting == 2; }));
  source.request_stop();
  const auto outcomes = batch.results();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].failure().code, Code::cancelled);
    EXPECT_EQ(outcomes[i].failure().execution, i < 2 ? Execution::unknown : Execution::not_executed);
  }
  EXPECT_TRUE(offered.all_stopped(2));
  EXPECT_EQ(offered.echo->waiting, 2);
}

TEST(Stopping, EndsScatteredCalls) {
  Served served;
  mf::Client client(served.url());
  std::stop_source source;
  source.request_stop();
  for (const auto& end : calls::PartClient(client).on({"books", "news"}).name({.stop = source.get_token()}))
    EXPECT_EQ(end.outcome.failure().code, Code::cancelled);
}

TEST(Stopping, ByTheCancellationSlotOfAHandler) {
  Offered offered;
  asio::io_context context;
  asio::cancellation_signal signal;
  bool ended = false;
  offered.stub().async_wait(
      0, asio::bind_cancellation_slot(signal.slot(),
                                      asio::bind_executor(context, [&](mf::Outcome<void> outcome) {
                                        EXPECT_EQ(outcome.failure().code, Code::cancelled);
                                        ended = true;
                                      })));
  EXPECT_TRUE(eventually([&] { return offered.echo->waiting == 1; }));
  asio::post(context, [&] { signal.emit(asio::cancellation_type::terminal); });
  context.run();
  EXPECT_TRUE(ended);
  EXPECT_TRUE(offered.all_stopped(1));
}

TEST(Stopping, TheClientsEndTellsTheServerAndEndsEachCallOnce) {
  Offered offered;
  std::atomic<int> cancelled{0};
  for (int i = 0; i < 3; ++i) {
    offered.stub().async_wait(0, [&](mf::Outcome<void> outcome) {
      if (outcome.failure().code == Code::cancelled) ++cancelled;
    });
  }
  std::thread blocking([&, stub = offered.stub()] {
    EXPECT_EQ(failure_of([&] { return stub.wait(0), 0; }).code, Code::cancelled);
  });
  EXPECT_TRUE(eventually([&] { return offered.echo->waiting == 4; }));
  offered.client.reset();
  blocking.join();
  EXPECT_EQ(cancelled, 3);
  EXPECT_TRUE(offered.all_stopped(4));
}

TEST(Metadata, TravelsInBothDirectionsInEveryShape) {
  Offered offered;
  const mf::Metadata sent{{"tenant", "blue"}, {"traceparent", "00-1-2-03"}};
  mf::Metadata back;
  const auto stub = offered.stub();
  EXPECT_EQ(stub.text("tenant", {.metadata = sent, .reply_metadata = &back}), "blue");
  EXPECT_EQ(back, (mf::Metadata{{"seen", "tenant"}}));
  EXPECT_EQ(stub.text("tenant"), "-");
  std::atomic<bool> ended{false};
  mf::Metadata later;
  stub.async_text("traceparent", {.metadata = sent, .reply_metadata = &later},
                  [&](mf::Outcome<std::string> outcome) {
                    EXPECT_EQ(outcome.value(), "00-1-2-03");
                    ended = true;
                  });
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(*later.find("seen"), "traceparent");
  const std::vector<calls::EchoTextRequest> requests(5, {.value = "tenant"});
  for (const auto& outcome : stub.text_batch(requests, {.size = 2, .metadata = sent}).results())
    EXPECT_EQ(outcome.value(), "blue");
  for (const auto& outcome : stub.text_bulk(requests, {.metadata = sent})) EXPECT_EQ(outcome.value(), "blue");
  std::stop_source source;
  EXPECT_EQ(stub.text("tenant", {.metadata = sent, .stop = source.get_token()}), "blue");
}

TEST(Metadata, ThatIsTooLargeKeepsTheCallFromBeingSent) {
  Offered offered;
  mf::Metadata large;
  large.set("key", std::string(16 * 1024, 'x'));
  const auto stub = offered.stub();
  const auto failure = failure_of([&] { return stub.text("key", {.metadata = large}); });
  EXPECT_EQ(failure.code, Code::message_too_large);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  std::atomic<bool> ended{false};
  stub.async_text("key", {.metadata = large}, [&](mf::Outcome<std::string> outcome) {
    EXPECT_EQ(outcome.failure().code, Code::message_too_large);
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(stub.twice(1), 2);
}

TEST(Nested, CallsHaveAtMostTheDeadlineOfTheCallAroundThemAndItsTrace) {
  Offered inner;
  mf::Client between(inner.server.address().str(), {.forward_metadata = {"tenant", "authorization"}});
  const calls::EchoClient onwards(between);
  Offered outer;
  outer.echo->onwards = &onwards;
  const mf::Metadata sent{
      {"tenant", "blue"}, {"secret", "s"}, {"authorization", "token"}, {"traceparent", "00-1-2-03"}};
  const auto before = std::chrono::steady_clock::now();
  const auto ask = [&](const std::string& key) {
    return outer.stub().text(key, {.deadline = 5s, .metadata = sent});
  };
  EXPECT_EQ(ask("tenant"), "blue");                     // listed by the calling client
  EXPECT_LE(inner.echo->deadline.load(), before + 7s);  // and not the default of 30 s
  EXPECT_EQ(ask("traceparent"), "00-1-2-03");
  EXPECT_EQ(ask("secret"), "-");
  EXPECT_EQ(ask("authorization"), "-");
}

}  // namespace
}  // namespace mftest::context_test
