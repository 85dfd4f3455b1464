// How a relay handles envelopes, seen from both ends, which the test simulates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "mf/protocol/control.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/transport/socket.hpp"
#include "relay/ends.hpp"
#include "support/peer.hpp"

namespace mftest::envelopes_test {
namespace {

using mf::protocol::EventType;
using mf::protocol::Role;
using testing::HasSubstr;

std::vector<std::byte> with_metadata(const std::vector<std::byte>& payload) {
  mf::Metadata metadata;
  metadata.set("tenant", "a");
  std::vector<std::byte> whole(mf::protocol::metadata_size(metadata));
  mf::protocol::write_metadata(whole.data(), metadata);
  whole.insert(whole.end(), payload.begin(), payload.end());
  return whole;
}

TEST(RelayedEnvelopes, OneWayCallsThatWaitAreNotForgottenWithTheirBinding) {
  Ends ends;
  ends.bind(100);
  ends.server.reset();
  ends.relay.knows({});
  for (int i = 0; i < 10; ++i)
    ends.client->session.send_request({.route = 100, .flags = mf::protocol::kOneway},
                                      std::span<const std::byte>());
  ends.client->session.send_unbind(100);
  ends.client->session.send_bind(200, {.service = "nobody.Offers", .agent = "", .methods = {"a"}});
  ends.client->flush();
  EXPECT_EQ(ends.client->next(EventType::bound).code, mf::Code::unavailable);
  EXPECT_TRUE(eventually([&] { return ends.relay.stats().connections.calls == 0; }));
}

TEST(RelayedEnvelopes, APayloadThatNoSchemaKnowsPassesAsItCame) {
  Ends ends;
  ends.bind(100);
  for (const std::size_t size : {0U, 5U, 5'000U, 300'000U}) {
    const auto payload = octets(size);
    const auto sent = with_metadata(payload);
    ends.client->session.send_request({.route = 101,
                                       .tier = mf::Tier::custom,
                                       .flags = mf::protocol::kBulk | mf::protocol::kMetadata,
                                       .count = 70'000,
                                       .id = 900 + static_cast<std::uint32_t>(size)},
                                      sent);
    ends.client->flush();
    const auto request = ends.server->next(EventType::request);
    EXPECT_EQ(request.payload, payload);
    EXPECT_EQ(request.header.encoding(), 4);
    EXPECT_TRUE(request.header.bulk() && request.header.metadata());
    EXPECT_EQ(request.count, 70'000U);
    EXPECT_EQ(request.header.route, ends.bound.header.route + 1);

    const auto result = octets(size + 3);
    ends.server->session.send_reply({.route = request.header.route,
                                     .id = request.header.id,
                                     .count = 70'000,
                                     .status = mf::protocol::kStatusMixed,
                                     .encoding = 3,
                                     .flags = mf::protocol::kMetadata},
                                    with_metadata(result));
    ends.server->flush();
    const auto reply = ends.client->next(EventType::reply);
    EXPECT_EQ(reply.payload, result);
    EXPECT_TRUE(reply.header.metadata());
    EXPECT_EQ(reply.header.id, 900 + size);
    EXPECT_EQ(reply.header.route, 101);
    EXPECT_EQ(reply.header.status(), mf::protocol::kStatusMixed);
    EXPECT_EQ(reply.header.encoding(), 3);
  }
}

TEST(RelayedEnvelopes, TheServerSeesTheClientAsItHasSaidItIsAndTheRelayInTheBind) {
  Ends ends;
  ends.bind(0);
  EXPECT_EQ(ends.server->session.peer().client_id, 77U);
  EXPECT_EQ(ends.server->session.peer().name, "the client");
  mf::protocol::Bind bind;
  const char* reason = nullptr;
  std::string room;
  ASSERT_TRUE(mf::protocol::parse_bind(ends.bound.payload, bind, reason, room));
  EXPECT_EQ(bind.service, "no.schema.Knows");
  EXPECT_EQ(bind.agent, "x");
  const auto& relay = ends.client->session.peer().nonce;
  EXPECT_TRUE(std::ranges::equal(bind.via, relay));
}

TEST(RelayedEnvelopes, ACancelOfTheClientReachesTheServerUnderItsOwnId) {
  Ends ends;
  ends.bind(0);
  ends.client->session.send_request({.route = 0, .id = 41}, std::span<const std::byte>());
  ends.client->flush();
  const auto request = ends.server->next(EventType::request);
  ends.client->session.send_cancel(41);
  ends.client->flush();
  EXPECT_EQ(ends.server->next(EventType::cancel).header.id, request.header.id);
}

TEST(RelayedEnvelopes, AClientThatGoesCancelsItsCalls) {
  Ends ends;
  ends.bind(0);
  ends.client->session.send_request({.route = 0, .id = 1}, std::span<const std::byte>());
  ends.client->flush();
  const auto request = ends.server->next(EventType::request);
  ends.client->close();
  EXPECT_EQ(ends.server->next(EventType::cancel).header.id, request.header.id);
  EXPECT_TRUE(ends.server->until_end().empty());
}

TEST(RelayedEnvelopes, CreditComesFromTheOtherEndAndSoDoesEveryFrame) {
  Ends ends;
  ends.bind(0);
  EXPECT_EQ(ends.client->session.peer().stream_window, 0U);
  EXPECT_EQ(ends.server->session.peer().stream_window, 0U);
  ends.client->session.send_request({.route = 0, .flags = mf::protocol::kStream, .id = 1},
                                    std::span<const std::byte>());
  ends.client->flush();
  const auto id = ends.server->next(EventType::request).header.id;
  EXPECT_EQ(ends.server->next(EventType::credit).header.id, id);
  EXPECT_EQ(ends.client->next(EventType::credit).header.id, 1U);
  const auto values = octets(1'000);
  ends.client->session.send_data({.id = 1, .tier = mf::Tier::febird, .count = 3}, std::span(values));
  ends.client->session.send_end(1);
  ends.client->flush();
  const auto data = ends.server->next(EventType::data);
  EXPECT_EQ(data.payload, values);
  EXPECT_EQ(data.header.id, id);
  EXPECT_EQ(data.count, 3U);
  EXPECT_EQ(ends.server->next(EventType::end).header.id, id);
  ends.server->session.send_data({.id = id, .tier = mf::Tier::memcpy, .count = 9}, std::span(values));
  ends.server->session.send_cancel(id);
  ends.server->flush();
  EXPECT_EQ(ends.client->next(EventType::data).payload, values);
  EXPECT_EQ(ends.client->next(EventType::cancel).header.id, 1U);
}

TEST(RelayedEnvelopes, DataWithoutCreditEndsTheCallAtBothEnds) {
  Ends ends;
  ends.bind(0);
  ends.client->session.send_request({.route = 0, .flags = mf::protocol::kStream, .id = 1},
                                    std::span<const std::byte>());
  ends.client->flush();
  (void)ends.server->next(EventType::request);
  (void)ends.client->next(EventType::credit);
  const auto values = octets(20'000);  // the server grants 16 KiB
  ends.client->session.send_data({.id = 1, .count = 1}, std::span(values));
  ends.client->flush();
  EXPECT_EQ(ends.client->next(EventType::reply).header.code(), mf::Code::protocol_error);
  (void)ends.server->next(EventType::cancel);
}

// 100 MiB of replies for a client that reads none: the server cannot send them, and the relay buffers few.
TEST(RelayedEnvelopes, AClientThatDoesNotReadStopsItsServerAndCostsABoundedAmount) {
  constexpr std::size_t kReply = std::size_t{1} << 20U;
  constexpr int kReplies = 100;
  const auto large = octets(kReply);
  Ends ends;
  ends.bind(0);
  for (int i = 0; i < kReplies; ++i)
    ends.client->session.send_request({.route = 0, .id = static_cast<std::uint32_t>(i + 1)},
                                      std::span<const std::byte>());
  ends.client->flush();
  std::vector<mf::protocol::Header> requests;  // all of them first: requesting the next one writes
  for (int i = 0; i < kReplies; ++i) requests.push_back(ends.server->next(EventType::request).header);
  for (const auto& request : requests)
    ends.server->session.send_reply({.route = request.route, .id = request.id},
                                    std::span<const std::byte>(large));
  std::array<mf::IoSlice, 64> slices;
  auto& session = ends.server->session;
  int refused = 0;
  while (session.output_bytes() != 0 && refused < 20) {
    const auto n = session.fill_output(slices);
    const auto result = ends.server->stream().write(std::span(slices).first(n));
    session.consumed(result.bytes);
    if (result.bytes != 0) {
      refused = 0;
      continue;
    }
    ++refused;
    ends.server->stream().wait_ready(false, true, std::chrono::milliseconds(20));
  }
  EXPECT_NE(session.output_bytes(), 0U) << "the relay has taken all";
  EXPECT_LT(ends.relay.stats().connections.held_bytes, std::size_t{24} << 20U);

  const Joined rest([&] { ends.server->flush(); });
  for (int i = 0; i < kReplies; ++i) EXPECT_EQ(ends.client->next(EventType::reply).payload.size(), kReply);
}

}  // namespace
}  // namespace mftest::envelopes_test
