// Streams in coroutines of Asio.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mf/client/asio.hpp"
#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mftest/flow.client.hpp"
#include "support/flow.hpp"

namespace mftest {
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

}  // namespace
}  // namespace mftest
