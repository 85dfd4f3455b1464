// A server that breaks the protocol ends the calls to it, and nothing else of its client's: the client has
// done nothing wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mf/protocol/reply.hpp"
#include "mf/transport/socket.hpp"
#include "relay/relayed.hpp"
#include "support/connect.hpp"
#include "support/echo.hpp"
#include "support/peer.hpp"

namespace mftest::broken_servers_test {
namespace {

using mf::protocol::EventType;
using mf::protocol::Role;
using testing::HasSubstr;
using testing::Not;

std::vector<std::byte> octets_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

/// What a server may send where an answer is expected, and must not.
struct Violation {
  const char* name;
  const char* hex;
};

const Violation kViolations[] = {
    {"ABanner", "5353482d322e302d 4f70656e53534820 20202020 20202020"},
    {"AFrameOfType0", "10000000 00 00 0000 00000000 0000 0000"},
    {"AFrameOf4GiB", "ffffffff 06 01 0000 01000000 0000 0100"},
    {"AFrameSmallerThanItsHeader", "0f000000 06 01 0000 01000000 0000 0100"},
    {"ASecondHello",
     "3a000000 01 00 0000 00000000 0000 0000 894d4649444c0d0a 01000100 00000001 00000400 00000000"
     " f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff 0000 000000000000"},
    {"ARequest", "10000000 05 01 0000 01000000 0000 0100"},
    {"ABind", "10000000 03 00 0000 00000000 0000 0000"},
    {"AReplyWithAStatusThatThereIsNot", "10000000 06 00 0000 01000000 ff7f 0100"},
    {"ADescriptorCutShort", "12000000 0c 00 0000 00000000 0000 0000 0500 000000000000"},
    {"AGoawayThatIsNoText", "13000000 0a 00 0000 00000000 1200 0000 0100ff 0000000000"},
    {"ARefusalAsIfTheClientHadBrokenIt", "12000000 02 00 0000 00000000 0f00 0000 0000 000000000000"},
    {"DataForACallWithoutAStream", "12000000 0d 01 0000 01000000 0000 0100 abcd 000000000000"},
    {"CreditOfNothing", "14000000 0e 00 0000 01000000 0000 0000 00000000 00000000"},
    {"PaddingThatIsNotZero", "11000000 06 01 0000 01000000 0000 0100 ff ffffffffffffff"},
};

/// A client with two services behind a relay: one of a server that the test plays, and one of another.
struct BrokenServers : testing::TestWithParam<Violation> {
  BrokenServers() : listener(mf::Address::parse("tcp://127.0.0.1:0")) {
    other.offer(part, {.agent = "good"});
    other.start();
    auto offers = answered();
    offers.agents["bad"].push_back({.address = listener.address()});
    offers.agents["good"].push_back({.address = other.address()});
    relay.resolver->set(std::move(offers));
    client.emplace(Role::client, mftest::connect(relay.address(), kLong).value());
    client->session.send_hello();
  }

  void send_bind(std::uint16_t route, const std::string& agent) {
    const auto& service = part->service();
    client->session.send_bind(route, {.fingerprint = service.fingerprint,
                                      .service = service.name,
                                      .agent = agent,
                                      .methods = {service.methods.front()}});
    client->flush();
  }
  [[nodiscard]] std::unique_ptr<mf::transport::Stream> accepted() {
    std::unique_ptr<mf::transport::Stream> stream;
    EXPECT_TRUE(
        eventually([&] { return listener.accept(stream) == mf::transport::Listener::Accept::accepted; }));
    return stream;
  }
  /// A call of the other service, on the same connection, is answered.
  void expect_goes_on() {
    const auto id = client->session.send_request({.route = 8}, std::span<const std::byte>());
    const auto reply = client->next(EventType::reply);
    EXPECT_EQ(reply.header.id, id);
    EXPECT_EQ(reply.header.status(), 0);
    EXPECT_EQ(part->ran, 1);
  }

  const std::shared_ptr<Part> part = std::make_shared<Part>("good");
  mf::transport::Listener listener;
  mf::Server other;
  Relayed relay;
  std::optional<Peer> client;
};

TEST_P(BrokenServers, EndTheCallsInFlightAndTheConnectionOfTheClientGoesOn) {
  send_bind(0, "bad");
  Peer server(Role::server, accepted());
  server.greet();
  server.accept_bind();
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  send_bind(8, "good");
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  const auto id = client->session.send_request({.route = 0}, std::span<const std::byte>());
  client->flush();
  (void)server.next(EventType::request);
  server.send_raw(octets_of(GetParam().hex));

  const auto reply = client->next(EventType::reply);
  EXPECT_EQ(reply.header.id, id);
  EXPECT_NE(reply.header.status(), 0);
  const std::string words(reinterpret_cast<const char*>(reply.payload.data()), reply.payload.size());
  EXPECT_THAT(words, Not(HasSubstr(listener.address().str())));
  EXPECT_THAT(words, Not(HasSubstr("SSH")));
  expect_goes_on();
}

TEST_P(BrokenServers, RefuseTheirBindAndTheConnectionOfTheClientGoesOn) {
  send_bind(0, "bad");
  Peer server(Role::server, accepted());
  server.greet();
  (void)server.next(EventType::bind);
  server.send_raw(octets_of(GetParam().hex));

  const auto bound = client->next(EventType::bound);
  EXPECT_TRUE(bound.code == mf::Code::unavailable || bound.code == mf::Code::connection_lost) << bound.text;
  EXPECT_THAT(bound.text, Not(HasSubstr(listener.address().str())));
  send_bind(8, "good");
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  expect_goes_on();
}

TEST_P(BrokenServers, ThatAreNoServersAtAllAreNotReached) {
  if (std::string_view(GetParam().name) == "ASecondHello") GTEST_SKIP() << "a server does begin with HELLO";
  send_bind(0, "bad");
  auto stream = accepted();
  const auto bytes = octets_of(GetParam().hex);
  const mf::IoSlice slice{bytes.data(), bytes.size()};
  (void)stream->write(std::span(&slice, 1));

  const auto bound = client->next(EventType::bound);
  EXPECT_EQ(bound.code, mf::Code::unavailable);
  EXPECT_THAT(bound.text, HasSubstr("a server was not reached; the relay's log has the reason"));
  EXPECT_THAT(bound.text, Not(HasSubstr(listener.address().str())));
  EXPECT_TRUE(relay.log->has("peer=" + listener.address().str()));
  send_bind(8, "good");
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  expect_goes_on();
}

INSTANTIATE_TEST_SUITE_P(All, BrokenServers, testing::ValuesIn(kViolations),
                         [](const auto& violation) { return std::string(violation.param.name); });

// Its own refusal as PROTOCOL_ERROR would end the connection that it is passed on to.
TEST_F(BrokenServers, ThatRefuseABindAsAFaultOfTheClientAreUnavailable) {
  send_bind(0, "bad");
  Peer server(Role::server, accepted());
  server.greet();
  const auto bind = server.next(EventType::bind);
  server.session.send_bound(bind.header.route, mf::Code::protocol_error, "you are at fault");
  server.flush();

  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::unavailable);
  send_bind(8, "good");
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  expect_goes_on();
}

TEST_F(BrokenServers, ThatAnswerACallAsAFaultOfTheClientEndThatCall) {
  send_bind(0, "bad");
  Peer server(Role::server, accepted());
  server.greet();
  server.accept_bind();
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  send_bind(8, "good");
  EXPECT_EQ(client->next(EventType::bound).code, mf::Code::ok);
  client->session.send_request({.route = 0}, std::span<const std::byte>());
  client->flush();
  const auto request = server.next(EventType::request);
  server.session.send_failure({.route = request.header.route, .id = request.header.id},
                              mf::Code::protocol_error, mf::Execution::unknown, "you are at fault");
  server.flush();

  EXPECT_EQ(client->next(EventType::reply).header.status(),
            static_cast<std::uint16_t>(mf::Code::protocol_error));
  expect_goes_on();
}

}  // namespace
}  // namespace mftest::broken_servers_test
