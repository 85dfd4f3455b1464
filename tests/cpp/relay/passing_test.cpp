// Large payloads that a relay forwards while they arrive, seen from both ends, which the test simulates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "relay/ends.hpp"

namespace mftest::passing_test {
namespace {

using mf::protocol::EventType;

constexpr std::size_t kLarge = std::size_t{16} << 20U;
constexpr std::size_t kPart = std::size_t{512} << 10U;
// More than sockets can buffer, so that the relay must have read some when it was written.
constexpr std::size_t kLargePart = std::size_t{12} << 20U;

/// Options with which payloads are reported when they begin.
mf::protocol::SessionOptions told() {
  mf::protocol::SessionOptions options;
  options.told_from = 1;
  return options;
}

/// A peer's queued output, to be sent in parts.
class Queued {
 public:
  explicit Queued(Peer& peer) : peer_(peer) {
    std::array<mf::IoSlice, 64> slices;
    while (peer.session.output_bytes() != 0) {
      std::size_t size = 0;
      for (const auto& slice : std::span(slices).first(peer.session.fill_output(slices))) {
        bytes_.insert(bytes_.end(), slice.data, slice.data + slice.size);
        size += slice.size;
      }
      peer.session.consumed(size);
    }
  }
  void send(std::size_t size) {
    const auto part = std::span<const std::byte>(bytes_).subspan(sent_).first(size);
    sent_ += size;
    peer_.send_raw(part);
  }
  void send_rest() { send(bytes_.size() - sent_); }
  /// Makes the last byte, which is padding, invalid.
  void spoil_padding() { bytes_.back() = std::byte{1}; }

 private:
  Peer& peer_;
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

class PassedOn : public testing::Test {
 protected:
  explicit PassedOn(std::size_t size = kLarge) : payload(octets(size)), ends(told()) { ends.bind(0, told()); }

  Queued request(std::uint32_t id) {
    ends.client->session.send_request({.route = 0, .id = id}, std::span<const std::byte>(payload));
    return Queued(*ends.client);
  }
  /// A small request, which the server gets.
  mf::protocol::Header ask(std::uint32_t id) {
    ends.client->session.send_request({.route = 0, .id = id}, std::span<const std::byte>());
    ends.client->flush();
    return ends.server->next(EventType::request).header;
  }
  Queued reply(const mf::protocol::Header& request) {
    ends.server->session.send_reply({.route = request.route, .id = request.id},
                                    std::span<const std::byte>(payload));
    return Queued(*ends.server);
  }
  void expect_an_answer_to_a_ping() {
    ends.client->session.send_ping(1);
    EXPECT_EQ(ends.client->next().type, EventType::pong);
  }

  const std::vector<std::byte> payload;
  Ends ends;
};

TEST_F(PassedOn, ARequestReachesTheServerBeforeAllOfItHasCome) {
  auto sent = request(5);
  sent.send(kPart);
  const auto begun = ends.server->next();
  EXPECT_EQ(begun.type, EventType::begun);
  EXPECT_EQ(begun.header.size, mf::protocol::kHeaderSize + kLarge);
  const Joined rest([&] { sent.send_rest(); });
  EXPECT_TRUE(ends.server->next(EventType::request).payload == payload);
}

TEST_F(PassedOn, AReplyReachesTheClientBeforeAllOfItHasCome) {
  auto sent = reply(ask(5));
  sent.send(kPart);
  const auto begun = ends.client->next();
  EXPECT_EQ(begun.type, EventType::begun);
  EXPECT_EQ(begun.header.id, 5U);
  const Joined rest([&] { sent.send_rest(); });
  EXPECT_TRUE(ends.client->next(EventType::reply).payload == payload);
}

TEST_F(PassedOn, WhatFollowsInTheSameConnectionIsNotMixedUpWithIt) {
  auto sent = request(5);
  ends.client->session.send_request({.route = 0, .id = 6}, std::span<const std::byte>());
  const auto behind = Queued(*ends.client);
  sent.send(kPart);
  EXPECT_EQ(ends.server->next().type, EventType::begun);
  const Joined rest([&] {
    sent.send_rest();
    Queued(behind).send_rest();
  });
  const auto large = ends.server->next(EventType::request);
  EXPECT_TRUE(large.payload == payload);
  EXPECT_TRUE(ends.server->next(EventType::request).payload.empty());
}

TEST_F(PassedOn, AReplyWaitsForItsEndWhileTheClientAwaitsOthers) {
  const auto first = ask(5);
  (void)ask(6);
  auto sent = reply(first);
  sent.send(kLargePart);
  expect_an_answer_to_a_ping();
  const Joined rest([&] { sent.send_rest(); });
  EXPECT_EQ(ends.client->next().type, EventType::begun);
  EXPECT_TRUE(ends.client->next(EventType::reply).payload == payload);
}

TEST_F(PassedOn, AServerThatGoesWithinAReplyThatWaitsEndsItsCallsAlone) {
  const auto first = ask(5);
  (void)ask(6);
  auto sent = reply(first);
  sent.send(kPart);
  ends.server->close();
  for (int i = 0; i < 2; ++i) {
    const auto answer = ends.client->next();
    EXPECT_EQ(answer.type, EventType::reply);
    EXPECT_EQ(answer.header.code(), mf::Code::connection_lost);
  }
  expect_an_answer_to_a_ping();
}

TEST_F(PassedOn, AServerThatGoesWithinAReplyEndsTheConnectionThatHasAPartOfIt) {
  auto sent = reply(ask(5));
  sent.send(kPart);
  EXPECT_EQ(ends.client->next().type, EventType::begun);
  ends.server->close();
  EXPECT_TRUE(ends.client->until_end().empty());
}

TEST_F(PassedOn, AClientThatGoesWithinARequestEndsItsConnectionsToServers) {
  auto sent = request(5);
  sent.send(kPart);
  EXPECT_EQ(ends.server->next().type, EventType::begun);
  ends.client->close();
  EXPECT_TRUE(ends.server->until_end().empty());
}

TEST_F(PassedOn, AServerThatGoesWithinARequestHasNotExecutedItAndTheClientGoesOn) {
  auto sent = request(5);
  sent.send(kPart);
  EXPECT_EQ(ends.server->next().type, EventType::begun);
  ends.server->close();
  const auto answer = ends.client->next();
  EXPECT_EQ(answer.header.code(), mf::Code::connection_lost);
  EXPECT_EQ(answer.header.id, 5U);
  EXPECT_EQ(answer.payload.front(), static_cast<std::byte>(mf::Execution::not_executed));
  sent.send_rest();
  expect_an_answer_to_a_ping();
}

TEST_F(PassedOn, AServerThatGoesWithinARequestAndAReplyEndsTheConnectionThatHasAPartOfIt) {
  auto answer = reply(ask(5));
  answer.send(kPart);
  EXPECT_EQ(ends.client->next().type, EventType::begun);
  auto sent = request(6);
  sent.send(kPart);
  EXPECT_EQ(ends.server->next().type, EventType::begun);
  ends.server->close();
  const Joined rest([&] { sent.send_rest(); });
  (void)ends.client->until_end();
  EXPECT_TRUE(eventually([&] { return ends.relay.stats().connections.held_bytes == 0; }));
}

/// Its payload has padding behind it.
class PassedOnWithPadding : public PassedOn {
 protected:
  PassedOnWithPadding() : PassedOn(kLarge - 1) {}
};

TEST_F(PassedOnWithPadding, AReplyWithWrongPaddingReachesTheClientToItsLastByteAndEndsTheServersConnection) {
  auto sent = reply(ask(5));
  sent.spoil_padding();
  sent.send(kPart);
  EXPECT_EQ(ends.client->next().type, EventType::begun);
  const Joined rest([&] { sent.send_rest(); });
  EXPECT_TRUE(ends.client->next(EventType::reply).payload == payload);
  expect_an_answer_to_a_ping();
}

TEST_F(PassedOnWithPadding, AReplyThatWaitsAndHasWrongPaddingIsAnsweredWith) {
  const auto first = ask(5);
  (void)ask(6);
  auto sent = reply(first);
  sent.spoil_padding();
  const Joined rest([&] { sent.send_rest(); });
  auto answer = ends.client->next(EventType::reply);
  EXPECT_EQ(answer.header.id, 6U);
  EXPECT_EQ(answer.header.code(), mf::Code::connection_lost);
  answer = ends.client->next(EventType::reply);
  EXPECT_EQ(answer.header.id, 5U);
  EXPECT_TRUE(answer.payload == payload);
}

TEST_F(PassedOn, WhatIsHeldOfItIsGivenBack) {
  auto sent = request(5);
  const Joined sending([&] { sent.send_rest(); });
  const auto header = ends.server->next(EventType::request).header;
  auto answer = reply(header);
  const Joined answering([&] { answer.send_rest(); });
  EXPECT_TRUE(ends.client->next(EventType::reply).payload == payload);
  EXPECT_TRUE(eventually([&] { return ends.relay.stats().connections.held_bytes == 0; }));
}

}  // namespace
}  // namespace mftest::passing_test
