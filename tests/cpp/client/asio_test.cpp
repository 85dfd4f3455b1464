#include "mf/client/asio.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "mf/light/light.hpp"
#include "support/joined.hpp"

namespace mftest::asio_test {
namespace {

namespace asio = boost::asio;

/// The same tokens over a socket and in-process, where the outcome is available before the call returns.
struct Both {
  Both() { light.offer(std::make_shared<Echo>()); }
  template <class Test>
  void each(Test test) {
    test(calling.stub);
    test(calls::EchoClient(local));
  }
  Calling calling;
  mf::Light light;
  mf::Client local{light};
};

TEST(Asio, AFutureGetsTheOutcome) {
  Both().each([](const calls::EchoClient& stub) {
    auto future = stub.async_twice(21, asio::use_future);
    ASSERT_EQ(future.wait_for(kLong), std::future_status::ready);
    EXPECT_EQ(future.get().value(), 42);
    auto failed = stub.async_fail("nope", asio::use_future);
    EXPECT_NE(failed.get().error_as<calls::Nope>(), nullptr);
  });
}

TEST(Asio, ACoroutineAwaitsOnItsOwnExecutor) {
  Both().each([](const calls::EchoClient& stub) {
    asio::io_context context;
    int sum = 0;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          for (int i = 0; i < 20; ++i) {
            const mf::Outcome<std::int32_t> outcome = co_await stub.async_twice(i, asio::use_awaitable);
            EXPECT_TRUE(context.get_executor().running_in_this_thread());
            sum += outcome.value();
          }
          EXPECT_TRUE((co_await stub.async_note(1, asio::use_awaitable)).ok());
        },
        asio::detached);
    context.run();
    EXPECT_EQ(sum, 380);
  });
}

TEST(Asio, ADeferredCallStartsWhenItIsLaunched) {
  Both both;
  both.each([](const calls::EchoClient& stub) {
    asio::io_context context;
    auto later = stub.async_twice(4, asio::deferred);
    bool ended = false;
    std::move(later)(asio::bind_executor(context, [&](mf::Outcome<std::int32_t> outcome) {
      EXPECT_EQ(outcome.value(), 8);
      ended = true;
    }));
    context.run();
    EXPECT_TRUE(ended);
  });
  EXPECT_EQ(both.calling.echo->ran, 1);
}

TEST(Asio, ABoundHandlerRunsOnItsExecutorAndNeverWithinTheCall) {
  Both().each([](const calls::EchoClient& stub) {
    asio::io_context context;
    bool ended = false;
    asio::post(context, [&] {
      stub.async_twice(1, asio::bind_executor(context, [&](mf::Outcome<std::int32_t> outcome) {
                         EXPECT_TRUE(context.get_executor().running_in_this_thread());
                         EXPECT_EQ(outcome.value(), 2);
                         ended = true;
                       }));
      EXPECT_FALSE(ended);
    });
    context.run();
    EXPECT_TRUE(ended);
  });
}

TEST(Asio, APlainFunctionNeedsNoExecutor) {
  Both().each([](const calls::EchoClient& stub) {
    std::atomic<int> result{0};
    stub.async_twice(1, [&](mf::Outcome<std::int32_t> outcome) { result = outcome.value(); });
    EXPECT_TRUE(eventually([&] { return result == 2; }));
  });
}

}  // namespace
}  // namespace mftest::asio_test
