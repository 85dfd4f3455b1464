// The connections of a relay to servers: their number, and that one which hangs delays no other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/transport/socket.hpp"
#include "mftest/calls.client.hpp"
#include "relay/relayed.hpp"
#include "support/connect.hpp"
#include "support/echo.hpp"
#include "support/peer.hpp"

namespace mftest::servers_test {
namespace {

using mf::protocol::EventType;
using testing::HasSubstr;

constexpr auto kForLong = std::chrono::minutes(1);

/// Servers, each with its own agent: "agent0", "agent1"…
struct Parts {
  explicit Parts(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto agent = "agent" + std::to_string(i);
      servers.emplace_back().offer(std::make_shared<Part>(agent), {.agent = agent});
      servers.back().start();
    }
  }
  [[nodiscard]] std::size_t connections() const {
    std::size_t all = 0;
    for (const auto& server : servers) all += server.stats().connections.open;
    return all;
  }
  std::list<mf::Server> servers;
};

/// A client whose frames the test writes.
struct Raw {
  explicit Raw(const Relayed& relay)
      : peer(mf::protocol::Role::client, mftest::connect(relay.address(), kForLong).value()) {
    peer.session.send_hello();
    peer.flush();
  }
  void bind(std::uint16_t route, const std::string& agent) {
    static const Part kPart("");
    const auto& service = kPart.service();
    peer.session.send_bind(route, {.fingerprint = service.fingerprint,
                                   .service = service.name,
                                   .agent = agent,
                                   .methods = {service.methods.front()}});
    peer.flush();
  }
  Peer peer;
};

// They connect, and never get an answer: more of them than any number of waiting threads.
TEST(RelayedServers, AnInstanceThatHangsHoldsUpNobodyElse) {
  const mf::transport::Listener hanging(mf::Address::parse("tcp://127.0.0.1:0"));
  const Parts parts(1);
  Relayed relay({}, {}, {.connect_timeout = kForLong});
  auto offers = answered();
  offers.agents["hangs"].push_back({.address = hanging.address()});
  offers.agents["agent0"].push_back({.address = parts.servers.front().address()});
  relay.resolver->set(std::move(offers));

  std::vector<std::unique_ptr<Raw>> waiting;
  for (int i = 0; i < 150; ++i) {
    waiting.push_back(std::make_unique<Raw>(relay));
    waiting.back()->bind(0, "hangs");
  }
  EXPECT_TRUE(eventually([&] { return relay.stats().connections.open == waiting.size(); }));
  for (int i = 0; i < 20; ++i) {
    mf::Client client(relay.address().str());
    EXPECT_EQ(calls::PartClient(client).at("agent0").name(), "agent0");
  }
  // A waiting client is not delayed either when it calls another server.
  waiting.front()->bind(9, "agent0");
  const auto answer = waiting.front()->peer.next(EventType::bound);
  EXPECT_EQ(answer.header.route, 9);
  EXPECT_EQ(answer.code, mf::Code::ok);
}

TEST(RelayedServers, OneThatHangsEndsAtItsOwnTimeInWords) {
  const mf::transport::Listener hanging(mf::Address::parse("tcp://127.0.0.1:0"));
  Relayed relay({}, {}, {.connect_timeout = std::chrono::milliseconds(50)});
  relay.knows({hanging.address()});
  Raw client(relay);
  client.bind(0, "");
  const auto answer = client.peer.next(EventType::bound);
  EXPECT_EQ(answer.code, mf::Code::unavailable);
  EXPECT_THAT(answer.text, HasSubstr("a server was not reached; the relay's log has the reason"));
  EXPECT_THAT(answer.text, HasSubstr("relay " + relay.address().str()));
  EXPECT_THAT(answer.text, testing::Not(HasSubstr(hanging.address().str())));
  EXPECT_TRUE(relay.log->has("relay_server_not_reached peer=" + hanging.address().str()));
  EXPECT_TRUE(relay.log->has("is it an MF server?"));
}

TEST(RelayedServers, AClientGoesWhileItsConnectionsAreMade) {
  const mf::transport::Listener hanging(mf::Address::parse("tcp://127.0.0.1:0"));
  Relayed relay({}, {}, {.connect_timeout = kForLong});
  relay.knows({hanging.address()});
  Raw(relay).bind(0, "");
  EXPECT_TRUE(eventually([&] { return relay.stats().connections.open == 0; }));
}

struct Bounded : testing::Test {
  static constexpr std::size_t kOfClient = 3;
  static constexpr std::size_t kOfAll = 5;
  Bounded() {
    auto offers = answered();
    std::size_t number = 0;
    for (const auto& server : parts.servers)
      offers.agents["agent" + std::to_string(number++)].push_back({.address = server.address()});
    relay.resolver->set(std::move(offers));
  }
  Peer::Seen bind(Raw& client, std::uint16_t number) {
    client.bind(number, "agent" + std::to_string(number));
    return client.peer.next(EventType::bound);
  }

  Parts parts{8};
  Relayed relay{{}, {}, {.max_servers_of_client = kOfClient, .max_servers = kOfAll}};
};

TEST_F(Bounded, AClientHasSoManyConnectionsAndMoreWhenItNeedsOthersNoLonger) {
  Raw client(relay);
  for (std::uint16_t i = 0; i < kOfClient; ++i) EXPECT_EQ(bind(client, i).code, mf::Code::ok);
  const auto refused = bind(client, 7);
  EXPECT_EQ(refused.code, mf::Code::overloaded);
  EXPECT_THAT(refused.text, HasSubstr("3 connections to servers for this client"));
  EXPECT_EQ(parts.connections(), kOfClient);
  client.peer.session.send_unbind(0);
  EXPECT_EQ(bind(client, 6).code, mf::Code::ok);
  EXPECT_TRUE(eventually([&] { return parts.connections() == kOfClient; }));
}

TEST_F(Bounded, AllClientsHaveSoManyTogether) {
  Raw one(relay);
  Raw two(relay);
  for (std::uint16_t i = 0; i < kOfClient; ++i) EXPECT_EQ(bind(one, i).code, mf::Code::ok);
  for (std::uint16_t i = 0; i < kOfAll - kOfClient; ++i) EXPECT_EQ(bind(two, i).code, mf::Code::ok);
  const auto refused = bind(two, 7);
  EXPECT_EQ(refused.code, mf::Code::overloaded);
  EXPECT_THAT(refused.text, HasSubstr("5 connections to servers, which is all that it makes"));
  one.peer.close();
  EXPECT_TRUE(eventually([&] { return parts.connections() == kOfAll - kOfClient; }));
  EXPECT_TRUE(eventually([&] { return bind(two, 7).code == mf::Code::ok; }));
}

TEST_F(Bounded, AServerThatGoesMakesRoom) {
  Raw client(relay);
  for (std::uint16_t i = 0; i < kOfClient; ++i) EXPECT_EQ(bind(client, i).code, mf::Code::ok);
  parts.servers.front().stop();
  EXPECT_TRUE(eventually([&] { return bind(client, 7).code == mf::Code::ok; }));
}

}  // namespace
}  // namespace mftest::servers_test
