// The limits of a server: connections, handshakes, memory, cancelled calls (docs/limits.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest::limits_test {
namespace {

using mf::Code;
using mf::Execution;
using mf::protocol::EventType;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::unique_ptr<Peer> connected(const mf::Server& server) {
  auto stream = mftest::connect(server.address(), 5s);
  return std::make_unique<Peer>(mf::protocol::Role::client, std::move(stream).value());
}

std::unique_ptr<Peer> greeted(const Served& served) {
  auto peer = connected(served.server);
  peer->session.send_hello();
  (void)peer->next(EventType::hello);
  return peer;
}

void bind(Peer& peer, const mf::ServiceInfo& service, std::string_view method) {
  peer.session.send_bind(
      0, {.fingerprint = service.fingerprint, .service = service.name, .agent = "", .methods = {method}});
  EXPECT_EQ(peer.next(EventType::bound).code, Code::ok);
}

/// Sends the start of a request of this size.
void announce(Peer& peer, std::size_t size) {
  bind(peer, calls::methods::kEchoService, "blob");
  mf::Buffer payload(size);
  payload.resize(size);
  std::memset(payload.data(), 1, size);
  peer.session.send_request({}, std::move(payload));
  std::array<mf::IoSlice, 2> slices;
  ASSERT_GE(peer.session.fill_output(slices), 1U);
  peer.send_raw({slices[0].data, 4096});
}

TEST(ConnectionLimits, OneConnectionTooManyIsRefusedInWordsAndLoggedOnce) {
  Served served(mf::Where::adaptive, {.max_connections = 2});
  auto first = greeted(served);
  auto second = greeted(served);
  for (int i = 0; i < 20; ++i) {
    const auto refused = connected(served.server)->next();
    EXPECT_EQ(refused.type, EventType::refused);
    EXPECT_EQ(refused.code, Code::overloaded);
    EXPECT_THAT(refused.text, HasSubstr("2 connections, the most"));
  }
  mf::Client client(served.url());
  const auto failure = failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 300ms}); });
  EXPECT_EQ(failure.execution, Execution::not_executed) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("2 connections, the most"));
  EXPECT_EQ(served.log->warnings(), 1U);
  EXPECT_TRUE(served.log->has("connections_refused"));
  EXPECT_EQ(served.server.stats().connections.open, 2U);
  EXPECT_GE(served.server.stats().connections.refused, 21U);

  first->close();
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 1; }));
  EXPECT_TRUE(eventually(
      [&] { return failure_of([&] { return calls::EchoClient(client).twice(1); }).code == Code::ok; }));
}

TEST(ConnectionLimits, OfTooManyThatDoNotSpeakTheOldestIsEnded) {
  Served served(mf::Where::adaptive, {.max_handshakes = 2, .handshake_timeout = 60s});
  auto first = connected(served.server);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.handshakes == 1; }));
  auto second = connected(served.server);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.handshakes == 2; }));
  auto third = greeted(served);
  EXPECT_THAT(first->next(EventType::refused).text, HasSubstr("for the longest"));
  const auto stats = served.server.stats().connections;
  EXPECT_EQ(stats.cut_handshakes, 1U);
  EXPECT_EQ(stats.handshakes, 1U);
  EXPECT_EQ(stats.accepted, 3U);
  second->session.send_hello();
  EXPECT_EQ(second->next().type, EventType::hello);
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.handshakes == 0; }));
}

TEST(ConnectionLimits, WhoHoldsTheMostIsEndedWhenConnectionsHoldTooMuch) {
  Served served(mf::Where::worker, {.max_held_bytes = 4 << 20});
  auto modest = greeted(served);
  announce(*modest, 1 << 20);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.held_bytes >= 1U << 20; }));
  auto greedy = greeted(served);
  announce(*greedy, 7 << 19);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.cut_memory == 1; }));
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.held_bytes < 2U << 20; }));
  EXPECT_EQ(served.server.stats().connections.open, 1U);
  EXPECT_TRUE(served.log->has("limit=max_held_bytes"));
  EXPECT_EQ(served.log->warnings(), 1U);
}

/// Keeps a blob until it is released.
struct Keeping final : Echo {
  mf::Bytes blob(const mf::Bytes&) override {
    ++ran;
    may_end.acquire();
    return {};
  }
  std::counting_semaphore<> may_end{0};
};

TEST(ConnectionLimits, WhatAConnectionThatWasEndedStillHoldsEndsNoOther) {
  std::counting_semaphore<> ended{0};
  std::atomic<int> fine{0};
  const auto keeping = std::make_shared<Keeping>();
  mf::Server server({.workers = 1, .max_held_bytes = 4 << 20});
  server.offer(keeping, {.where = mf::Where::worker});
  server.start();
  const auto held = [&] { return server.stats().connections.held_bytes; };
  mf::Client greedy(server.address().str());
  mf::Client modest(server.address().str());
  const auto send = [&](mf::Client& client, int times) {
    for (int i = 0; i < times; ++i) {
      calls::EchoClient(client).async_blob(mf::Bytes(512 << 10), [&](const mf::Outcome<mf::Bytes>& outcome) {
        fine += outcome.ok() ? 1 : 0;
        ended.release();
      });
    }
  };
  send(greedy, 4);
  ASSERT_TRUE(eventually([&] { return held() >= 2U << 20; }));
  send(modest, 2);
  ASSERT_TRUE(eventually([&] { return held() >= 3U << 20; }));

  auto third = connected(server);  // it announces more than the others leave room for
  third->session.send_hello();
  (void)third->next(EventType::hello);
  announce(*third, 3 << 19);
  for (int i = 0; i < 4; ++i) ended.acquire();
  EXPECT_EQ(fine, 0);
  EXPECT_EQ(server.stats().connections.cut_memory, 1U);

  keeping->may_end.release(6);
  for (int i = 0; i < 2; ++i) ended.acquire();
  EXPECT_EQ(fine, 2);
  EXPECT_EQ(server.stats().connections.cut_memory, 1U);
}

/// Answers with a large reply when the test permits.
struct Much final : Other {
  std::string name() override {
    ++ran;
    may_end.acquire();
    return std::string(512 << 10, 'x');
  }
  std::atomic<int> ran{0};
  std::counting_semaphore<> may_end{0};
};

/// A server with one worker, and a client that reads no replies until the test lets it.
struct Unread {
  static constexpr std::size_t kMost = 1 << 20;
  static constexpr int kManyMore = 100'000;

  explicit Unread(std::map<std::string, mf::Limit, std::less<>> limits = {}, std::size_t workers = 1)
      : server({.workers = workers, .max_unread_bytes = kMost}) {
    server.offer(much, {.where = mf::Where::worker, .limits = std::move(limits)});
    server.start();
    peer.emplace(mf::protocol::Role::client, mftest::connect(server.address(), 5s).value());
    peer->session.send_hello();
    (void)peer->next(EventType::hello);
    peer->session.send_bind(0, {.fingerprint = calls::methods::kOtherService.fingerprint,
                                .service = calls::methods::kOtherService.name,
                                .agent = "",
                                .methods = {"name", "note"}});
    EXPECT_EQ(peer->next(EventType::bound).code, Code::ok);
  }
  ~Unread() { much->may_end.release(kManyMore); }

  void ask(int times) {
    for (int i = 0; i < times; ++i) peer->session.send_request({}, std::span<const std::byte>());
  }
  void note(std::uint32_t x) {
    peer->session.send_request({.route = 1, .flags = mf::protocol::kOneway},
                               std::span<const std::byte>(bytes_of(x).span()));
  }
  /// Sends the queued requests, and waits until the server has read them.
  [[nodiscard]] bool sent(std::size_t calls) {
    peer->flush();
    return eventually([&] { return server.stats().connections.calls == calls; });
  }
  /// Ends one call after another, until their replies exceed the limit.
  [[nodiscard]] bool fill() {
    for (int let = 1; let < kMany; ++let) {
      much->may_end.release();
      if (!eventually([&] { return much->ran > let || full(); })) return false;
      if (full()) return true;
    }
    return false;
  }
  /// Whether no request starts any more, because of waiting replies. The sockets may take some of these after
  /// the limit was exceeded; requests start again when a quarter of it is left.
  [[nodiscard]] bool full() const {
    const int before = much->ran;
    if (held() <= kMost / 4) return false;
    std::this_thread::sleep_for(50ms);
    return much->ran == before && held() > kMost / 4;
  }
  [[nodiscard]] std::size_t held() const { return server.stats().connections.held_bytes; }
  /// The number of calls, above what the sockets and the limit hold.
  static constexpr int kMany = 60;

  const std::shared_ptr<Much> much = std::make_shared<Much>();
  mf::Server server;
  std::optional<Peer> peer;
};

TEST(ConnectionLimits, NoRequestBeginsOnAWorkerWhileRepliesAreNotRead) {
  Unread unread({}, 2);
  constexpr int kAll = 300;
  unread.much->may_end.release(kAll);
  unread.ask(kAll);
  unread.peer->flush();
  ASSERT_TRUE(eventually([&] { return unread.full(); }));
  EXPECT_LT(unread.much->ran, Unread::kMany);
  EXPECT_LT(unread.held(), 4 * Unread::kMost);
  for (int i = 0; i < kAll; ++i) EXPECT_GT(unread.peer->next(EventType::reply).payload.size(), 512U << 10);
  EXPECT_EQ(unread.much->ran, kAll);
  EXPECT_TRUE(eventually([&] { return unread.held() == 0 && unread.server.stats().connections.calls == 0; }));
}

TEST(ConnectionLimits, ALimitOfAMethodLetsNoMoreRepliesWaitAndKeepsNoSlotForThem) {
  Unread unread({{"name", {.concurrent = 2, .queued = 1000}}}, 2);
  constexpr int kAll = 300;
  unread.much->may_end.release(kAll + 1);
  unread.ask(kAll);
  unread.peer->flush();
  ASSERT_TRUE(eventually([&] { return unread.full(); }));
  EXPECT_LT(unread.much->ran, Unread::kMany);
  EXPECT_LT(unread.held(), 4 * Unread::kMost);
  mf::Client client(unread.server.address().str());
  EXPECT_EQ(calls::OtherClient(client).name().size(), 512U << 10);
  for (int i = 0; i < kAll; ++i) EXPECT_EQ(unread.peer->next(EventType::reply).header.code(), Code::ok);
  EXPECT_EQ(unread.much->ran, kAll + 1);
}

TEST(ConnectionLimits, OneWayCallsKeepTheirOrderBehindRepliesThatAreNotRead) {
  Unread unread;
  unread.ask(Unread::kMany);
  for (std::uint32_t x = 0; x < 50; ++x) unread.note(x);
  ASSERT_TRUE(unread.sent(Unread::kMany + 50));
  ASSERT_TRUE(unread.fill());
  unread.much->may_end.release(Unread::kMany);
  for (int i = 0; i < Unread::kMany; ++i) (void)unread.peer->next(EventType::reply);
  ASSERT_TRUE(eventually([&] { return unread.server.stats().connections.calls == 0; }));
  std::vector<int> all(50);
  std::ranges::generate(all, [x = 0]() mutable { return x++; });
  EXPECT_EQ(unread.much->notes, all);
}

TEST(ConnectionLimits, AClientThatLeavesItsRepliesUnreadHarmsNobodyAndItsOneWayCallsRun) {
  Unread unread;
  unread.ask(Unread::kMany);
  for (std::uint32_t x = 0; x < 50; ++x) unread.note(x);
  ASSERT_TRUE(unread.sent(Unread::kMany + 50));
  ASSERT_TRUE(unread.fill());
  unread.peer.reset();
  ASSERT_TRUE(eventually([&] { return unread.server.stats().connections.open == 0; }));
  const int ran = unread.much->ran;
  unread.much->may_end.release(Unread::kMany);
  EXPECT_TRUE(eventually([&] {
    const std::scoped_lock lock(unread.much->mutex);
    return unread.much->notes.size() == 50;
  }));
  EXPECT_EQ(unread.much->ran, ran);
}

TEST(ConnectionLimits, ACallThatIsGivenUpCountsUntilItsHandlerReturns) {
  Served served(mf::Where::worker, {.workers = 1, .max_in_flight = 8});
  auto peer = greeted(served);
  bind(*peer, calls::methods::kEchoService, "wait");
  const auto busy = [&](std::uint32_t ms) {
    return peer->session.send_request({}, std::span<const std::byte>(bytes_of(ms).span()));
  };
  (void)busy(200);
  peer->flush();
  ASSERT_TRUE(eventually([&] { return served.echo->ran == 1; }));
  constexpr int kReset = 1'000;
  for (int i = 0; i < kReset; ++i) peer->session.send_cancel(busy(0));
  int overloaded = 0;
  int cancelled = 0;
  int fine = 0;
  for (int i = 0; i < kReset + 1; ++i) {
    const auto reply = peer->next(EventType::reply);
    overloaded += reply.header.code() == Code::overloaded ? 1 : 0;
    cancelled += reply.header.code() == Code::cancelled ? 1 : 0;
    fine += reply.header.code() == Code::ok ? 1 : 0;
  }
  EXPECT_EQ(fine, 1);
  EXPECT_EQ(cancelled, 7);
  EXPECT_EQ(overloaded, kReset - 7);
  EXPECT_EQ(served.echo->ran, 1);
}

TEST(ConnectionLimits, ADeadConnectionKeepsNoDescriptorWhileItsHandlerRuns) {
  Served served(mf::Where::worker);
  const auto before = open_descriptors();
  auto peer = greeted(served);
  bind(*peer, calls::methods::kEchoService, "wait");
  peer->session.send_request({}, std::span<const std::byte>(bytes_of(400).span()));
  peer->flush();
  ASSERT_TRUE(eventually([&] { return served.echo->ran == 1; }));
  peer.reset();
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before; }));
  EXPECT_EQ(served.server.stats().connections.open, 0U);
}

}  // namespace
}  // namespace mftest::limits_test
