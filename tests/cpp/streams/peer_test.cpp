// A server and a client that sends stream frames on calls without a stream.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "mf/server/server.hpp"
#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/flow.hpp"
#include "support/peer.hpp"

namespace mftest::peer_test {
namespace {

using namespace std::chrono_literals;
using mf::Code;
using mf::protocol::EventType;

struct Served {
  Served() {
    server.offer(servant);
    server.start();
    auto stream = mftest::connect(server.address(), 5s);
    peer.emplace(mf::protocol::Role::client, std::move(stream).value());
    peer->session.send_hello();
    const auto& service = flow::methods::kFlowService;
    peer->session.send_bind(0, {.fingerprint = service.fingerprint,
                                .service = service.name,
                                .agent = "",
                                .methods = {"linger", "endless", "sum", "stopped", "metadata_stream"}});
    (void)peer->next(EventType::bound);
  }
  std::uint32_t call(std::uint16_t route, std::uint8_t flags, std::span<const std::byte> payload = {}) {
    return peer->session.send_request({.route = route, .flags = flags}, payload);
  }
  Code reply(std::uint32_t id) {
    for (;;) {
      const auto seen = peer->next(EventType::reply);
      if (seen.header.id == id) return seen.header.code();
    }
  }

  /// A running call, whose handler has requested information about it.
  std::uint32_t lingering() {
    const auto id = call(0, 0);
    peer->flush();
    EXPECT_TRUE(eventually([&] { return servant->lingering > 0; }));
    return id;
  }

  const std::shared_ptr<PlainFlow> servant = std::make_shared<PlainFlow>();
  mf::Server server{mf::ServerOptions{.workers = 2}};
  std::optional<Peer> peer;
};

TEST(StreamPeer, EndWhereTheMethodHasNoParameterStreamEndsTheCallOnly) {
  Served served;
  const auto plain = served.lingering();
  served.peer->session.send_end(plain);
  EXPECT_EQ(served.reply(plain), Code::protocol_error);
  const auto results = served.call(1, mf::protocol::kStream);
  served.peer->session.send_end(results);
  EXPECT_EQ(served.reply(results), Code::protocol_error);
  EXPECT_EQ(served.reply(served.call(3, 0)), Code::ok);
}

TEST(StreamPeer, CreditWhereTheMethodHasNoResultStreamIsIgnored) {
  Served served;
  const auto plain = served.lingering();
  for (int i = 0; i < 2; ++i) served.peer->session.send_credit(plain, mf::protocol::kMaxCredit);
  EXPECT_EQ(served.reply(served.call(3, 0)), Code::ok);
  served.peer->session.send_end(plain);
  EXPECT_EQ(served.reply(plain), Code::protocol_error) << "the END has ended it, not the CREDIT before";
  const std::array<std::byte, 8> start{};
  const auto params = served.call(2, mf::protocol::kStream, start);
  served.peer->session.send_credit(params, 1000);
  served.peer->session.send_end(params);
  EXPECT_EQ(served.reply(params), Code::ok);
}

TEST(StreamPeer, MetadataOfAReplyGoWithTheFirstValueAndNotAgainWithTheEnd) {
  Served served;
  const std::array key{std::byte{1}, std::byte{'k'}};
  const auto id = served.peer->session.send_request(
      {.route = 4, .tier = mf::Tier::febird, .flags = mf::protocol::kStream}, key);
  const auto value = served.peer->next(EventType::data);
  ASSERT_EQ(value.header.id, id);
  EXPECT_TRUE(value.header.metadata());
  const auto reply = served.peer->next(EventType::reply);
  EXPECT_EQ(reply.header.code(), Code::ok);
  EXPECT_FALSE(reply.header.metadata());
  served.servant->kept.reset();  // the writer keeps the connection, which keeps the servant
}

}  // namespace
}  // namespace mftest::peer_test
