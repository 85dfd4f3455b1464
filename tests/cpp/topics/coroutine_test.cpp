// Messages of topics in coroutines of Asio.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <vector>

#include "mf/client/asio.hpp"
#include "topics/hand_made.hpp"

namespace mftest::coroutine_test {
namespace {

TEST(TopicsInCoroutines, AMessageIsAwaitedAndTheEndIsAFailure) {
  mf::Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics);
  std::vector<std::uint64_t> seen;
  auto ended_as = mf::Code::ok;
  const auto work = [&]() -> boost::asio::awaitable<void> {
    for (;;) {
      mf::Outcome<mf::TopicMessage<mf::topics::Missed>> outcome =
          co_await here.async_next(boost::asio::use_awaitable);
      if (!outcome) {
        ended_as = outcome.failure().code;
        break;
      }
      seen.push_back(outcome.value()->first);
      if (seen.size() == 3) here.close();
    }
  };
  for (std::uint64_t i = 1; i <= 3; ++i) ticks.publish(tick(i));
  boost::asio::io_context context;
  boost::asio::co_spawn(context, work(), boost::asio::detached);
  context.run();
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(ended_as, mf::Code::cancelled);
}

}  // namespace
}  // namespace mftest::coroutine_test
