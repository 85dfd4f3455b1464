// A tap of a relay: the calls that it hands on, as bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mf/admin.client.hpp"
#include "mf/client/client.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/server/server.hpp"
#include "mftest/calls.client.hpp"
#include "mftest/flow.client.hpp"
#include "relay/ends.hpp"
#include "support/echo.hpp"
#include "support/flow.hpp"

namespace mftest::relay_taps_test {
namespace {

using mf::Code;
using mf::admin::AdminClient;
using mf::admin::Filter;
using mf::admin::Outcome;
using mf::admin::Tapped;
using mf::protocol::EventType;
using testing::HasSubstr;
using testing::StartsWith;

const mf::CallOptions kNoDeadline{.deadline = mf::kInfinite};

/// Makes calls until the tap shows one: when it begins is not seen from outside. Returns that one.
template <class Call>
Tapped first(mf::StreamReader<Tapped>& tap, Call call) {
  std::atomic<bool> shown{false};
  auto calling = std::async(std::launch::async, [&] {
    do call();
    while (!shown);
  });
  const struct Ends {
    ~Ends() { shown = true; }
    std::atomic<bool>& shown;
  } ends{shown};
  return tap.next().value();
}

Tapped next(mf::StreamReader<Tapped>& tap, std::string_view method) {
  for (;;) {
    auto found = tap.next();
    if (found.value().method == method) return *std::move(found);
  }
}

std::uint8_t number(Code code) {
  return static_cast<std::uint8_t>(code);
}

/// Calls a service behind a relay, which an operator of the same host taps.
struct Tapping : testing::Test {
  Tapping() {
    behind.offer(echo);
    behind.offer(flow);
    behind.start();
    relay.knows({behind.address()});
  }

  const std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  const std::shared_ptr<PlainFlow> flow = std::make_shared<PlainFlow>();
  mf::Server behind{{.log = mf::Log(mf::Level::off)}};
  Relayed relay;
  mf::Client caller{relay.address().str()};
  mf::Client at_relay{relay.address().str()};
  AdminClient admin{at_relay};
  calls::EchoClient stub{caller};
  flow::FlowClient streams{caller};
};

TEST_F(Tapping, ShowsACallWithItsBytesItsCallerAndItsServer) {
  auto tap = admin.tap({}, kNoDeadline);
  const auto shown = first(tap, [&] { stub.twice(21); });

  EXPECT_EQ(shown.service, "mftest.calls.Echo");
  EXPECT_EQ(shown.method, "twice");
  EXPECT_EQ(shown.agent, "");
  EXPECT_THAT(shown.peer, StartsWith("tcp://127.0.0.1:"));
  EXPECT_EQ(shown.identity, "");
  EXPECT_FALSE(shown.is_stream);
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.error, "");
  EXPECT_EQ(shown.withheld, "");
  EXPECT_EQ(shown.dropped, 0U);
  EXPECT_GT(shown.took, mf::Duration(0));
  EXPECT_EQ(shown.request_size, 4U);
  EXPECT_EQ(shown.result_size, 4U);
  std::int32_t x = 0;
  mf::codec::Reader given(shown.request.value().span());
  EXPECT_TRUE(mf::codec::decode<mf::Tier::memcpy>(given, x));
  EXPECT_EQ(x, 21);
  mf::codec::Reader gave(shown.result.value().span());
  EXPECT_TRUE(mf::codec::decode<mf::Tier::memcpy>(gave, x));
  EXPECT_EQ(x, 42);
  ASSERT_TRUE(shown.forwarded);
  EXPECT_EQ(shown.forwarded->server, behind.address().str());
  EXPECT_TRUE(std::ranges::equal(shown.forwarded->schema.bytes, echo->service().fingerprint));
  EXPECT_EQ(shown.forwarded->items, 1U);
  EXPECT_FALSE(shown.forwarded->mixed);
}

TEST_F(Tapping, ShowsHowCallsHaveFailed) {
  auto tap = admin.tap({}, kNoDeadline);
  first(tap, [&] { stub.twice(1); });

  EXPECT_THROW(stub.fail("nope"), calls::Nope);
  EXPECT_EQ(mf::attempt([&] { stub.fail("denied"); }).failure().code, Code::permission_denied);
  const mf::CallOptions soon{.deadline = std::chrono::milliseconds(1)};
  EXPECT_EQ(mf::attempt([&] { stub.wait(200, soon); }).failure().code, Code::deadline_exceeded);

  const auto declared = next(tap, "fail");
  EXPECT_EQ(declared.code, number(Code::declared));
  EXPECT_EQ(declared.error, "declared error 0");
  EXPECT_TRUE(declared.forwarded->mixed);
  EXPECT_TRUE(declared.result);  // its fields
  const auto failed = next(tap, "fail");
  EXPECT_EQ(failed.code, number(Code::permission_denied));
  EXPECT_THAT(failed.error, HasSubstr("not you"));
  const auto late = next(tap, "wait");
  EXPECT_NE(late.code, 0);
  EXPECT_EQ(late.forwarded->server, behind.address().str());
}

TEST_F(Tapping, ShowsACallThatNoServerGets) {
  auto tap = admin.tap({.outcome = Outcome::failed}, kNoDeadline);
  stub.twice(1);  // bound
  relay.knows({});
  behind.stop();

  const mf::CallOptions soon{.deadline = std::chrono::milliseconds(100)};
  const auto shown = first(tap, [&] { (void)mf::attempt([&] { stub.twice(1, soon); }); });

  EXPECT_EQ(shown.method, "twice");
  EXPECT_NE(shown.code, 0);
  EXPECT_NE(shown.error, "");
}

TEST_F(Tapping, ShowsABulkAsOneMessageAndAOneWayCallAsSent) {
  auto tap = admin.tap({}, kNoDeadline);
  first(tap, [&] { stub.twice(1); });

  const std::vector<calls::EchoAgainRequest> requests{{.x = 1}, {.x = 2}, {.x = 3}};
  EXPECT_EQ(stub.again_bulk(requests).size(), 3U);
  const std::vector<calls::EchoFailRequest> fails{{.how = "one"}, {.how = "nope"}};
  EXPECT_EQ(stub.fail_bulk(fails).size(), 2U);
  stub.note(5);

  const auto good = next(tap, "again");
  EXPECT_EQ(good.forwarded->items, 3U);
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.request_size, 12U);
  EXPECT_EQ(good.result.value().size(), 12U);
  const auto mixed = next(tap, "fail");
  EXPECT_EQ(mixed.forwarded->items, 2U);
  EXPECT_TRUE(mixed.forwarded->mixed);
  EXPECT_EQ(mixed.code, number(Code::declared));
  const auto sent = next(tap, "note");
  EXPECT_EQ(sent.code, 0);
  EXPECT_EQ(sent.forwarded->server, behind.address().str());
  EXPECT_FALSE(sent.result);
}

TEST_F(Tapping, ShowsAStreamWithoutItsValues) {
  auto tap = admin.tap({}, kNoDeadline);
  first(tap, [&] { stub.twice(1); });

  std::uint32_t count = 0;
  auto values = streams.count(3, 99);
  while (values.next()) ++count;
  EXPECT_EQ(count, 3U);

  const auto shown = next(tap, "count");
  EXPECT_TRUE(shown.is_stream);
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(shown.request);
  EXPECT_FALSE(shown.result);
}

TEST_F(Tapping, WithholdsWhatIsTooLargeAndSaysSo) {
  auto tap = admin.tap({}, kNoDeadline);
  first(tap, [&] { stub.twice(1); });

  for (const std::size_t size : {70'000U, 1'000'000U}) {
    EXPECT_EQ(stub.blob(mf::Bytes(octets(size))).size(), size);
    const auto shown = next(tap, "blob");
    EXPECT_FALSE(shown.request);
    EXPECT_FALSE(shown.result);
    EXPECT_GE(shown.request_size, size);
    EXPECT_GE(shown.result_size, size);
    EXPECT_THAT(shown.withheld, HasSubstr("the parameters "));
    EXPECT_THAT(shown.withheld, HasSubstr("the results have "));
  }
}

TEST_F(Tapping, ChoosesByFiltersAndLeavesValuesOut) {
  auto tap = admin.tap({.method = "tw*", .peer = "tcp://127.*", .outcome = Outcome::ok, .values = false},
                       kNoDeadline);
  const auto shown = first(tap, [&] {
    stub.again(1);
    stub.twice(1);
  });
  EXPECT_EQ(shown.method, "twice");
  EXPECT_FALSE(shown.request || shown.result);
  EXPECT_EQ(shown.withheld, "");

  auto none = admin.tap({.sample = 0.0}, kNoDeadline);
  auto all = admin.tap({}, kNoDeadline);
  first(all, [&] { stub.again(1); });
  none.cancel();
  EXPECT_THROW(none.next(), mf::Error);  // nothing was shown before
}

TEST_F(Tapping, OfASlowReaderHoldsNoCallUpAndCountsWhatItLacks) {
  auto tap = admin.tap({.method = "blob"}, kNoDeadline);
  const mf::Bytes large(octets(30'000));
  const mf::Bytes little(octets(1));
  std::uint64_t made = 0;
  first(tap, [&] {
    stub.blob(little);
    ++made;
  });
  // What the queue and the stream of the reader have room for is less.
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(stub.blob(large).size(), large.size());
  made += 1'000;

  std::atomic<bool> enough{false};
  std::atomic<std::uint64_t> later{0};
  auto calling = std::async(std::launch::async, [&] {
    for (; !enough; ++later) stub.blob(little);
  });
  std::uint64_t dropped = 0;
  std::uint64_t shown = 1;
  while (dropped == 0) {
    dropped = tap.next().value().dropped;
    ++shown;
  }
  enough = true;
  calling.get();
  EXPECT_GT(dropped, 100U);
  EXPECT_LE(shown + dropped, made + later);
}

TEST_F(Tapping, EndsWithTheRelayAndIsTakenOffWhenItsReaderLeaves) {
  {
    auto left = admin.tap({}, kNoDeadline);
    first(left, [&] { stub.twice(1); });
  }
  auto tap = admin.tap({}, kNoDeadline);
  first(tap, [&] { stub.twice(1); });
  relay.stop();
  (void)mf::attempt([&] {
    while (tap.next()) {
    }
  });
  EXPECT_FALSE(mf::attempt([&] { stub.twice(1, {.deadline = std::chrono::milliseconds(100)}); }).ok());
}

// ---- of ends that send what is of no schema

std::vector<std::byte> block_before(const std::vector<std::byte>& payload) {
  mf::Metadata metadata;
  metadata.set("authorization", "Bearer secret");
  std::vector<std::byte> whole(mf::protocol::metadata_size(metadata));
  mf::protocol::write_metadata(whole.data(), metadata);
  whole.insert(whole.end(), payload.begin(), payload.end());
  return whole;
}

/// A relay between two ends, which an operator taps.
struct TappedEnds : testing::Test {
  TappedEnds() { ends.bind(100); }

  /// What the test's client and server say to each other in one call.
  struct Said {
    std::vector<std::byte> request = octets(5);
    std::vector<std::byte> reply = octets(7);
    std::uint8_t flags = 0;
    std::uint32_t count = 1;
    std::uint16_t status = 0;
    std::uint8_t reply_flags = 0;
  };
  void exchange(const Said& said) {
    ends.client->session.send_request(
        {.route = 101, .tier = mf::Tier::custom, .flags = said.flags, .count = said.count, .id = ++id_},
        said.request);
    ends.client->flush();
    const auto request = ends.server->next(EventType::request);
    ends.server->session.send_reply({.route = request.header.route,
                                     .id = request.header.id,
                                     .count = said.count,
                                     .status = said.status,
                                     .encoding = 3,
                                     .flags = said.reply_flags},
                                    said.reply);
    ends.server->flush();
    const auto reply = ends.client->next(EventType::reply);
    EXPECT_EQ(reply.header.id, id_);
  }
  Ends ends;
  mf::Client at_relay{ends.relay.address().str()};
  mf::StreamReader<Tapped> tap = AdminClient(at_relay).tap({.service = "no.schema.*"}, kNoDeadline);

 private:
  std::uint32_t id_ = 900;
};

TEST_F(TappedEnds, ShowsBytesThatNoSchemaKnowsWithoutTheirMetadata) {
  Tapped shown = first(tap, [&] {
    exchange({.request = block_before(octets(5)),
              .reply = block_before(octets(7)),
              .flags = mf::protocol::kMetadata,
              .reply_flags = mf::protocol::kMetadata});
  });
  EXPECT_EQ(shown.method, "b");
  EXPECT_EQ(shown.agent, "x");
  EXPECT_TRUE(std::ranges::equal(shown.request.value().span(), octets(5)));
  EXPECT_TRUE(std::ranges::equal(shown.result.value().span(), octets(7)));
  EXPECT_EQ(shown.forwarded->request_tier, 4);
  EXPECT_EQ(shown.forwarded->result_tier, 3);
}

TEST_F(TappedEnds, PassesWhatItCannotReadAndSaysWhy) {
  first(tap, [&] { exchange({}); });
  const auto unavailable = static_cast<std::uint16_t>(Code::unavailable);
  const std::vector<Said> all{
      // Blocks of metadata that are none.
      {.request = octets(40),
       .reply = octets(40),
       .flags = mf::protocol::kMetadata,
       .reply_flags = mf::protocol::kMetadata},
      // Outcomes that are none, of one item and of many.
      {.request = octets(6), .reply = octets(3), .status = mf::protocol::kStatusMixed},
      {.request = octets(6),
       .reply = std::vector<std::byte>(64, std::byte{0xff}),
       .status = mf::protocol::kStatusMixed},
      {.request = octets(6), .reply = octets(3), .count = 70'000, .status = mf::protocol::kStatusMixed},
      // Failures without a record, with one cut short, and with a text that is no UTF-8.
      {.request = octets(6), .reply = {}, .status = unavailable},
      {.request = octets(6), .reply = octets(3), .status = unavailable},
      {.request = octets(6),
       .reply = {std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}, std::byte{0xff}, std::byte{0xfe}},
       .status = unavailable},
  };
  for (const auto& said : all) {
    exchange(said);
    auto shown = tap.next().value();
    while (shown.request_size == 5) shown = tap.next().value();  // of the first call
    EXPECT_THAT(shown.service, StartsWith("no.schema."));
    EXPECT_EQ(shown.request.has_value(), said.flags == 0);
    EXPECT_EQ(shown.withheld.empty(), said.flags == 0) << shown.withheld;
    EXPECT_EQ(shown.forwarded->items, said.count);
    if (said.status == unavailable) {
      EXPECT_EQ(shown.code, number(Code::unavailable));
      EXPECT_NE(shown.error, "");
    }
    if (said.status == mf::protocol::kStatusMixed) {
      EXPECT_TRUE(shown.forwarded->mixed);
    }
  }
}

TEST_F(TappedEnds, OfACallThatItsClientCancelsSaysSo) {
  first(tap, [&] { exchange({}); });
  ends.client->session.send_request({.route = 100, .id = 41}, std::span<const std::byte>());
  ends.client->flush();
  (void)ends.server->next(EventType::request);
  ends.client->session.send_cancel(41);
  ends.client->flush();

  const auto shown = next(tap, "a");
  EXPECT_EQ(shown.code, number(Code::cancelled));
}

TEST_F(TappedEnds, OfAOneWayCallThatWaitsForRoomSaysThatItsClientHasGone) {
  first(tap, [&] { exchange({}); });
  // More than a link that is not read takes, so that the last ones are kept back.
  const std::vector<std::byte> large(256U << 10U);
  for (int i = 0; i < 60; ++i)
    ends.client->session.send_request({.route = 100, .flags = mf::protocol::kOneway}, large);
  ends.client->flush();
  const auto sent = next(tap, "a");
  EXPECT_EQ(sent.code, 0);
  ends.client->close();

  auto shown = next(tap, "a");
  while (shown.code == 0) shown = next(tap, "a");
  EXPECT_EQ(shown.code, number(Code::shutting_down));
  EXPECT_EQ(shown.forwarded->server, "");
}

}  // namespace
}  // namespace mftest::relay_taps_test
