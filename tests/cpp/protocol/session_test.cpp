#include "mf/protocol/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/drive.hpp"

namespace mf::protocol {
namespace {

using drive::Octets;
using drive::Pair;
using drive::Seen;
using testing::SizeIs;

std::vector<EventType> types(const std::vector<Seen>& events) {
  std::vector<EventType> out;
  for (const Seen& event : events) out.push_back(event.type);
  return out;
}

TEST(Session, BothSidesLearnTheOthersLimits) {
  SessionOptions options = drive::options(99);
  options.limits.max_payload = 5000;
  options.authentication = drive::octets("0102");
  options.nonce[3] = std::byte{42};
  Session client(Role::client, options);
  Session server(Role::server, drive::options());
  client.send_hello();
  EXPECT_FALSE(client.established());

  EXPECT_THAT(types(drive::feed(server, drive::take_output(client))), testing::ElementsAre(EventType::hello));
  EXPECT_EQ(server.peer().max_payload, 5000U);
  EXPECT_EQ(server.peer().authentication, drive::octets("0102"));
  EXPECT_EQ(server.peer().nonce[3], std::byte{42});
  EXPECT_EQ(server.client_id(), 99U);
  EXPECT_TRUE(server.established());

  drive::feed(client, drive::take_output(server));
  EXPECT_TRUE(client.established());
  EXPECT_TRUE(server.established());
  EXPECT_EQ(client.peer().max_in_flight, Limits().max_in_flight);
}

TEST(Session, SmallFramesGoOutAsOnePiece) {
  Pair pair;
  for (int i = 0; i < 100; ++i) pair.client.send_request({.route = 1}, drive::octets("2a000000"));
  std::array<IoSlice, 8> slices;
  EXPECT_EQ(pair.client.fill_output(slices), 1U);
  EXPECT_EQ(pair.client.output_bytes(), 2400U);
  EXPECT_THAT(pair.to_server(), SizeIs(100));
}

TEST(Session, ALargePayloadIsNeverCopiedOnItsWayOut) {
  Pair pair;
  pair.client.send_request({.route = 1}, drive::octets("2a"));
  Buffer payload = drive::buffer_of(5001);
  const std::byte* where = payload.data();
  pair.client.send_request({.route = 1}, std::move(payload));
  std::array<IoSlice, 8> slices;
  ASSERT_EQ(pair.client.fill_output(slices), 2U);
  EXPECT_EQ(slices[1].data + kHeaderSize, where);
  EXPECT_EQ(slices[1].size, padded(kHeaderSize + 5001));
}

// The buffer of one frame must be released with its event, since a later event would otherwise share it.
TEST(Session, AnEventOwnsOnlyItsOwnPayload) {
  Pair pair;
  const auto large = drive::buffer_of(300'000);
  pair.client.send_request({.route = 1}, large.span());
  pair.client.send_request({.route = 1}, drive::octets("2a"));
  const auto bytes = drive::take_output(pair.client);
  std::vector<std::size_t> owned;
  std::size_t at = 0;
  Event event;
  while (at < bytes.size()) {
    const auto window = pair.server.receive_window();
    const auto n = std::min(window.size(), bytes.size() - at);
    std::memcpy(window.data(), bytes.data() + at, n);
    pair.server.commit(n);
    at += n;
    while (pair.server.next(event)) owned.push_back(event.owner.size());
  }
  EXPECT_THAT(owned, testing::ElementsAre(300'000U, 0U));
}

TEST(Session, ALargePayloadIsToldWhenItBeginsAndSentOnAsItComes) {
  SessionOptions told = drive::options(0);
  told.told_from = 100'000;
  Session server(Role::server, told);
  Session client(Role::client, drive::options());
  client.send_hello();
  drive::feed(server, drive::take_output(client));
  drive::feed(client, drive::take_output(server));
  const auto small = drive::buffer_of(80'000);
  const auto large = drive::buffer_of(200'003);
  client.send_request({.route = 1}, small.span());
  const auto whole = drive::take_output(client);
  EXPECT_THAT(types(drive::feed(server, whole, 70'000)), testing::ElementsAre(EventType::request));
  client.send_request({.route = 1, .count = 70'000}, large.span());
  client.send_request({.route = 1}, drive::octets("2a"));
  const auto bytes = drive::take_output(client);
  const auto begun = drive::feed(server, std::span(bytes).first(70'000));
  ASSERT_THAT(types(begun), testing::ElementsAre(EventType::begun));
  EXPECT_EQ(begun[0].count, 70'000U);
  const auto coming = server.pass_on();
  EXPECT_EQ(coming->size(), large.size());

  Pair onwards;
  onwards.client.send_request({.route = 5, .count = 70'000}, coming);
  onwards.client.send_request({.route = 6}, drive::octets("2b"));
  EXPECT_LT(onwards.client.output_ready(), 70'100U);
  EXPECT_GT(onwards.client.output_bytes(), 200'000U);
  std::vector<Seen> seen;
  const auto pass = [&] {
    std::array<IoSlice, 8> slices;
    std::size_t size = 0;
    Octets sent;
    for (const auto& slice : std::span(slices).first(onwards.client.fill_output(slices))) {
      sent.insert(sent.end(), slice.data, slice.data + slice.size);
      size += slice.size;
    }
    onwards.client.consumed(size);
    for (auto& event : drive::feed(onwards.server, sent)) seen.push_back(std::move(event));
  };
  pass();
  EXPECT_EQ(onwards.client.output_ready(), 0U);
  EXPECT_THAT(seen, testing::IsEmpty());
  EXPECT_THAT(types(drive::feed(server, std::span(bytes).subspan(70'000))),
              testing::ElementsAre(EventType::request))
      << "that behind it";
  EXPECT_TRUE(coming->complete());
  pass();
  EXPECT_EQ(onwards.client.output_bytes(), 0U);
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_EQ(seen[0].payload, drive::hex(large.span()));
  EXPECT_EQ(seen[0].count, 70'000U);
  EXPECT_EQ(seen[1].payload, "2b");
}

TEST(Session, ALargePayloadThatNobodyPassesOnComesWhole) {
  SessionOptions told = drive::options(0);
  told.told_from = 100'000;
  Session server(Role::server, told);
  Session client(Role::client, drive::options());
  client.send_hello();
  drive::feed(server, drive::take_output(client));
  drive::feed(client, drive::take_output(server));
  const auto large = drive::buffer_of(200'000);
  client.send_request({.route = 1}, large.span());
  const auto seen = drive::feed(server, drive::take_output(client), 50'000);
  ASSERT_THAT(types(seen), testing::ElementsAre(EventType::begun, EventType::request));
  EXPECT_EQ(seen[1].payload, drive::hex(large.span()));
}

TEST(Session, WhoPassesAPayloadOnMayFindWhileItHearsOfMoreThatTheRestWillNotCome) {
  const auto coming = std::make_shared<Coming>(drive::buffer_of(100), 100, 10);
  std::vector<Coming::State> heard;
  coming->watch([&](Coming::State state) {
    heard.push_back(state);
    if (state == Coming::State::coming) coming->lose();
  });
  coming->add(10);
  coming->tell();
  coming->add(80);
  coming->tell();
  EXPECT_THAT(heard, testing::ElementsAre(Coming::State::coming, Coming::State::lost));
}

TEST(Session, AReplyThatTheClientDoesNotTakeIsRefusedHoweverItIsSent) {
  Pair pair(4096);
  const auto refused = [](auto&& send) {
    try {
      send();
    } catch (const Error& error) {
      EXPECT_EQ(error.execution(), Execution::unknown);
      return error.code() == Code::message_too_large;
    }
    return false;
  };
  auto payload = drive::buffer_of(5000);
  EXPECT_TRUE(refused([&] { pair.server.send_reply({.id = 1}, payload.span()); }));
  EXPECT_TRUE(refused([&] { pair.server.send_reply({.id = 1}, std::move(payload)); }));
  Gathered gathered;
  gathered.pieces = {{.at = 0, .bytes = Bytes(5000, std::byte{1})}};
  EXPECT_TRUE(refused([&] { pair.server.send_reply({.id = 1}, std::move(gathered)); }));
  EXPECT_EQ(pair.server.output_bytes(), 0U);
}

TEST(Session, GatheredPiecesGoOutFromWhereTheyAreAndArriveInOrder) {
  for (const std::size_t between :
       {std::size_t{0}, std::size_t{3}, kSeparateSegmentFrom, std::size_t{9'001}}) {
    Pair pair;
    const Bytes large(20'000, std::byte{0x11});
    const Bytes larger(200'001, std::byte{0x22});
    Gathered message;
    message.buffer = drive::buffer_of(2 * between + 1);
    std::string wanted = drive::hex(message.buffer.span());
    wanted.insert(2 * 2 * between, drive::hex(larger.span()));
    wanted.insert(2 * between, drive::hex(large.span()));
    message.pieces = {{.at = between, .bytes = large}, {.at = 2 * between, .bytes = larger}};
    ASSERT_EQ(message.size(), 2 * between + 1 + 220'001);
    const auto id = pair.client.send_request({.route = 3, .count = 70'000}, std::move(message));
    EXPECT_TRUE(message.empty());
    std::array<IoSlice, 8> slices;
    const std::size_t n = pair.client.fill_output(slices);
    for (const Bytes* piece : {&large, &larger}) {
      EXPECT_EQ(std::ranges::count(std::span(slices).first(n), piece->data(), &IoSlice::data), 1) << between;
    }
    const std::vector<Seen> events = pair.to_server();
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].header.id, id);
    EXPECT_EQ(events[0].count, 70'000U);
    EXPECT_EQ(events[0].payload, wanted);
  }
}

TEST(Session, AfterALargeFrameLittleIsReadAhead) {
  Pair pair;
  Event event;
  const auto receive = [&](std::span<const std::byte> bytes) {
    std::vector<std::size_t> windows;
    while (!bytes.empty()) {
      const std::span<std::byte> window = pair.server.receive_window();
      windows.push_back(window.size());
      const std::size_t n = std::min(window.size(), bytes.size());
      std::memcpy(window.data(), bytes.data(), n);
      pair.server.commit(n);
      bytes = bytes.subspan(n);
      while (pair.server.next(event)) {
      }
    }
    return windows;
  };
  for (int i = 0; i < 40'000; ++i) pair.client.send_request({}, drive::octets("00"));  // the window grows
  const auto small = receive(drive::take_output(pair.client));
  EXPECT_GE(small.back(), kReceiveWindowAtMost);
  for (int i = 0; i < 3; ++i) pair.client.send_request({}, drive::buffer_of(1'000'000));
  const auto large = receive(drive::take_output(pair.client));
  EXPECT_EQ(std::vector(large.begin() + 2, large.end()),
            (std::vector{kReceiveWindowAtFirst, large[3], kReceiveWindowAtFirst, large[5]}));
  EXPECT_EQ(large[3], padded(kHeaderSize + 1'000'000) - kReceiveWindowAtFirst);
  for (int i = 0; i < 40'000; ++i) pair.client.send_request({}, drive::octets("00"));
  const auto again = receive(drive::take_output(pair.client));
  EXPECT_EQ(again[0], kReceiveWindowAtFirst);
  EXPECT_GT(again[1], kReceiveWindowAtFirst);
}

TEST(Session, ASmallBufferIsLeftToItsOwnerAsItIs) {
  Pair pair;
  Buffer payload = drive::buffer_of(100);
  const std::byte* where = payload.data();
  pair.client.send_request({}, std::move(payload));
  EXPECT_EQ(payload.size(), 100U);
  EXPECT_EQ(payload.data(), where);
}

TEST(Session, ALargePayloadIsReceivedIntoABufferOfItsOwn) {
  Pair pair;
  const std::string wanted = drive::hex(drive::buffer_of(1'000'003).span());
  pair.client.send_request({.route = 3, .count = 70'000}, drive::buffer_of(1'000'003));
  const drive::Octets bytes = drive::take_output(pair.client);

  Event event;
  std::span<const std::byte> rest = bytes;
  std::size_t reads = 0;
  while (!rest.empty()) {
    const std::span<std::byte> window = pair.server.receive_window();
    const std::size_t n = std::min(window.size(), rest.size());
    std::memcpy(window.data(), rest.data(), n);
    pair.server.commit(n);
    rest = rest.subspan(n);
    ++reads;
    if (pair.server.next(event)) break;
  }
  EXPECT_EQ(reads, 2U);  // one into the common buffer, then the rest directly into its place
  ASSERT_EQ(event.type, EventType::request);
  EXPECT_EQ(event.count, 70'000U);
  EXPECT_EQ(drive::hex(event.payload), wanted);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(event.payload.data()) % 64, 0U);
  const Bytes kept = event.keep();
  EXPECT_EQ(kept.data(), event.payload.data());
  EXPECT_FALSE(pair.server.next(event));
  EXPECT_EQ(drive::hex(kept.span()), wanted);
  EXPECT_FALSE(pair.server.mid_frame());
}

TEST(Session, EverySizeAroundTheThresholdsArrivesWhole) {
  for (const std::size_t around :
       {std::size_t{0}, kSeparateSegmentFrom, kReceiveWindowAtFirst, kDedicatedFrom, kReceiveWindowAtMost}) {
    for (std::size_t size = around > 40 ? around - 40 : 0; size < around + 16; ++size) {
      Pair pair;
      pair.server.send_reply({.route = 1, .id = 9}, drive::buffer_of(size));
      pair.server.send_reply({.route = 1, .id = 10}, drive::octets("ff"));
      const std::vector<Seen> events = pair.to_client();
      ASSERT_THAT(events, SizeIs(2)) << size;
      EXPECT_EQ(events[0].payload, drive::hex(drive::buffer_of(size).span()));
      EXPECT_EQ(events[1].payload, "ff");
    }
  }
}

/// A session with every frame type that one side may send, and payloads on both sides of the thresholds.
drive::Octets clients_side() {
  Session client(Role::client, drive::options());
  client.send_hello();
  client.send_bind(4, {.service = "demo.Echo", .agent = "x", .methods = {"a", "b"}});
  client.send_request({.route = 4, .tier = Tier::febird}, drive::octets("010203"));
  client.send_request({.route = 5, .count = 70'000}, drive::octets(""));
  client.send_ping(5);
  client.send_request({.route = 4}, drive::octets(std::string(2 * 9001, 'a')));
  client.send_cancel(2);
  client.send_data({.id = 1, .count = 3}, drive::buffer_of(70));
  client.send_credit(1, 9);
  client.send_end(1);
  client.send_unbind(4);
  client.send_describe({.service = "demo.Echo"});
  return drive::take_output(client);
}

TEST(Session, EveryCutOfAConversationGivesTheSameEvents) {
  const drive::Octets bytes = clients_side();
  const auto read = [&](std::size_t cut, std::size_t step) {
    Session server(Role::server, drive::options());
    server.send_hello();
    const std::span<const std::byte> all = bytes;
    std::vector<Seen> events = drive::feed(server, all.first(cut), step);
    const std::vector<Seen> more = drive::feed(server, all.subspan(cut), step);
    events.insert(events.end(), more.begin(), more.end());
    return events;
  };
  const std::vector<Seen> wanted = read(0, SIZE_MAX);
  ASSERT_EQ(types(wanted),
            (std::vector{EventType::hello, EventType::bind, EventType::request, EventType::request,
                         EventType::request, EventType::cancel, EventType::data, EventType::credit,
                         EventType::end, EventType::unbind, EventType::describe}));
  for (std::size_t cut = 1; cut < bytes.size(); cut += cut < 400 ? 1 : 61)
    EXPECT_EQ(read(cut, SIZE_MAX), wanted) << cut;
  for (const std::size_t step : {1U, 7U, 24U, 4096U}) EXPECT_EQ(read(0, step), wanted) << step;
}

TEST(Session, PartialWritesLoseAndRepeatNothing) {
  Pair pair;
  std::vector<std::string> wanted;
  for (const std::size_t size : {0U, 5U, 4096U, 3U, 9000U, 100U, 4095U}) {
    wanted.push_back(drive::hex(drive::buffer_of(size).span()));
    pair.client.send_request({}, drive::buffer_of(size));
  }
  drive::Octets bytes;
  std::size_t step = 1;
  while (pair.client.output_bytes() != 0) {
    std::array<IoSlice, 2> slices;
    const std::size_t n = pair.client.fill_output(slices);
    ASSERT_GT(n, 0U);
    const std::size_t size = std::min(slices[0].size, step);
    bytes.insert(bytes.end(), slices[0].data, slices[0].data + size);
    pair.client.consumed(size);
    step = step % 700 + 13;
  }
  const std::vector<Seen> events = drive::feed(pair.server, bytes);
  ASSERT_THAT(events, SizeIs(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(events[i].payload, wanted[i]);
}

TEST(Session, SlicesStayGoodWhileMoreIsAppended) {
  Pair pair;
  pair.client.send_request({}, drive::octets("0102030405060708"));
  std::array<IoSlice, 4> slices;
  ASSERT_EQ(pair.client.fill_output(slices), 1U);
  const std::string before = drive::hex({slices[0].data, slices[0].size});
  for (int i = 0; i < 100'000; ++i) pair.client.send_request({}, drive::octets("ffffffffffffffff"));
  EXPECT_EQ(drive::hex({slices[0].data, slices[0].size}), before);
  pair.client.consumed(slices[0].size);
  EXPECT_THAT(pair.to_server(), SizeIs(100'000));
}

TEST(Session, PlacedPayloadsAreFramedLikeSentOnes) {
  Pair one;
  Pair two;
  const drive::Octets payload = drive::octets("0102030405");
  one.client.send_request({.route = 2, .tier = Tier::febird, .deadline = 17}, payload);
  std::uint32_t id = 0;
  const std::span<std::byte> room =
      two.client.place_request({.route = 2, .tier = Tier::febird, .deadline = 17}, 5, id);
  ASSERT_EQ(room.size(), 5U);
  std::memcpy(room.data(), payload.data(), 5);
  EXPECT_EQ(id, 1U);
  EXPECT_EQ(drive::take_output(one.client), drive::take_output(two.client));
}

TEST(Session, IdsCountFromOneWrapAndSkipThoseInFlight) {
  Session client(Role::client, drive::options());
  EXPECT_EQ(client.reserve_id(), 1U);
  EXPECT_EQ(client.reserve_id([](std::uint32_t id) { return id < 5; }), 5U);

  SessionOptions options = drive::options();
  options.first_id = 0xffffffff;
  Session old(Role::client, options);
  EXPECT_EQ(old.reserve_id(), 0xffffffffU);
  EXPECT_EQ(old.reserve_id(), 1U);
}

TEST(Session, ASenderRefusesWhatThePeerWouldNotTake) {
  Pair pair(4096);
  try {
    pair.client.send_request({}, drive::buffer_of(4097));
    FAIL() << "sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::message_too_large);
    EXPECT_EQ(error.execution(), Execution::not_executed);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("4097"), testing::HasSubstr("4096")));
  }
  EXPECT_EQ(pair.client.output_bytes(), 0U);
  pair.client.send_request({}, drive::buffer_of(4096));  // and the connection continues
  EXPECT_THAT(pair.to_server(), SizeIs(1));
}

/// One frame of every type, as its sender writes it.
std::vector<drive::Octets> one_of_each(Role sender) {
  const auto frame = [&](std::uint8_t type) {
    drive::Octets bytes(kHeaderSize);
    Header header;
    header.type = static_cast<FrameType>(type);
    const auto with = [&](Buffer payload) {
      header.size = static_cast<std::uint32_t>(kHeaderSize + payload.size());
      bytes.resize(padded(header.size));
      std::copy(payload.span().begin(), payload.span().end(), bytes.begin() + kHeaderSize);
    };
    Buffer payload;
    switch (header.type) {
      case FrameType::bind:
        write_bind(payload, {.service = "demo.Echo", .methods = {"a"}});
        break;
      case FrameType::request:
      case FrameType::reply:
        header.id = 1;
        header.count = 1;
        break;
      case FrameType::cancel:
      case FrameType::data:
      case FrameType::end:
        header.id = 1;
        break;
      case FrameType::credit:
        header.id = 1;
        payload.append(drive::octets("01000000"));
        break;
      case FrameType::ping:
      case FrameType::pong:
        payload.resize(8);
        std::memset(payload.data(), 7, 8);
        break;
      case FrameType::refuse:
      case FrameType::goaway:
      case FrameType::describe:
        write_text(payload, "why", 100);
        break;
      case FrameType::descriptor:
        write_descriptor(payload, {.service = "demo.Echo", .text = "service demo.Echo\n"});
        break;
      default:
        break;
    }
    with(std::move(payload));
    encode_header(header, bytes.data());
    return bytes;
  };
  std::vector<drive::Octets> frames;
  for (std::uint8_t type = 1; type <= kLastFrameType; ++type) {
    if (type != static_cast<std::uint8_t>(FrameType::hello)) {
      frames.push_back(frame(type));
      continue;
    }
    Session session(sender, drive::options());
    session.send_hello();
    frames.push_back(drive::take_output(session));
  }
  return frames;
}

// 88 bytes, HELLO and PING in one segment, once ended every C++ server: answers within the session must not
// wait for a HELLO that the link sends.
TEST(Session, EveryTripleOfFramesEndsInEventsWhetherItComesAtOnceOrByteByByte) {
  for (const Role role : {Role::client, Role::server}) {
    const auto frames = one_of_each(other(role));
    const auto read = [&](const drive::Octets& bytes, std::size_t step) {
      Session session(role, drive::options());
      if (role == Role::client) session.send_hello();
      auto events = drive::feed(session, bytes, step);
      return std::pair(std::move(events), drive::hex(drive::take_output(session)));
    };
    for (const auto& first : frames) {
      for (const auto& second : frames) {
        for (std::size_t third = 0; third <= frames.size(); ++third) {
          auto bytes = first;
          bytes.insert(bytes.end(), second.begin(), second.end());
          if (third < frames.size()) bytes.insert(bytes.end(), frames[third].begin(), frames[third].end());
          SCOPED_TRACE(drive::hex(bytes));
          ASSERT_EQ(read(bytes, bytes.size()), read(bytes, 1));
        }
      }
    }
  }
}

TEST(Session, AServersHelloIsQueuedBeforeTheAnswerToAPingOfTheSameSegment) {
  Session client(Role::client, drive::options());
  client.send_hello();
  client.send_ping(5);
  Session server(Role::server, drive::options());
  EXPECT_THAT(types(drive::feed(server, drive::take_output(client))), testing::ElementsAre(EventType::hello));
  EXPECT_THAT(types(drive::feed(client, drive::take_output(server))),
              testing::ElementsAre(EventType::hello, EventType::pong));
}

TEST(Session, LocalMisuseThrowsAndSendsNothing) {
  Session client(Role::client, drive::options());
  EXPECT_THROW(client.send_request({}, drive::octets("00")), std::logic_error);
  client.send_hello();
  EXPECT_THROW(client.send_hello(), std::logic_error);
  EXPECT_THROW(client.send_goaway(Code::shutting_down, ""), std::logic_error);
  Pair pair;
  EXPECT_THROW(pair.server.send_describe({.service = "x"}), std::logic_error);
  EXPECT_EQ(pair.server.output_bytes(), 0U);
}

TEST(Session, ABreachEndsInOneEventOneRefuseAndSilence) {
  Pair pair;
  drive::Octets bytes =
      drive::octets("10000000 05 01 0000 01000000 0000 0100  10000000 06 01 0000 01000000 0000 0100");
  const drive::Octets good = drive::octets("10000000 05 01 0000 02000000 0000 0100");
  bytes.insert(bytes.end(), good.begin(), good.end());
  EXPECT_EQ(types(drive::feed(pair.server, bytes)), (std::vector{EventType::request, EventType::broken}));
  EXPECT_TRUE(pair.server.closed());
  Event event;
  EXPECT_FALSE(pair.server.next(event));
  pair.server.send_reply({.id = 1}, drive::octets("00"));  // ignored: a worker may be late

  const std::vector<Seen> told = pair.to_client();
  ASSERT_EQ(types(told), std::vector{EventType::refused});
  EXPECT_EQ(told[0].code, Code::protocol_error);
  EXPECT_THAT(told[0].text, testing::HasSubstr("REPLY"));
  EXPECT_EQ(pair.client.send_request({}, drive::octets("00")), 0U);
  EXPECT_EQ(pair.client.output_bytes(), 0U);
}

TEST(Session, FailTellsThePeerAndNotOneself) {
  Pair pair;
  pair.server.fail(Code::unauthenticated, "who are you?");
  Event event;
  EXPECT_FALSE(pair.server.next(event));
  const std::vector<Seen> told = pair.to_client();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].code, Code::unauthenticated);
  EXPECT_EQ(told[0].text, "who are you?");
}

TEST(Session, AServerDrainsAfterGoaway) {
  Pair pair;
  pair.client.send_request({}, drive::octets("01"));
  pair.to_server();
  pair.server.send_goaway(Code::shutting_down, "restart");
  pair.server.send_reply({.id = 1}, drive::octets("02"));
  EXPECT_EQ(types(pair.to_client()), (std::vector{EventType::goaway, EventType::reply}));
  EXPECT_TRUE(pair.client.draining());
  EXPECT_TRUE(pair.server.established());
}

TEST(Session, APeerThatPingsAndDoesNotReadIsCut) {
  Pair pair;
  for (std::size_t i = 0; i < kMaxUnsentPongs + 1; ++i) pair.client.send_ping(i);
  const std::vector<Seen> events = pair.to_server();
  ASSERT_EQ(types(events), std::vector{EventType::broken});
  EXPECT_EQ(events[0].code, Code::overloaded);
}

TEST(Session, APeerThatPingsAndReadsIsNot) {
  Pair pair;
  for (std::size_t i = 0; i < 3 * kMaxUnsentPongs; ++i) {
    pair.client.send_ping(i);
    ASSERT_TRUE(pair.to_server().empty());
    ASSERT_EQ(types(pair.to_client()), std::vector{EventType::pong});
  }
}

TEST(Session, WhereItEndsWithinAFrameIsKnown) {
  Pair pair;
  EXPECT_FALSE(pair.server.mid_frame());
  drive::feed(pair.server, drive::octets("1000"));
  EXPECT_TRUE(pair.server.mid_frame());
}

TEST(Session, AnIdleSessionGivesItsMemoryBackAndGoesOn) {
  Pair pair;
  Session::Spares spares;
  pair.client.send_request({}, drive::octets("01"));
  EXPECT_THAT(pair.to_server(), SizeIs(1));
  pair.client.give_back_output(spares);
  pair.server.give_back_input(spares);
  EXPECT_GE(spares.input.capacity(), kReceiveWindowAtFirst);
  EXPECT_GE(spares.output.capacity(), kOutputSegment);

  const auto* const lent = spares.input.data();
  pair.server.lend_input(spares);
  EXPECT_EQ(spares.input.capacity(), 0U);
  EXPECT_EQ(pair.server.receive_window().data(), lent);
  pair.client.lend_output(spares);
  pair.client.send_request({}, drive::octets("01"));
  EXPECT_THAT(pair.to_server(), SizeIs(1));
}

TEST(Session, HalfAFrameIsNotThrownAwayWithTheMemoryItCameIn) {
  Pair pair;
  Session::Spares spares;
  spares.input.reserve(kReceiveWindowAtMost);
  pair.server.lend_input(spares);
  pair.client.send_request({}, drive::octets("0102030405"));
  std::array<IoSlice, 4> slices;
  ASSERT_EQ(pair.client.fill_output(slices), 1U);
  const std::span<const std::byte> frame(slices[0].data, slices[0].size);
  drive::feed(pair.server, frame.first(20));
  pair.server.give_back_input(spares);
  EXPECT_TRUE(pair.server.mid_frame());
  EXPECT_GE(spares.input.capacity(), kReceiveWindowAtMost);  // and not what half a frame waits in
  pair.server.lend_input(spares);
  const auto events = drive::feed(pair.server, frame.subspan(20));
  ASSERT_EQ(types(events), std::vector{EventType::request});
  EXPECT_EQ(events[0].payload, "0102030405");
}

}  // namespace
}  // namespace mf::protocol
