// Pool: when it connects, when an address rests, and what closing it ends.
#include "mf/route/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "mf/server/server.hpp"
#include "route/loop.hpp"
#include "support/peer.hpp"

namespace mf::route {
namespace {

using link::Reply;
using mftest::bytes_of;
using mftest::eventually;
using mftest::Peer;
using mftest::soon;
using protocol::EventType;
using test::Looped;
using test::unused_address;

/// A server whose connections the test answers.
struct Answering {
  /// Accepts the next connection and greets its client.
  std::unique_ptr<Peer> accept() { return test::accept(listener); }
  /// A connection of the pool, and its other end.
  std::pair<Pool::Opened, std::unique_ptr<Peer>> open(Looped& looped) {
    auto opened = looped.begin({.address = listener.address()});
    auto peer = accept();
    return {opened.get(), std::move(peer)};
  }
  transport::Listener listener{Address::parse("tcp://127.0.0.1:0")};
};

TEST(Pool, AFailureIsRememberedForAMomentUnlessTheAddressIsAnnouncedAnew) {
  Looped looped;
  const auto address = unused_address();
  const auto refused = looped.open(address);
  ASSERT_TRUE(refused.why);
  EXPECT_EQ(refused.why->message, "connect " + address.str() + ": connection refused");
  EXPECT_GT(refused.again_at, mf::now() - std::chrono::milliseconds(1));
  Server server({.listen = address.str()});
  server.start();
  const auto again = looped.open(address);
  if (mf::now() < refused.again_at) {
    EXPECT_EQ(again.link, nullptr);
    EXPECT_EQ(again.again_at, refused.again_at);
  }
  looped.run([&] { looped.pool->reset_rest(address); });
  EXPECT_NE(looped.open(address).link, nullptr);
}

TEST(Pool, ThoseWhoWantOneAddressShareItsConnection) {
  Looped looped;
  Answering server;
  auto first = looped.begin({.address = server.listener.address()});
  auto second = looped.begin({.address = server.listener.address()});
  const auto peer = server.accept();
  const auto link = first.get().link;
  EXPECT_NE(link, nullptr);
  EXPECT_EQ(second.get().link, link);
  EXPECT_EQ(looped.open(server.listener.address()).link, link);
}

// A server that ends its connections, or sends GOAWAY, as fast as they are made.
TEST(Pool, AnAddressRestsWhoseConnectionsEndTooSoon) {
  Looped looped;
  Answering server;
  for (const bool goaway : {true, false}) {
    auto [opened, peer] = server.open(looped);
    ASSERT_NE(opened.link, nullptr);
    if (goaway) {
      peer->session.send_goaway(Code::shutting_down, "again");
      peer->flush();
    } else {
      peer->close();
    }
    EXPECT_TRUE(eventually([&] {
      opened.link->poll();
      return !opened.link->usable();
    }));
    const auto before = mf::now();
    const auto rests = looped.open(server.listener.address());
    EXPECT_EQ(rests.link, nullptr);
    EXPECT_FALSE(rests.why) << "it was not tried";
    EXPECT_GE(rests.again_at, before + std::chrono::milliseconds(10));
    std::this_thread::sleep_until(rests.again_at);
  }
  EXPECT_NE(server.open(looped).first.link, nullptr);
}

TEST(Pool, ASilentServerIsGivenUpInWordsAndDelaysNoOther) {
  Looped looped({.connect_timeout = std::chrono::milliseconds(200)});
  const transport::Listener silent(Address::parse("tcp://127.0.0.1:0"));
  auto waiting = looped.begin({.address = silent.address()});
  Answering server;
  EXPECT_NE(server.open(looped).first.link, nullptr);
  const auto opened = waiting.get();
  ASSERT_TRUE(opened.why);
  EXPECT_EQ(opened.why->code, Code::unavailable);
  EXPECT_THAT(opened.why->message, testing::HasSubstr("is it an MF server?"));
}

// The loop is another thread than the reactor's, which may run a user's slow completion.
TEST(Pool, ABusyReactorDelaysNoConnection) {
  Looped looped;
  std::promise<void> release;
  looped.reactor->post([held = release.get_future().share()] { held.wait(); });
  Answering server;
  EXPECT_NE(server.open(looped).first.link, nullptr);
  release.set_value();
}

TEST(Pool, LimitsItsConnectionsAndEndsUnusedOnesFirst) {
  const auto all = std::make_shared<std::atomic<std::size_t>>(0);
  Looped looped({.most = 1, .most_of_all = 10, .all = all});
  Answering one;
  Answering two;
  auto first = one.open(looped);
  const auto refused = looped.open(two.listener.address());
  ASSERT_TRUE(refused.why);
  EXPECT_EQ(refused.why->code, Code::overloaded);
  EXPECT_EQ(*all, 1U);
  looped.run([&] { first.first.link = nullptr; });
  EXPECT_NE(two.open(looped).first.link, nullptr);
}

TEST(Pool, ItsEndEndsConnectionsThatTakeNoNewCallsToo) {
  Looped looped;
  Answering server;
  auto first = server.open(looped);
  std::atomic<int> ended{0};
  auto payload = bytes_of(1);
  (void)first.first.link->start({}, payload, soon(), [&](Reply&& reply) {
    EXPECT_EQ(reply.status, Code::cancelled);
    ++ended;
  });
  (void)first.second->next(EventType::request);
  first.second->session.send_goaway(Code::shutting_down, "maintenance");
  first.second->flush();
  EXPECT_TRUE(eventually([&] { return !first.first.link->usable(); }));
  looped.run([&] { looped.pool->reset_rest(server.listener.address()); });
  std::this_thread::sleep_until(looped.open(server.listener.address()).again_at);
  const auto second = server.open(looped);
  EXPECT_NE(first.first.link, second.first.link);
  looped.run([&] { looped.pool->close("the client was closed"); });
  EXPECT_TRUE(eventually([&] { return ended == 1; }));
  EXPECT_EQ(first.second->next().type, EventType::cancel);
  EXPECT_TRUE(second.first.link->broken());
  EXPECT_EQ(looped.open(server.listener.address()).why->code, Code::cancelled);
}

}  // namespace
}  // namespace mf::route
