// What a server bounds: connections, handshakes, memory, calls that are given up (docs/limits.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include "mf/transport/socket.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest {
namespace {

using mf::Code;
using mf::Execution;
using mf::protocol::EventType;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::unique_ptr<Peer> connected(const Served& served) {
  auto stream = mf::transport::connect(served.server.address(), 5s);
  return std::make_unique<Peer>(mf::protocol::Role::client, std::move(stream).value());
}

std::unique_ptr<Peer> greeted(const Served& served) {
  auto peer = connected(served);
  peer->session.send_hello();
  (void)peer->next(EventType::hello);
  return peer;
}

void bind(Peer& peer, const mf::ServiceInfo& service, std::string_view method) {
  peer.session.send_bind(
      0, {.fingerprint = service.fingerprint, .service = service.name, .agent = "", .methods = {method}});
  EXPECT_EQ(peer.next(EventType::bound).code, Code::ok);
}

TEST(ConnectionLimits, OneConnectionTooManyIsRefusedInWordsAndLoggedOnce) {
  Served served(mf::Where::adaptive, {.max_connections = 2});
  auto first = greeted(served);
  auto second = greeted(served);
  for (int i = 0; i < 20; ++i) {
    const auto refused = connected(served)->next();
    EXPECT_EQ(refused.type, EventType::refused);
    EXPECT_EQ(refused.code, Code::overloaded);
    EXPECT_THAT(refused.text, HasSubstr("2 connections, the most"));
  }
  mf::Client client(served.url());
  const auto failure = failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 300ms}); });
  EXPECT_EQ(failure.execution, Execution::not_executed) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("2 connections, the most"));
  EXPECT_EQ(served.log->size(), 1U);
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
  auto first = connected(served);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.handshakes == 1; }));
  auto second = connected(served);
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
  const auto announce = [&](Peer& peer, std::size_t size) {
    bind(peer, calls::methods::kEchoService, "blob");
    mf::Buffer payload(size);
    payload.resize(size);
    std::memset(payload.data(), 1, size);
    peer.session.send_request({}, std::move(payload));
    std::array<mf::IoSlice, 2> slices;
    ASSERT_GE(peer.session.fill_output(slices), 1U);
    peer.send_raw({slices[0].data, 4096});
  };
  auto modest = greeted(served);
  announce(*modest, 1 << 20);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.held_bytes >= 1U << 20; }));
  auto greedy = greeted(served);
  announce(*greedy, 7 << 19);
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.cut_memory == 1; }));
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.held_bytes < 2U << 20; }));
  EXPECT_EQ(served.server.stats().connections.open, 1U);
  EXPECT_TRUE(served.log->has("limit=max_held_bytes"));
  EXPECT_EQ(served.log->size(), 1U);
}

/// Answers with much, or waits.
struct Much final : Other {
  std::string name() override {
    ++ran;
    return std::string(512 << 10, 'x');
  }
  std::atomic<int> ran{0};
};

TEST(ConnectionLimits, NoRequestBeginsOnAWorkerWhileRepliesAreNotRead) {
  const auto much = std::make_shared<Much>();
  mf::Server server({.workers = 2, .max_unread_bytes = 1 << 20});
  server.offer(much, {.where = mf::Where::worker});
  server.start();
  auto stream = mf::transport::connect(server.address(), 5s);
  Peer peer(mf::protocol::Role::client, std::move(stream).value());
  peer.session.send_hello();
  (void)peer.next(EventType::hello);
  bind(peer, calls::methods::kOtherService, "name");
  constexpr int kAll = 300;
  for (int i = 0; i < kAll; ++i) peer.session.send_request({}, std::span<const std::byte>());
  peer.flush();
  ASSERT_TRUE(eventually([&] { return much->ran > 0 && server.stats().connections.held_bytes > 1U << 20; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(much->ran, 60);  // 1 MiB, and what the sockets hold
  EXPECT_LT(server.stats().connections.held_bytes, 4U << 20);
  for (int i = 0; i < kAll; ++i) EXPECT_GT(peer.next(EventType::reply).payload.size(), 512U << 10);
  EXPECT_EQ(much->ran, kAll);
  EXPECT_TRUE(eventually(
      [&] { return server.stats().connections.held_bytes == 0 && server.stats().connections.calls == 0; }));
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
}  // namespace mftest
