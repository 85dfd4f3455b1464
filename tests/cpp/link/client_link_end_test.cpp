// ClientLink: how calls end when their link does.
#include "link/client_link_fixture.hpp"
#include "support/connect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::eventually;
using mftest::number_in;
using mftest::Peer;
using mftest::soon;
using protocol::EventType;
using test::Ends;
using test::Held;
using test::Joined;

TEST(ClientLink, WhatWasWrittenWhenTheLinkEndsIsUnknownAndTheRestNotExecuted) {
  Joined joined;
  Ends written;
  Ends unwritten;
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, soon(), written.one());
  (void)joined.peer->next(EventType::request);
  joined.counts->refuse_writes = true;
  for (unsigned i = 0; i < 3; ++i) {
    auto more = bytes_of(2);
    (void)joined.link->start({}, more, soon(), unwritten.one());
  }
  joined.peer->close();
  EXPECT_TRUE(eventually([&] { return written.size() == 1 && unwritten.size() == 3; }));
  EXPECT_EQ(written.replies[0].status, Code::connection_lost);
  EXPECT_EQ(written.replies[0].failure.execution, Execution::unknown);
  for (auto& reply : unwritten.replies) EXPECT_EQ(reply.failure.execution, Execution::not_executed);
  EXPECT_TRUE(joined.link->broken());
  EXPECT_EQ(joined.call(1), 0U);
  EXPECT_EQ(joined.last.execution, Execution::not_executed);
}

TEST(ClientLink, ACallOfWhichOnlyAPartWasWrittenIsNotExecuted) {
  Joined joined;
  Ends ends;
  joined.counts->most = 8;
  joined.counts->takes = 5;  // of 24 bytes each: one request, and two thirds of another
  for (unsigned i = 0; i < 2; ++i) {
    auto bytes = bytes_of(i);
    (void)joined.link->start({}, bytes, soon(), ends.one());
  }
  (void)joined.peer->next(EventType::request);
  // The second refusal shows that the link has noticed the first.
  EXPECT_TRUE(eventually([&] { return joined.counts->refused >= 2; }));
  // No further attempt is in progress while the reactor is held.
  Held held(*joined.reactor);
  joined.link->close("closed by the test");
  held.let_go();
  EXPECT_TRUE(eventually([&] { return ends.size() == 2; }));
  EXPECT_EQ(ends.replies[0].failure.execution, Execution::unknown);
  EXPECT_EQ(ends.replies[1].failure.execution, Execution::not_executed);
}

TEST(ClientLink, RepliesThatArriveBeforeTheEndStillCount) {
  Joined joined;
  Ends ends;
  Held held(*joined.reactor);
  auto bytes = bytes_of(9);
  (void)joined.link->start({}, bytes, soon(), ends.one());
  joined.peer->echo(joined.peer->next(EventType::request));
  joined.peer->flush();
  joined.peer->close();
  // Writing fails now; the reply can still be read.
  EXPECT_EQ(joined.call(1), 0U);
  held.let_go();
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  EXPECT_EQ(ends.replies[0].status, Code::ok);
  EXPECT_EQ(number_in(ends.replies[0].payload), 9U);
}

TEST(ClientLink, AServerThatIsStoppingTakesNoNewCallsAndFinishesTheOld) {
  Joined joined;
  Ends ends;
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, soon(), ends.one());
  const auto request = joined.peer->next(EventType::request);
  joined.peer->session.send_goaway(Code::shutting_down, "maintenance");
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return !joined.link->usable(); }));
  EXPECT_FALSE(joined.link->broken());
  EXPECT_EQ(joined.call(2), 0U);
  EXPECT_EQ(joined.last.code, Code::shutting_down);
  EXPECT_EQ(joined.last.execution, Execution::not_executed);
  joined.peer->echo(request);
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  EXPECT_EQ(ends.replies[0].status, Code::ok);
  EXPECT_TRUE(eventually([&] { return joined.link->broken(); }));  // nothing keeps it open
}

TEST(ClientLink, ACallBehindTheLastThatAStoppingServerTookSurelyWasNotExecuted) {
  Joined joined;
  Ends ends;
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, soon(), ends.one());
  (void)joined.peer->next(EventType::request);
  // The second is written, and the server stops without having read it.
  (void)joined.link->start({}, bytes, soon(), ends.one());
  joined.peer->session.send_goaway(Code::shutting_down, "maintenance");
  joined.peer->flush();
  joined.peer->close();
  EXPECT_TRUE(eventually([&] { return ends.size() == 2; }));
  EXPECT_EQ(ends.replies[0].failure.code, Code::connection_lost);
  EXPECT_EQ(ends.replies[0].failure.execution, Execution::unknown);
  EXPECT_EQ(ends.replies[1].failure.code, Code::shutting_down);
  EXPECT_EQ(ends.replies[1].failure.execution, Execution::not_executed);
}

TEST(ClientLink, AProtocolErrorOfTheServerEndsAllCalls) {
  Joined joined;
  Ends ends;
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, soon(), ends.one());
  (void)joined.peer->next(EventType::request);
  std::array<std::byte, 24> garbage;
  garbage.fill(std::byte{0xff});
  joined.peer->send_raw(garbage);
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  EXPECT_EQ(ends.replies[0].status, Code::protocol_error);
  EXPECT_EQ(ends.replies[0].failure.execution, Execution::unknown);
}

TEST(ClientLink, ForgedAndRepeatedRepliesAreDroppedAndCounted) {
  Joined joined;
  std::thread caller([&] { EXPECT_EQ(joined.call(5), 5U); });
  const auto request = joined.peer->next(EventType::request);
  auto forged = request;
  forged.payload[0] = std::byte{99};
  forged.header.id += 1;
  joined.peer->echo(forged);
  forged.header.id = request.header.id;
  forged.header.route = 17;
  joined.peer->echo(forged);
  joined.peer->echo(request);
  joined.peer->echo(request);
  joined.peer->flush();
  caller.join();
  EXPECT_GE(joined.link->unmatched_replies(), 2U);
}

TEST(ClientLink, AReadingThreadHearsOfACancelByAnother) {
  Joined joined;
  joined.counts->patient = true;
  Waiter waiter;
  auto bytes = bytes_of(1);
  const auto id = joined.link->start({}, bytes, soon(), [&](Reply&& /*ended*/) { waiter.finish(); }, &waiter);
  const auto reads = joined.counts->reads.load();
  auto waiting =
      std::async(std::launch::async, [&] { joined.link->drive_interruptibly(waiter, mf::kNever); });
  ASSERT_TRUE(eventually([&] { return joined.counts->reads > reads; }));
  joined.link->cancel(id);
  EXPECT_EQ(waiting.wait_for(mftest::kLong), std::future_status::ready);
}

// Many short lifetimes under load: every thread that waits when the link ends is woken.

TEST(ClientLink, ClosingWhileThreadsCallLosesNobody) {
  for (int round = 0; round < 20; ++round) {
    Joined joined;
    joined.serve();
    Ends ends;
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (!joined.link->broken()) (void)joined.call(1);
      });
      threads.emplace_back([&] {
        while (!joined.link->broken()) {
          auto waiter = std::make_shared<Waiter>();
          auto bytes = bytes_of(1);
          ++started;
          (void)joined.link->start(
              {}, bytes, soon(),
              [&, waiter](Reply&& reply) {
                ends.one()(std::move(reply));
                waiter->finish();
              },
              waiter.get());
          joined.link->drive(*waiter, soon());
          EXPECT_TRUE(waiter->done());
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    joined.peer->close();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(ends.size(), static_cast<std::size_t>(started));
    joined.stop_serving();
  }
}

// Single bytes prevent silence; without a limit the client that gets the reply would wait for ever.
TEST(ClientLink, AReplyThatIsPassedOnAndHardlyComesEndsTheLinkAndIsToldAsLost) {
  constexpr std::size_t kReply = std::size_t{2} << 20U;
  auto [left, right] = transport::make_inproc_pair();
  Peer peer(protocol::Role::server, std::move(left));
  const auto reactor = std::make_shared<transport::Reactor>();
  protocol::SessionOptions options;
  options.told_from = 1;
  std::thread greeting([&] { peer.greet(); });
  const auto link =
      mftest::open(std::move(right), options, reactor, soon(), {.dead_after = std::chrono::milliseconds(500)})
          .value();
  greeting.join();
  std::promise<Reply> replied;
  Completion done = [&](Reply&& reply) { replied.set_value(std::move(reply)); };
  std::uint32_t id = 0;
  auto payload = bytes_of(1);
  ASSERT_FALSE(link->try_forward({}, Payload(payload), soon(), done, id));
  const auto request = peer.next(EventType::request);
  peer.session.send_reply({.route = request.header.route, .id = request.header.id},
                          std::vector<std::byte>(kReply));
  std::array<IoSlice, 64> slices;
  std::vector<std::byte> bytes;
  for (const auto& slice : std::span(slices).first(peer.session.fill_output(slices)))
    bytes.insert(bytes.end(), slice.data, slice.data + slice.size);
  std::size_t sent = 1'000;
  peer.send_raw(std::span(bytes).first(sent));
  const auto reply = replied.get_future().get();
  ASSERT_NE(reply.coming, nullptr);
  EXPECT_EQ(reply.coming->size(), kReply);
  EXPECT_EQ(link->in_flight(), 1U) << "it is not over";
  std::promise<void> lost;
  reply.coming->watch([&](protocol::Coming::State state) {
    if (state == protocol::Coming::State::lost) lost.set_value();
  });
  auto ended = lost.get_future();
  EXPECT_TRUE(mftest::eventually([&] {
    if (sent < bytes.size()) peer.send_raw(std::span(bytes).subspan(sent++, 1));
    return ended.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready;
  }));
  EXPECT_TRUE(link->broken());
  link->close("the test is over");
  reactor->stop();
}

}  // namespace
}  // namespace mf::link
