// The asynchronous forms under Asio's tokens: awaited by a coroutine, and cancelled.
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>

#include "flex/in_one_node.hpp"
#include "mf/client/asio.hpp"

namespace mftest::asio_test {
namespace {

namespace asio = boost::asio;
using mf::Code;
using mf::flex::Message;

TEST(FlexCoroutines, SendAndAwaitMessages) {
  InOneNode one;
  asio::io_context loop;
  std::optional<std::int64_t> answer;
  // g++ 12 takes no braces of lists within a coroutine.
  const mf::flex::Attributes attributes{{"dest", "B"}, {"n", 1}};
  const mf::flex::Pattern from_a{{"src", "A"}};
  const auto work = [&]() -> asio::awaitable<void> {
    const auto sent = co_await one.a.async_send(attributes, asio::use_awaitable);
    const auto message = co_await one.b.async_recv(from_a, asio::use_awaitable);
    const auto taken = co_await sent.value().async_wait(asio::use_awaitable);
    if (taken) answer = message.value()["n"].to<std::int64_t>();
  };
  asio::co_spawn(loop, work(), asio::detached);
  loop.run_for(kLong);
  EXPECT_EQ(answer, 1);
}

TEST(FlexReceivers, ThatAreCancelledTakeNothing) {
  InOneNode one;
  asio::io_context loop;
  asio::cancellation_signal signal;
  std::optional<Code> ended;
  one.b.async_recv({{"tag", 1}},
                   asio::bind_cancellation_slot(signal.slot(),
                                                asio::bind_executor(loop, [&](mf::Outcome<Message> outcome) {
                                                  ended = outcome.failure().code;
                                                })));
  asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
  loop.run_for(kLong);
  EXPECT_EQ(ended, Code::cancelled);
  one.send_all({{{"n", 1}, {"tag", 1}}});
  EXPECT_EQ(one.b.recv(kLong, {{"tag", 1}})["n"], 1);
}

}  // namespace
}  // namespace mftest::asio_test
