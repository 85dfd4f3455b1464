#include "mf/link/client_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/peer.hpp"

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::CountedStream;
using mftest::eventually;
using mftest::number_in;
using mftest::Peer;
using mftest::soon;
using protocol::EventType;

constexpr std::string_view kMethods[] = {"a", "b"};
constexpr ServiceInfo kService{.name = "t.S",
                               .per_agent = false,
                               .descriptor = "service t.S\n",
                               .fingerprint = {1},
                               .methods = kMethods};

/// A client link on one end of a pair, and the test as its server on the other.
struct Joined {
  explicit Joined(protocol::SessionOptions client = {}, protocol::SessionOptions server = {}) {
    auto [left, right] = transport::make_inproc_pair();
    peer = std::make_unique<Peer>(protocol::Role::server, std::move(left), std::move(server));
    std::thread greeting([this] { peer->greet(); });
    link = ClientLink::open(std::make_unique<CountedStream>(std::move(right), counts), std::move(client),
                            reactor, soon())
               .value();
    greeting.join();
  }
  ~Joined() {
    if (serving.joinable()) serving.join();
    link->close("the test is over");
    reactor->stop();
  }
  /// Answers requests with their own bytes until the link is closed.
  void serve() {
    serving = std::thread([this] {
      try {
        for (;;) {
          const auto seen = peer->next();
          if (seen.type == EventType::request && !seen.header.oneway()) peer->echo(seen);
          if (seen.type == EventType::bind) peer->session.send_bound(seen.header.route);
        }
      } catch (const std::runtime_error&) {
      }
    });
  }
  void stop_serving() {
    link->close("the test is over");
    if (serving.joinable()) serving.join();
  }
  std::uint32_t call(std::uint32_t number, TimePoint deadline = soon()) {
    ReplySlot slot;
    auto payload = bytes_of(number);
    link->call(slot, {}, payload, deadline);
    {
      const std::scoped_lock lock(last_mutex);
      last = std::move(slot.reply.failure);
    }
    if (slot.reply.status != Code::ok) return 0;
    return number_in(slot.reply.payload);
  }

  std::shared_ptr<CountedStream::Counts> counts = std::make_shared<CountedStream::Counts>();
  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  std::unique_ptr<Peer> peer;
  std::shared_ptr<ClientLink> link;
  std::thread serving;
  std::mutex last_mutex;
  Failure last;
};

/// Keeps a reactor from doing anything until it is let go.
class Held {
 public:
  explicit Held(transport::Reactor& reactor) {
    reactor.post([state = state_] {
      state->held.release();
      state->let_go.acquire();
    });
    state_->held.acquire();
  }
  ~Held() { let_go(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void let_go() {
    if (!std::exchange(gone_, true)) state_->let_go.release();
  }

 private:
  struct State {
    std::binary_semaphore held{0};
    std::binary_semaphore let_go{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool gone_ = false;
};

/// How asynchronous calls ended; may go before they do.
struct Ends {
  Completion one() {
    return [state = state_](Reply&& reply) {
      const std::scoped_lock lock(state->mutex);
      reply.keep();
      state->replies.push_back(std::move(reply));
    };
  }
  std::size_t size() {
    const std::scoped_lock lock(state_->mutex);
    return state_->replies.size();
  }

 private:
  struct State {
    std::mutex mutex;
    std::vector<Reply> replies;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();

 public:
  std::vector<Reply>& replies = state_->replies;
};

TEST(ClientLink, ALoneCallIsOneWriteAndOneReadOnTheCallersThread) {
  Joined joined;
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);
  const int writes = joined.counts->writes;
  const int reads = joined.counts->reads;
  // A pause of the machine between two calls lets the link look whether its server is still there: a read
  // more.
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
  // From a completion, so that no scheduling of threads decides when the burst begins and ends.
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
  // The nested read must not take the bytes away from the completions that have still to run.
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
  // The second refusal shows that the link knows of the first.
  EXPECT_TRUE(eventually([&] { return joined.counts->refused >= 2; }));
  // No further attempt is under way while the reactor is held.
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
  // Writing fails now; the reply is there to be read.
  EXPECT_EQ(joined.call(1), 0U);
  held.let_go();
  EXPECT_TRUE(eventually([&] { return ends.size() == 1; }));
  EXPECT_EQ(ends.replies[0].status, Code::ok);
  EXPECT_EQ(number_in(ends.replies[0].payload), 9U);
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
    EXPECT_TRUE(joined.link->send_oneway({}, copy, soon()).ok());
    if (i == 1) break;
  }
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(joined.peer->next(EventType::request).header.oneway());
}

TEST(ClientLink, AOnewayCallerWaitsForASlowServerUntilItsDeadline) {
  Joined joined;
  Outcome<void> outcome;
  for (int i = 0; i < 200 && outcome; ++i) {  // 1 MiB and what the socket takes
    Buffer part(64 << 10);
    part.resize(64 << 10);
    std::memset(part.data(), 1, part.size());
    outcome =
        joined.link->send_oneway({}, part, std::chrono::steady_clock::now() + std::chrono::milliseconds(30));
  }
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().code, Code::deadline_exceeded);
  EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
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

struct Refused {
  explicit Refused(std::function<void(Peer&)> server, std::chrono::milliseconds time = mftest::kLong) {
    auto [left, right] = transport::make_inproc_pair();
    Peer peer(protocol::Role::server, std::move(left));
    std::thread serving([&] { server(peer); });
    auto opened = ClientLink::open(std::move(right), {}, reactor, std::chrono::steady_clock::now() + time);
    if (!opened) failure = opened.failure();
    serving.join();
  }
  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  Failure failure;
};

TEST(ClientLink, ARefusedHandshakeSaysWhy) {
  const Refused refused([](Peer& peer) {
    (void)peer.next(EventType::hello);
    peer.session.fail(Code::unauthenticated, "who are you?");
    peer.flush();
  });
  EXPECT_EQ(refused.failure.code, Code::unauthenticated);
  EXPECT_EQ(refused.failure.execution, Execution::not_executed);
  EXPECT_THAT(refused.failure.message, testing::HasSubstr("who are you?"));
}

TEST(ClientLink, WhatIsNoMfServerIsAProtocolError) {
  const Refused refused([](Peer& peer) {
    const std::string text = "HTTP/1.1 400 Bad Request\r\n\r\n";
    peer.send_raw(std::as_bytes(std::span(text)));
    (void)peer.until_end();
  });
  EXPECT_EQ(refused.failure.code, Code::protocol_error);
  EXPECT_EQ(refused.failure.execution, Execution::not_executed);
}

TEST(ClientLink, ASilentServerIsGivenUpInTime) {
  const Refused refused([](Peer& peer) { (void)peer.until_end(); }, std::chrono::milliseconds(50));
  EXPECT_EQ(refused.failure.code, Code::unavailable);
  EXPECT_THAT(refused.failure.message, testing::HasSubstr("did not answer the handshake"));
}

TEST(ClientLink, AServerThatClosesAtOnceIsNotExecuted) {
  const Refused refused([](Peer& peer) { peer.close(); });
  EXPECT_EQ(refused.failure.code, Code::connection_lost);
  EXPECT_EQ(refused.failure.execution, Execution::not_executed);
}

TEST(ClientLink, BindsOnceForManyThreads) {
  Joined joined;
  std::vector<std::thread> threads;
  std::atomic<int> bound{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (joined.link->bind(kService, "", soon()).ok()) ++bound;
    });
  }
  joined.peer->accept_bind();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bound, 4);
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);  // no second BIND was sent: the next frame is the request
  joined.stop_serving();
}

TEST(ClientLink, ARefusedBindingIsToldAndMayBeAskedAgain) {
  Joined joined;
  std::thread asking([&] {
    const auto refused = joined.link->bind(kService, "books", soon());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, Code::unknown_agent);
    EXPECT_THAT(refused.failure().message, testing::HasSubstr("not here"));
    EXPECT_TRUE(joined.link->bind(kService, "books", soon()).ok());
  });
  const auto bind = joined.peer->next(EventType::bind);
  joined.peer->session.send_bound(bind.header.route, Code::unknown_agent, "not here");
  joined.peer->flush();
  const auto again = joined.peer->next(EventType::bind);
  EXPECT_EQ(again.header.route, bind.header.route);
  joined.peer->session.send_bound(again.header.route);
  joined.peer->flush();
  asking.join();
}

TEST(ClientLink, AnotherSchemaIsPutInWords) {
  static constexpr std::string_view kOne[] = {"q"};
  static constexpr ServiceInfo kHere{
      .name = "t.S",
      .per_agent = false,
      .descriptor = "service t.S\n method q\n  params memcpy\n   x u32\n  results memcpy\n   value f32\n",
      .fingerprint = {9},
      .methods = kOne};
  Joined joined;
  std::thread asking([&] {
    const auto refused = joined.link->bind(kHere, "", soon());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, Code::schema_mismatch);
    EXPECT_THAT(refused.failure().message, testing::HasSubstr("f32 here, f64 there"));
  });
  const auto bind = joined.peer->next(EventType::bind);
  joined.peer->session.send_bound(bind.header.route, Code::schema_mismatch, "differs");
  joined.peer->flush();
  const auto asked = joined.peer->next(EventType::describe);
  joined.peer->session.send_descriptor(
      asked.text, "service t.S\n method q\n  params memcpy\n   x u32\n  results memcpy\n   value f64\n");
  joined.peer->flush();
  asking.join();
}

TEST(ClientLink, ABindingIsGivenUpAtTheDeadlineAndWhenTheLinkEnds) {
  Joined joined;
  const auto late =
      joined.link->bind(kService, "", std::chrono::steady_clock::now() + std::chrono::milliseconds(30));
  EXPECT_EQ(late.failure().code, Code::deadline_exceeded);
  std::thread asking([&] {
    const auto lost = joined.link->bind(kService, "", soon());
    EXPECT_EQ(lost.failure().code, Code::connection_lost);
    EXPECT_EQ(lost.failure().execution, Execution::not_executed);
  });
  (void)joined.peer->next(EventType::bind);
  joined.peer->close();
  asking.join();
}

TEST(ClientLink, AnAgentsNameThatNoBindCanHoldIsRefusedHere) {
  Joined joined;
  const auto refused = joined.link->bind(kService, std::string(40'000, 'x'), soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, Code::message_too_large);
  EXPECT_FALSE(joined.link->broken());
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

// Many short lives under load: whoever waits when the link ends is woken, whatever he waits for.
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

}  // namespace
}  // namespace mf::link
