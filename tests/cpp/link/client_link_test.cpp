// ClientLink: which thread writes, which reads, and the limits for calls in flight.
#include "link/client_link_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mf/protocol/metadata.hpp"

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::eventually;
using mftest::number_in;
using mftest::soon;
using protocol::EventType;
using test::Ends;
using test::Held;
using test::Joined;

TEST(ClientLink, ALoneCallIsOneWriteAndOneReadOnTheCallersThread) {
  Joined joined;
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);
  const int writes = joined.counts->writes;
  const int reads = joined.counts->reads;
  // If the machine pauses between two calls, the link checks whether its server is still there, by one more
  // read.
  int calls = 0;
  for (int i = 2; i < 102; ++i, ++calls)
    EXPECT_EQ(joined.call(static_cast<std::uint32_t>(i)), static_cast<unsigned>(i));
  EXPECT_EQ(joined.counts->writes - writes, calls);
  EXPECT_LE(joined.counts->reads - reads, 2 * calls);
  joined.stop_serving();
}

TEST(ClientLink, ManyThreadsGetTheirOwnReplies) {
  Joined joined;
  joined.serve();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 1; i <= 500; ++i) {
        if (joined.call(t * 1000 + i) != t * 1000 + i) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(joined.link->in_flight(), 0U);
  joined.stop_serving();
}

TEST(ClientLink, TheLeadIsHandedToAFollowerWhoseReplyIsStillToCome) {
  Joined joined;
  std::atomic<unsigned> first{0};
  std::atomic<unsigned> second{0};
  std::thread leader([&] { first = joined.call(1); });
  const auto one = joined.peer->next(EventType::request);
  std::thread follower([&] { second = joined.call(2); });
  const auto two = joined.peer->next(EventType::request);
  joined.peer->echo(one);
  joined.peer->flush();
  leader.join();
  EXPECT_EQ(first, 1U);
  joined.peer->echo(two);
  joined.peer->flush();
  follower.join();
  EXPECT_EQ(second, 2U);
}

TEST(ClientLink, ABurstOfAsynchronousCallsTakesFewWrites) {
  Joined joined;
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);
  Ends ends;
  const int before = joined.counts->writes;
  // From a completion, so that the start and end of the burst do not depend on thread scheduling.
  auto payload = bytes_of(7);
  (void)joined.link->start({}, payload, soon(), [&](Reply&&) {
    for (unsigned i = 0; i < 1000; ++i) {
      auto bytes = bytes_of(i);
      (void)joined.link->start({}, bytes, soon(), ends.one());
    }
  });
  EXPECT_TRUE(eventually([&] { return ends.size() == 1000; }));
  EXPECT_LE(joined.counts->writes - before, 20);
  std::set<std::uint32_t> seen;
  for (auto& reply : ends.replies) seen.insert(number_in(reply.payload));
  EXPECT_EQ(seen.size(), 1000U);
  joined.stop_serving();
}

TEST(ClientLink, AsynchronousCallsFromManyThreadsBesideBlockingOnesAllEnd) {
  Joined joined;
  joined.serve();
  Ends ends;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (unsigned i = 0; i < 500; ++i) {
        auto bytes = bytes_of(i);
        (void)joined.link->start({}, bytes, soon(), ends.one());
      }
    });
    threads.emplace_back([&] {
      for (unsigned i = 1; i <= 200; ++i)
        if (joined.call(i) != i) ++wrong;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return ends.size() == 2000; }));
  EXPECT_EQ(wrong, 0);
  joined.stop_serving();
}

TEST(ClientLink, WhatACompletionStartsIsWrittenEvenIfTheLeaderGoes) {
  Joined joined;
  Ends ends;
  auto bytes = bytes_of(5);
  (void)joined.link->start({}, bytes, soon(), [&](Reply&&) {
    auto more = bytes_of(6);
    (void)joined.link->start({}, more, soon(), ends.one());
  });
  const auto asynchronous = joined.peer->next(EventType::request);
  std::thread caller([&] { EXPECT_EQ(joined.call(1), 1U); });
  const auto blocking = joined.peer->next(EventType::request);
  // Both replies in one read: the caller has its own as soon as the completion has run.
  joined.peer->echo(asynchronous);
  joined.peer->echo(blocking);
  joined.peer->flush();
  caller.join();
  joined.peer->echo(joined.peer->next(EventType::request));
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
}

TEST(ClientLink, ABlockingCallInsideACompletionReadsNested) {
  Joined joined;
  joined.serve();
  std::atomic<unsigned> inner{0};
  std::atomic<int> rest{0};
  // The nested read must not overwrite the bytes of the completions that are still to run.
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, soon(), [&](Reply&&) {
    for (unsigned i = 0; i < 50; ++i) {
      auto more = bytes_of(100 + i);
      (void)joined.link->start({}, more, soon(), [&, i](Reply&& reply) {
        if (i % 10 == 0) inner += joined.call(1);
        if (number_in(reply.payload) == 100 + i) ++rest;
      });
    }
  });
  EXPECT_TRUE(eventually([&] { return rest == 50; }));
  EXPECT_EQ(inner, 5U);
  joined.stop_serving();
}

TEST(ClientLink, ACompletionMayWaitForOthersThatItsOwnThreadHasYetToRun) {
  Joined joined;
  auto waiter = std::make_shared<Waiter>();
  std::atomic<bool> waited{false};
  auto first = bytes_of(1);
  (void)joined.link->start({}, first, soon(), [&](Reply&&) {
    joined.link->drive(*waiter, soon());
    waited = waiter->done();
  });
  auto second = bytes_of(2);
  (void)joined.link->start({}, second, soon(), [waiter](Reply&&) { waiter->finish(); }, waiter.get());
  joined.link->write_now();
  const auto one = joined.peer->next(EventType::request);
  const auto two = joined.peer->next(EventType::request);
  joined.peer->echo(one);
  joined.peer->echo(two);  // in one read
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return waited.load(); }));
}

TEST(ClientLink, ABlockedLeaderRunsNoCallbackOfAnother) {
  Joined joined;
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);
  Ends ends;
  Held held(*joined.reactor);
  for (unsigned i = 0; i < 3; ++i) {
    auto bytes = bytes_of(i);
    (void)joined.link->start({}, bytes, soon(), ends.one());
  }
  EXPECT_EQ(joined.call(2), 2U);  // the replies to the others have come, too
  EXPECT_EQ(joined.link->in_flight(), 0U);
  EXPECT_EQ(ends.size(), 0U);
  held.let_go();
  EXPECT_TRUE(eventually([&] { return ends.size() == 3; }));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(number_in(ends.replies[i].payload), i);
  joined.stop_serving();
}

TEST(ClientLink, ARunningCallbackKeepsNobodyFromReading) {
  Joined joined;
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);
  Held held(*joined.reactor);  // as a callback would
  EXPECT_EQ(joined.call(2), 2U);
  EXPECT_EQ(joined.call(3), 3U);
  held.let_go();
  joined.stop_serving();
}

TEST(ClientLink, MetadataOfAReplyIsGivenAndWhatIsNoneEndsTheCallAlone) {
  Joined joined;
  const auto reply_with = [&](std::span<const std::byte> block) {
    const auto request = joined.peer->next(EventType::request);
    Buffer payload;
    payload.append(block);
    payload.append(request.payload);
    joined.peer->session.send_reply({.route = request.header.route,
                                     .id = request.header.id,
                                     .count = 1,
                                     .status = 0,
                                     .encoding = 1,
                                     .flags = protocol::kMetadata},
                                    std::move(payload));
    joined.peer->flush();
  };
  const Metadata sent{{"key", "value"}};
  std::vector<std::byte> good(protocol::metadata_size(sent));
  protocol::write_metadata(good.data(), sent);
  auto bad = good;
  bad[4] = std::byte{0};  // a key without a character
  std::thread serving([&] {
    reply_with(good);
    reply_with(bad);
    reply_with(good);
  });
  for (const bool fine : {true, false, true}) {
    ReplySlot slot;
    auto payload = bytes_of(9);
    joined.link->call(slot, {}, payload, soon());
    if (fine) {
      EXPECT_EQ(number_in(slot.reply.payload), 9U);
      ASSERT_TRUE(slot.reply.metadata);
      EXPECT_EQ(*slot.reply.metadata, sent);
    } else {
      EXPECT_EQ(slot.reply.status, Code::decode_error);
      EXPECT_EQ(slot.reply.failure.execution, Execution::unknown);
    }
  }
  serving.join();
  EXPECT_FALSE(joined.link->broken());
}

TEST(ClientLink, ClosingItTellsTheServerAndEndsCallsAsCancelled) {
  Joined joined;
  Ends ends;
  auto bytes = bytes_of(1);
  const auto id = joined.link->start({}, bytes, soon(), ends.one());
  (void)joined.peer->next(EventType::request);
  joined.link->close("the client was closed");
  EXPECT_EQ(joined.peer->next(EventType::cancel).header.id, id);
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  EXPECT_EQ(ends.replies[0].status, Code::cancelled);
  EXPECT_EQ(ends.replies[0].failure.execution, Execution::unknown);
  EXPECT_EQ(joined.call(1), 0U);
  EXPECT_EQ(joined.last.code, Code::cancelled);
  EXPECT_EQ(joined.last.execution, Execution::not_executed);
}

TEST(ClientLink, CancelEndsACallOnce) {
  Joined joined;
  Ends ends;
  auto bytes = bytes_of(1);
  const auto id = joined.link->start({}, bytes, soon(), ends.one());
  const auto request = joined.peer->next(EventType::request);
  joined.link->cancel(id);
  joined.link->cancel(id);
  EXPECT_EQ(joined.peer->next(EventType::cancel).header.id, id);
  joined.peer->echo(request);
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  EXPECT_EQ(ends.replies[0].status, Code::cancelled);
  EXPECT_EQ(joined.link->in_flight(), 0U);
}

TEST(ClientLink, RepliesThatTheirCallerDoesNotFetchAreReadAllTheSame) {
  Joined joined;
  joined.serve();
  Ends ends;
  Waiter never_driven;
  auto bytes = bytes_of(1);
  (void)joined.link->start({}, bytes, soon(), ends.one(), &never_driven);
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  joined.stop_serving();
}

TEST(ClientLink, MoreCallsThanTheServerTakesAreRefusedHere) {
  protocol::SessionOptions server;
  server.limits.max_in_flight = 2;
  Joined joined({}, server);
  Ends ends;
  for (int i = 0; i < 3; ++i) {
    auto bytes = bytes_of(1);
    (void)joined.link->start({}, bytes, soon(), ends.one());
  }
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends.replies[0].status, Code::overloaded);
  EXPECT_EQ(ends.replies[0].failure.execution, Execution::not_executed);
}

TEST(ClientLink, AMessageAboveTheServersLimitNamesBothSizes) {
  protocol::SessionOptions server;
  server.limits.max_payload = 5000;
  Joined joined({}, server);
  Buffer payload(6000);
  payload.resize(6000);
  ReplySlot slot;
  joined.link->call(slot, {}, payload, soon());
  EXPECT_EQ(slot.reply.status, Code::message_too_large);
  EXPECT_THAT(slot.reply.failure.message,
              testing::AllOf(testing::HasSubstr("6000"), testing::HasSubstr("5000")));
  EXPECT_FALSE(joined.link->broken());
}

TEST(ClientLink, APollLeavesReadingToTheThreadThatReads) {
  Joined joined;
  joined.serve();
  std::atomic<std::uint32_t> right{0};
  std::thread calling([&] {
    for (std::uint32_t i = 1; i <= 1000; ++i)
      right += joined.call(i, mf::now() + std::chrono::minutes(1)) == i ? 1 : 0;
  });
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 1000; ++i) joined.link->poll();
    return right == 1000;
  }));
  calling.join();
  joined.stop_serving();
  joined.link->poll();  // has no effect on a link that has ended
}

TEST(ClientLink, IdsWrapAndSkipThoseInFlight) {
  protocol::SessionOptions client;
  client.first_id = 0xffff'ffff;
  Joined joined(client);
  Ends ends;
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 3; ++i) {
    auto bytes = bytes_of(1);
    ids.push_back(joined.link->start({}, bytes, soon(), ends.one()));
  }
  EXPECT_THAT(ids, testing::ElementsAre(0xffff'ffffU, 1U, 2U));
}

}  // namespace
}  // namespace mf::link
