// Streams in coroutines of Asio.
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <future>

#include "mf/client/asio.hpp"
#include "mf/client/client.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "mftest/flow.client.hpp"
#include "support/flow.hpp"

namespace mftest::asio_test {
namespace {

using boost::asio::use_awaitable;

TEST(StreamsInCoroutines, ReadWriteAndFinish) {
  mf::Server server;
  server.offer(std::make_shared<PlainFlow>());
  server.start();
  mf::Client client(server.address().str());
  const flow::FlowClient stub(client);
  boost::asio::io_context context;
  std::uint64_t read = 0;
  std::uint64_t sum = 0;
  bool ended = false;
  const auto work = [&]() -> boost::asio::awaitable<void> {
    auto reader = stub.count(5000);
    for (;;) {
      auto next = co_await reader.async_next(use_awaitable);
      if (!next.value()) break;
      read += *next.value();
    }
    auto begun = co_await stub.async_sum(1, use_awaitable);
    auto stream = std::move(begun).value();
    for (std::uint32_t i = 0; i < 5000; ++i) (void)co_await stream.async_write(i, use_awaitable);
    sum = (co_await stream.async_finish(use_awaitable)).value();
    ended = true;
  };
  boost::asio::co_spawn(context, work(), boost::asio::detached);
  context.run();
  EXPECT_TRUE(ended);
  EXPECT_EQ(read, 4999U * 5000U / 2);
  EXPECT_EQ(sum, 1U + 4999U * 5000U / 2);
}

/// A server that is called over a connection, and the same servant in-process.
struct Both {
  Both() {
    server.offer(std::make_shared<PlainFlow>());
    server.start();
    light.offer(std::make_shared<PlainFlow>());
  }
  template <class Test>
  void each(Test test) {
    mf::Client client(server.address().str());
    test(flow::FlowClient(client));
    mf::Client local(light);
    test(flow::FlowClient(local));
  }
  mf::Server server;
  mf::Light light;
};

TEST(StreamsWithCallbacks, OneThatAsksForTheNextValueIsNotCalledWithinItself) {
  Both().each([](const flow::FlowClient& stub) {
    auto reader = stub.count(20'000);
    std::uint32_t got = 0;
    // Callbacks may come on several threads, one after another, and one may return after the last one ran.
    static thread_local int depth = 0;
    int deepest = 0;
    std::promise<void> ended;
    std::function<void()> read = [&] {
      reader.async_next([&](mf::Outcome<std::optional<std::uint32_t>> next) {
        deepest = std::max(deepest, ++depth);
        if (next.value()) {
          ++got;
          read();
          --depth;
        } else {
          --depth;
          ended.set_value();
        }
      });
    };
    read();
    ended.get_future().wait();
    EXPECT_EQ(got, 20'000U);
    EXPECT_LE(deepest, 2);  // the waiting one, and those that its loop runs
  });
}

/// The result of a coroutine that is cancelled while it waits for `operation`.
template <class Operation>
mf::Code cancelled_while(Operation operation) {
  boost::asio::io_context context;
  boost::asio::cancellation_signal signal;
  auto code = mf::Code::ok;
  boost::asio::co_spawn(
      context,
      [&]() -> boost::asio::awaitable<void> {
        const auto outcome = co_await operation();
        code = outcome ? mf::Code::ok : outcome.failure().code;
      },
      boost::asio::bind_cancellation_slot(signal.slot(), boost::asio::detached));
  boost::asio::post(context, [&] { signal.emit(boost::asio::cancellation_type::terminal); });
  context.run();
  return code;
}

TEST(StreamsInCoroutines, OneThatIsCancelledWhileItWaitsCancelsTheCall) {
  Both().each([](const flow::FlowClient& stub) {
    auto both = stub.echo();
    EXPECT_EQ(cancelled_while([&] { return both.async_next(use_awaitable); }), mf::Code::cancelled);
  });
}

}  // namespace
}  // namespace mftest::asio_test
