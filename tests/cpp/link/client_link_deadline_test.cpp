// ClientLink: deadlines, and full sockets.
#include "link/client_link_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::eventually;
using mftest::soon;
using protocol::EventType;
using test::Ends;
using test::Held;
using test::Joined;

TEST(ClientLink, ADeadlineEndsABlockingCallAndItsLateReplyIsDropped) {
  Joined joined;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  EXPECT_EQ(joined.call(1, deadline), 0U);
  EXPECT_EQ(joined.last.code, Code::deadline_exceeded);
  EXPECT_EQ(joined.last.execution, Execution::unknown);
  const auto late = joined.peer->next(EventType::request);
  EXPECT_EQ(joined.peer->next(EventType::cancel).header.id, late.header.id);
  joined.peer->echo(late);
  std::thread caller([&] { EXPECT_EQ(joined.call(2), 2U); });
  joined.peer->echo(joined.peer->next(EventType::request));
  joined.peer->flush();
  caller.join();
  EXPECT_EQ(joined.link->unmatched_replies(), 1U);
}

TEST(ClientLink, ADeadlineThatHasPassedKeepsTheCallFromBeingSent) {
  Joined joined;
  EXPECT_EQ(joined.call(1, std::chrono::steady_clock::now() - std::chrono::milliseconds(1)), 0U);
  EXPECT_EQ(joined.last.code, Code::deadline_exceeded);
  EXPECT_EQ(joined.last.execution, Execution::not_executed);
}

TEST(ClientLink, DeadlinesEndAsynchronousCallsInTheirOrder) {
  Joined joined;
  std::mutex mutex;
  std::vector<int> order;
  const auto now = std::chrono::steady_clock::now();
  for (const int ms : {60, 20, 40}) {
    auto bytes = bytes_of(1);
    (void)joined.link->start({}, bytes, now + std::chrono::milliseconds(ms), [&, ms](Reply&& reply) {
      const std::scoped_lock lock(mutex);
      EXPECT_EQ(reply.status, Code::deadline_exceeded);
      order.push_back(ms);
    });
  }
  EXPECT_TRUE(eventually([&] {
    const std::scoped_lock lock(mutex);
    return order.size() == 3;
  }));
  EXPECT_THAT(order, testing::ElementsAre(20, 40, 60));
}

TEST(ClientLink, WhoeverLeadsSeesToTheDeadlinesOfOthers) {
  Joined joined;
  Ends ends;
  Held held(*joined.reactor);  // the reactor's timers are late
  auto waiter = std::make_shared<Waiter>();
  auto bytes = bytes_of(1);
  (void)joined.link->start(
      {}, bytes, std::chrono::steady_clock::now() + std::chrono::milliseconds(20),
      [&, waiter](Reply&& reply) {
        ends.one()(std::move(reply));
        waiter->finish();
      },
      waiter.get());
  joined.link->drive(*waiter, soon());
  EXPECT_TRUE(waiter->done());
  held.let_go();
  EXPECT_EQ(ends.replies.at(0).status, Code::deadline_exceeded);
}

TEST(ClientLink, ABlockedSocketLetsCallsEndAtTheirDeadlinesAndGoesOnLater) {
  Joined joined;
  Ends ends;
  Buffer large(1 << 20);
  large.resize(1 << 20);
  std::memset(large.data(), 1, large.size());
  for (int i = 0; i < 4; ++i) {
    Buffer copy;
    copy.append(large.span());
    (void)joined.link->start({}, copy, soon(), ends.one());
  }
  const auto short_one = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  EXPECT_EQ(joined.call(1, short_one), 0U);
  EXPECT_EQ(joined.last.code, Code::deadline_exceeded);
  EXPECT_EQ(joined.last.execution, Execution::unknown);  // its bytes will still be sent
  Ends late;
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, std::chrono::steady_clock::now() + std::chrono::milliseconds(50),
                           late.one());
  EXPECT_TRUE(eventually([&] { return late.size() == 1; }));
  joined.serve();  // now the peer reads
  EXPECT_TRUE(eventually([&] { return ends.size() == 4; }));
  for (auto& reply : ends.replies) EXPECT_EQ(reply.payload.size(), 1U << 20);
  EXPECT_EQ(joined.call(3), 3U);
  joined.stop_serving();
}

TEST(ClientLink, OnewayCallsBehindAFullSocketAreWrittenWithoutAnotherCall) {
  Joined joined;
  Buffer large(1 << 20);
  large.resize(1 << 20);
  std::memset(large.data(), 1, large.size());
  for (int i = 0; i < 3; ++i) {
    Buffer copy;
    copy.append(large.span());
    EXPECT_FALSE(joined.link->send_oneway({}, copy, soon()).local());
    if (i == 1) break;
  }
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(joined.peer->next(EventType::request).header.oneway());
}

TEST(ClientLink, AOnewayCallerWaitsForASlowServerUntilItsDeadline) {
  Joined joined;
  Reply sent;
  for (int i = 0; i < 200 && !sent.local(); ++i) {  // 1 MiB and what the socket takes
    Buffer part(64 << 10);
    part.resize(64 << 10);
    std::memset(part.data(), 1, part.size());
    sent =
        joined.link->send_oneway({}, part, std::chrono::steady_clock::now() + std::chrono::milliseconds(30));
  }
  EXPECT_EQ(sent.how, Ended::refused);
  EXPECT_EQ(sent.failure.code, Code::deadline_exceeded);
  EXPECT_EQ(sent.failure.execution, Execution::not_executed);
}

}  // namespace
}  // namespace mf::link
