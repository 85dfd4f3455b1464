// Where adaptive handlers run: promotion, demotion, and the effect on other calls while one waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <semaphore>

#include "mf/core/blocking.hpp"
#include "mf/light/light.hpp"
#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest::adaptive_test {
namespace {

using mf::Code;
using mf::Where;
using namespace std::chrono_literals;

/// Whether this thread reads sockets.
bool reads_here() {
  return mf::detail::io_role != nullptr;
}

/// Records where twice() and note() ran, and runs the test's code there.
class Placed : public Echo {
 public:
  std::int32_t twice(std::int32_t x) override {
    keep(reads_here());
    if (on_twice) on_twice(x);
    return Echo::twice(x);
  }
  mf::Bytes blob(const mf::Bytes& data) override {
    keep(reads_here());
    return Echo::blob(data);
  }
  std::int32_t again(std::int32_t x) override {
    if (on_again) return on_again(x);
    return Echo::again(x);
  }
  bool even(std::int32_t x) override {
    keep(reads_here());
    return Echo::even(x);
  }
  void note(std::int32_t x) override {
    if (on_note) on_note(x);
    Echo::note(x);
  }

  /// Where the runs since the last call were; true means where they were read.
  std::vector<bool> places() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(places_, {});
  }

  std::function<void(std::int32_t)> on_twice;
  std::function<void(std::int32_t)> on_note;
  std::function<std::int32_t(std::int32_t)> on_again;

 private:
  void keep(bool here) {
    const std::scoped_lock lock(mutex_);
    places_.push_back(here);
  }
  std::mutex mutex_;
  std::vector<bool> places_;
};

/// A server whose handlers take only the time that a test sets, with one worker by default.
struct AdaptiveServer {
  AdaptiveServer(mf::ServerOptions options, Where where)
      : server([&] {
          options.clock = clock;
          return std::move(options);
        }()) {
    server.offer(servant, {.where = where});
    server.offer(std::make_shared<Other>(), {.where = Where::worker});
    server.start();
  }

  std::shared_ptr<mf::ManualClock> clock = std::make_shared<mf::ManualClock>();
  std::shared_ptr<Placed> servant = std::make_shared<Placed>();
  mf::Server server;
};

struct Adaptive : AdaptiveServer {
  explicit Adaptive(mf::ServerOptions options = {.workers = 1}, Where where = Where::adaptive)
      : AdaptiveServer(std::move(options), where) {}

  /// Makes `count` calls, each counted before the next one starts: the reply is sent before that, but the
  /// only worker finishes before it takes the next call.
  template <class Call>
  void times(int count, Call call) {
    for (int i = 0; i < count; ++i) {
      call();
      (void)other.name();
    }
  }
  /// Makes twice(1) run where it is read from now on.
  void promote() {
    times(32, [&] { (void)stub.twice(1); });
    (void)servant->places();
    (void)stub.twice(1);
    ASSERT_THAT(servant->places(), testing::ElementsAre(true));
  }

  mf::Client client{server.address().str()};
  calls::EchoClient stub{client};
  calls::OtherClient other{client};
};

std::vector<bool> first_on_workers(std::size_t workers, std::size_t here) {
  std::vector<bool> places(workers, false);
  places.resize(workers + here, true);
  return places;
}

TEST(Adaptive, AMethodRunsWhereItIsReadOnceItWasQuickThirtyTwoTimes) {
  Adaptive test;
  test.servant->on_twice = [&](std::int32_t) { test.clock->advance(49us); };
  test.times(40, [&] { EXPECT_EQ(test.stub.twice(21), 42); });
  EXPECT_EQ(test.servant->places(), first_on_workers(32, 8));
}

TEST(Adaptive, ARunOfFiftyMicrosecondsIsNotQuick) {
  Adaptive test;
  test.servant->on_twice = [&](std::int32_t) { test.clock->advance(50us); };
  test.times(40, [&] { (void)test.stub.twice(1); });
  EXPECT_EQ(test.servant->places(), first_on_workers(40, 0));
}

TEST(Adaptive, OneRunOfMoreThanAMillisecondSendsItBackForTwiceAsLong) {
  Adaptive test;
  test.servant->on_twice = [&](std::int32_t x) { test.clock->advance(x == 0 ? 1001us : 1us); };
  std::size_t needed = 32;
  for (int round = 0; round < 3; ++round) {
    test.times(static_cast<int>(needed) + 1, [&] { (void)test.stub.twice(1); });
    EXPECT_EQ(test.servant->places(), first_on_workers(needed, 1));
    test.times(1, [&] { (void)test.stub.twice(0); });
    EXPECT_THAT(test.servant->places(), testing::ElementsAre(true));
    needed *= 2;
  }
}

TEST(Adaptive, EachMethodIsMeasuredByItself) {
  Adaptive test;
  test.promote();
  (void)test.stub.even(2);
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(false));
}

TEST(Adaptive, EachAgentIsMeasuredByItselfAndLearnsFromAllConnections) {
  Adaptive test;
  test.times(16, [&] { (void)test.stub.twice(1); });
  mf::Client second(test.server.address().str());
  const calls::EchoClient stub(second);
  test.times(17, [&] { (void)stub.twice(1); });
  EXPECT_EQ(test.servant->places(), first_on_workers(32, 1));
}

TEST(Adaptive, LargePayloadsAndManyItemsGoToWorkersAndSayNothingOfTheOthers) {
  Adaptive test;
  test.times(32, [&] { (void)test.stub.blob(mf::Bytes(100)); });
  (void)test.servant->places();
  (void)test.stub.blob(mf::Bytes(60'000));
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(true));
  (void)test.stub.blob(mf::Bytes(70'000));
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(false));
  test.promote();
  test.servant->on_twice = [&](std::int32_t) { test.clock->advance(1ms); };
  std::vector<calls::EchoTwiceRequest> requests(21);
  for (const auto& outcome : test.stub.twice_bulk(requests)) EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(test.servant->places(), first_on_workers(21, 0));
  test.servant->on_twice = nullptr;
  requests.resize(20);
  for (const auto& outcome : test.stub.twice_bulk(requests)) EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(test.servant->places(), first_on_workers(0, 20));
}

TEST(Adaptive, LargePayloadsRunOnWorkersWhateverTheOfferSays) {
  Adaptive test({.workers = 1}, Where::io_thread);
  (void)test.stub.blob(mf::Bytes(1 << 10));
  (void)test.stub.blob(mf::Bytes(3 << 20));
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(true, false));
}

/// A handler waits here until the test opens it.
struct Gate {
  void wait() {
    begun.release();
    EXPECT_TRUE(open.try_acquire_for(kLong));
  }
  void has_begun() { EXPECT_TRUE(begun.try_acquire_for(kLong)); }

  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> open{0};
};

TEST(Adaptive, AHandlerThatWaitsInSilenceHoldsUpOthersOnceAndThenNoMore) {
  Gate gate;
  std::mutex mutex;
  Adaptive test;
  test.times(32, [&] { (void)test.stub.even(1); });
  test.promote();
  std::vector<std::string> order;
  const auto keep = [&](std::string what) {
    const std::scoped_lock lock(mutex);
    order.push_back(std::move(what));
  };
  test.servant->on_twice = [&](std::int32_t x) {
    if (x != 0) return;
    gate.wait();
    test.clock->advance(1s);
    keep("waited");
  };
  test.servant->on_again = [&](std::int32_t x) {
    keep("again");
    return x;
  };
  std::thread waits([&] { EXPECT_EQ(test.stub.twice(0), 0); });
  gate.has_begun();
  std::thread held_up([&] {
    mf::Client second(test.server.address().str());
    EXPECT_EQ(calls::EchoClient(second).again(2), 2);
  });
  gate.open.release();
  waits.join();
  held_up.join();
  EXPECT_THAT(order, testing::ElementsAre("waited", "again"));
  (void)test.servant->places();
  std::thread waits_again([&] { EXPECT_EQ(test.stub.twice(0), 0); });
  gate.has_begun();
  EXPECT_TRUE(test.stub.even(2));  // while the other one waits
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(false, true));
  gate.open.release();
  waits_again.join();
}

TEST(Adaptive, AHandlerThatSaysThatItWaitsHoldsUpNobody) {
  Gate gate;
  Adaptive test({.workers = 1, .io_threads = 2});
  test.times(32, [&] { (void)test.stub.even(1); });
  test.promote();
  test.servant->on_twice = [&](std::int32_t x) {
    if (x != 0) return;
    mf::blocking();
    EXPECT_FALSE(reads_here());
    gate.wait();
  };
  std::thread waits([&] { EXPECT_EQ(test.stub.twice(0), 0); });
  gate.has_begun();
  for (int connections = 0; connections < 4; ++connections) {  // on both reactors
    mf::Client second(test.server.address().str());
    EXPECT_TRUE(calls::EchoClient(second).even(2));
  }
  EXPECT_TRUE(test.stub.even(2));  // on the same connection
  gate.open.release();
  waits.join();
  (void)test.servant->places();
  (void)test.stub.twice(1);
  (void)test.stub.even(2);
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(false, true));
}

TEST(Adaptive, AMethodWhoseRunsWaitIsNeverPromoted) {
  Adaptive test;
  test.servant->on_twice = [](std::int32_t) { mf::blocking(); };
  test.times(100, [&] { (void)test.stub.twice(1); });
  EXPECT_EQ(test.servant->places(), first_on_workers(100, 0));
}

TEST(Adaptive, BlockingDoesNothingOutsideOfAServer) {
  mf::blocking();
  EXPECT_FALSE(reads_here());
}

/// A connection whose requests a test sends together, so that one turn contains them all.
struct Turn {
  explicit Turn(const mf::Server& server)
      : peer(mf::protocol::Role::client, mftest::connect(server.address(), 5s).value()) {
    const auto& service = calls::methods::kEchoService;
    peer.session.send_hello();
    peer.session.send_bind(0, {.fingerprint = service.fingerprint,
                               .service = service.name,
                               .agent = "",
                               .methods = {"twice", "again", "note"}});
    (void)peer.next(mf::protocol::EventType::bound);
  }
  std::uint32_t twice(std::int32_t x) { return add(0, x, 0); }
  std::uint32_t again(std::int32_t x) { return add(1, x, 0); }
  void note(std::int32_t x) { (void)add(2, x, mf::protocol::kOneway); }
  /// The next reply, as its id and number.
  std::pair<std::uint32_t, std::int32_t> reply() {
    const auto seen = peer.next(mf::protocol::EventType::reply);
    std::int32_t x = 0;
    EXPECT_EQ(seen.payload.size(), sizeof x) << seen.header.status();
    if (seen.payload.size() == sizeof x) std::memcpy(&x, seen.payload.data(), sizeof x);
    return {seen.header.id, x};
  }
  Peer peer;

 private:
  std::uint32_t add(std::uint16_t route, std::int32_t x, std::uint8_t flags) {
    return peer.session.send_request({.route = route, .tier = mf::Tier::memcpy, .flags = flags},
                                     std::as_bytes(std::span(&x, 1)));
  }
};

TEST(Adaptive, OneTurnRunsForAMillisecondWhereItWasReadAndLeavesTheRestToTheWorkers) {
  Adaptive test;
  test.promote();
  test.servant->on_twice = [&](std::int32_t) {
    if (reads_here()) test.clock->advance(49us);
  };
  Turn turn(test.server);
  for (std::int32_t i = 0; i < 40; ++i) (void)turn.twice(i);
  for (int i = 0; i < 40; ++i) (void)turn.reply();
  const auto places = test.servant->places();
  EXPECT_EQ(places.size(), 40U);
  EXPECT_EQ(std::ranges::count(places, true), 21);  // 20 take 980 us
}

using Replies = std::vector<std::pair<std::uint32_t, std::int32_t>>;

TEST(Adaptive, WhatWasReadWithARequestThatWaitsIsRunByAnother) {
  Gate gate;
  Adaptive test({.workers = 1}, Where::io_thread);
  test.servant->on_twice = [&](std::int32_t) {
    mf::blocking();
    gate.wait();
  };
  Turn turn(test.server);
  const auto first = turn.again(1);
  const auto waits = turn.twice(2);
  const auto third = turn.again(3);
  const auto waits_too = turn.twice(4);
  const auto fifth = turn.again(5);
  EXPECT_EQ((Replies{turn.reply(), turn.reply(), turn.reply()}),
            (Replies{{first, 1}, {third, 3}, {fifth, 5}}));
  // The connection continues to be read, too.
  const auto sixth = turn.again(6);
  EXPECT_EQ(turn.reply(), std::pair(sixth, 6));
  gate.has_begun();
  gate.has_begun();
  gate.open.release(2);
  EXPECT_THAT((Replies{turn.reply(), turn.reply()}),
              testing::UnorderedElementsAre(std::pair(waits, 4), std::pair(waits_too, 8)));
}

TEST(Adaptive, WhatHadNotCompletelyComeIsReadOnByAnother) {
  Gate gate;
  Adaptive test({.workers = 1}, Where::io_thread);
  test.servant->on_twice = [&](std::int32_t) {
    mf::blocking();
    gate.wait();
  };
  Turn turn(test.server);
  const auto waits = turn.twice(2);
  const auto split = turn.again(77);
  std::array<mf::IoSlice, 64> slices;
  std::vector<std::byte> bytes;
  for (const auto& slice : std::span(slices).first(turn.peer.session.fill_output(slices))) {
    bytes.insert(bytes.end(), slice.data, slice.data + slice.size);
  }
  turn.peer.session.consumed(bytes.size());
  turn.peer.send_raw(std::span(bytes).first(bytes.size() - 10));
  gate.has_begun();
  turn.peer.send_raw(std::span(bytes).last(10));
  EXPECT_EQ(turn.reply(), std::pair(split, 77));
  gate.open.release();
  EXPECT_EQ(turn.reply(), std::pair(waits, 4));
}

TEST(Adaptive, LaterCallsQueueBehindAOnewayCallThatWaitsWhereItWasRead) {
  Gate gate;
  std::atomic<bool> here{false};
  Adaptive test({.workers = 2}, Where::io_thread);
  test.servant->on_note = [&](std::int32_t x) {
    if (x != 0) return;
    mf::blocking();
    gate.wait();
  };
  Turn turn(test.server);
  turn.note(0);
  turn.note(1);
  const auto behind = turn.again(7);
  turn.note(2);
  turn.peer.flush();
  gate.has_begun();
  // Another connection of the same offer is served, and sees that nothing has run meanwhile.
  EXPECT_EQ(test.stub.again(1), 1);
  EXPECT_THAT(test.servant->notes(), testing::ElementsAre());
  gate.open.release();
  EXPECT_EQ(turn.reply(), std::pair(behind, 7));
  ASSERT_TRUE(eventually([&] { return test.servant->notes().size() == 3; }));
  EXPECT_THAT(test.servant->notes(), testing::ElementsAre(0, 1, 2));
  // Then the lane is free again: one-way calls run where they were read.
  test.servant->on_note = [&](std::int32_t) { here = here || reads_here(); };
  EXPECT_TRUE(eventually([&] {
    turn.note(3);
    turn.peer.flush();
    return here.load();
  }));
}

TEST(Adaptive, OnewayCallsKeepTheirOrderOverPromotionsAndDemotions) {
  std::atomic<int> here{0};
  mf::ServerOptions options;
  options.workers = 3;
  Adaptive test(options);
  test.servant->on_note = [&](std::int32_t x) {
    if (reads_here()) ++here;
    if (x % 700 == 699) mf::blocking();
    if (x % 1000 == 999) test.clock->advance(2ms);
  };
  constexpr std::int32_t kCalls = 10'000;
  for (std::int32_t i = 0; i < kCalls; ++i) {
    test.stub.note(i);
    if (i % 50 != 0) continue;
    // A call of the same offer runs after them, wherever each of them runs.
    (void)test.stub.twice(1);
    ASSERT_EQ(test.servant->notes().size(), static_cast<std::size_t>(i + 1));
  }
  ASSERT_TRUE(eventually([&] { return test.servant->notes().size() == kCalls; }));
  EXPECT_TRUE(std::ranges::is_sorted(test.servant->notes()));
  EXPECT_GT(here, 0);
  EXPECT_LT(here, kCalls);
}

class Nested : public testing::TestWithParam<Where> {};

INSTANTIATE_TEST_SUITE_P(Where, Nested, testing::Values(Where::adaptive, Where::io_thread),
                         [](const auto& info) {
                           return info.param == Where::adaptive ? "Adaptive" : "IoThread";
                         });

TEST_P(Nested, CallsOfTheSameServerAreServedManyLevelsDeep) {
  Adaptive test({.workers = 8}, GetParam());
  mf::Client own(test.server.address().str());
  const calls::EchoClient stub(own);
  test.servant->on_again = [&](std::int32_t x) { return x == 0 ? 0 : stub.again(x - 1) + 1; };
  for (int round = 0; round < 3; ++round) {
    test.times(130, [&] { EXPECT_EQ(test.stub.again(0), 0); });
    EXPECT_EQ(test.stub.again(6), 6);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      mf::Client client(test.server.address().str());
      const calls::EchoClient mine(client);
      for (int i = 0; i < 200; ++i) EXPECT_EQ(mine.again(i % 10 == 9 ? 1 : 0), i % 10 == 9 ? 1 : 0);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(Nested, CallsOfTheProcessThatWaitHoldUpNobody) {
  struct Later final : calls::OtherAsyncServant {
    void note(calls::OtherNoteRequest) override {}
    void name(calls::OtherNameRequest, mf::Responder<std::string> responder) override {
      const std::scoped_lock lock(mutex);
      waiting.emplace_back(std::move(responder));
    }
    std::mutex mutex;
    std::vector<mf::Responder<std::string>> waiting;
  };
  const auto later = std::make_shared<Later>();
  mf::Light light;
  light.offer(later);
  mf::Client inside(light);
  const calls::OtherClient stub(inside);
  Adaptive test({.workers = 1}, GetParam());
  test.times(32, [&] { (void)test.stub.twice(1); });
  test.servant->on_twice = [&](std::int32_t x) {
    if (x != 0) return;
    EXPECT_EQ(stub.name(), "late");
  };
  std::thread waits([&] { EXPECT_EQ(test.stub.twice(0), 0); });
  ASSERT_TRUE(eventually([&] {
    const std::scoped_lock lock(later->mutex);
    return later->waiting.size() == 1;
  }));
  mf::Client second(test.server.address().str());
  EXPECT_EQ(calls::EchoClient(second).again(3), 3);
  later->waiting.front().respond(std::string("late"));
  waits.join();
}

TEST(Adaptive, WhenAllSpareThreadsWaitTheWorkersRunTheRest) {
  Gate gate;
  Adaptive test({.workers = 2}, Where::io_thread);
  constexpr int kSpares = 64;
  test.servant->on_twice = [&](std::int32_t) {
    mf::blocking();
    gate.wait();
  };
  Turn turn(test.server);
  for (int i = 0; i < kSpares; ++i) (void)turn.twice(i);
  turn.peer.flush();
  for (int i = 0; i < kSpares; ++i) gate.has_begun();
  (void)test.servant->places();
  EXPECT_TRUE(test.stub.even(2));
  EXPECT_THAT(test.servant->places(), testing::ElementsAre(false));
  gate.open.release(kSpares);
  for (int i = 0; i < kSpares; ++i) (void)turn.reply();
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(test.stub.even(2));
    return test.servant->places() == std::vector<bool>{true};
  }));
}

TEST(Adaptive, AHandlerThatWaitsHearsThatItsCallIsCancelledOrLost) {
  for (const bool lost : {false, true}) {
    Adaptive test;
    test.promote();
    Gate gate;
    std::atomic<bool> heard{false};
    test.servant->on_twice = [&](std::int32_t x) {
      if (x != 0) return;
      mf::blocking();
      gate.begun.release();
      heard = eventually([] { return mf::current_call().cancelled(); });
    };
    Turn turn(test.server);
    const auto id = turn.twice(0);
    turn.peer.flush();
    gate.has_begun();
    if (lost) {
      turn.peer.close();
    } else {
      turn.peer.session.send_cancel(id);
      turn.peer.flush();
    }
    EXPECT_TRUE(eventually([&] { return heard.load(); })) << lost;
  }
}

TEST(Adaptive, StopWaitsForHandlersThatWaitWhereTheyWereRead) {
  Gate gate;
  Adaptive test;
  test.promote();
  test.servant->on_twice = [&](std::int32_t) {
    mf::blocking();
    gate.wait();
  };
  std::thread waits([&] { EXPECT_EQ(test.stub.twice(4), 8); });
  gate.has_begun();
  std::thread stopping([&] { test.server.stop(); });
  ASSERT_TRUE(eventually([&] {
    const auto failure = failure_of([&] { return test.stub.even(1, {.deadline = 1s}); });
    if (failure.code == Code::ok) return false;
    EXPECT_EQ(failure.execution, mf::Execution::not_executed) << failure.message;
    return true;
  }));
  gate.open.release();
  waits.join();
  stopping.join();
}

TEST(Adaptive, StopEndsOnlyWhenHandlersHaveEvenIfItDoesNotWaitForTheirAnswers) {
  std::atomic<bool> ended{false};
  {
    Adaptive test({.workers = 1, .drain_timeout = 10ms});
    test.promote();
    Gate gate;
    test.servant->on_twice = [&](std::int32_t) {
      mf::blocking();
      gate.wait();
      ended = true;
    };
    std::thread waits([&] { (void)failure_of([&] { return test.stub.twice(4); }); });
    gate.has_begun();
    std::thread opens([&] {
      waits.join();  // the connection has ended, but not its handler
      EXPECT_FALSE(ended);
      gate.open.release();
    });
    test.server.stop();
    EXPECT_TRUE(ended);
    opens.join();
  }
}

TEST(Adaptive, AHandlerThatIsRunWhereItWasReadMayStopItsServer) {
  auto test = std::make_unique<Adaptive>(mf::ServerOptions{.workers = 1, .drain_timeout = 20ms});
  test->promote();
  test->servant->on_twice = [&](std::int32_t) { test->server.stop(); };
  (void)failure_of([&] { return test->stub.twice(0, {.deadline = 5s}); });
  test.reset();
}

}  // namespace
}  // namespace mftest::adaptive_test
