// Each field of a header that a type of frame does not have must be zero (docs/protocol.md, section 1): it is
// set alone, in a frame that is good otherwise. Python's twin is
// tests/python/protocol/test_reserved_fields.py.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/drive.hpp"

namespace mf::protocol {
namespace {

using drive::Pair;

/// The flags and other fields that a type of frame has.
struct Fields {
  FrameType type;
  Role from;
  unsigned flags = 0;
  bool route = false;
  bool id = false;
  bool word = false;
  bool count = false;
};

constexpr unsigned kItemFlags = kEncodingMask | kBulk | kOneway | kMetadata | kStream;

const std::vector<Fields> kTypes{
    {.type = FrameType::hello, .from = Role::client},
    {.type = FrameType::hello, .from = Role::server},
    {.type = FrameType::refuse, .from = Role::client, .word = true},
    {.type = FrameType::refuse, .from = Role::server, .word = true},
    {.type = FrameType::bind, .from = Role::client, .route = true},
    {.type = FrameType::bound, .from = Role::server, .route = true, .word = true},
    {.type = FrameType::request,
     .from = Role::client,
     .flags = kItemFlags,
     .route = true,
     .id = true,
     .word = true,
     .count = true},
    {.type = FrameType::reply,
     .from = Role::server,
     .flags = kEncodingMask | kMetadata,
     .route = true,
     .id = true,
     .word = true,
     .count = true},
    {.type = FrameType::cancel, .from = Role::client, .id = true},
    {.type = FrameType::cancel, .from = Role::server, .id = true},
    {.type = FrameType::ping, .from = Role::client},
    {.type = FrameType::ping, .from = Role::server},
    {.type = FrameType::pong, .from = Role::client},
    {.type = FrameType::pong, .from = Role::server},
    {.type = FrameType::goaway, .from = Role::server, .id = true, .word = true},
    {.type = FrameType::describe, .from = Role::client},
    {.type = FrameType::descriptor, .from = Role::server},
    {.type = FrameType::data,
     .from = Role::client,
     .flags = kEncodingMask | kMetadata,
     .id = true,
     .count = true},
    {.type = FrameType::data,
     .from = Role::server,
     .flags = kEncodingMask | kMetadata,
     .id = true,
     .count = true},
    {.type = FrameType::credit, .from = Role::client, .id = true},
    {.type = FrameType::credit, .from = Role::server, .id = true},
    {.type = FrameType::end, .from = Role::client, .id = true},
    {.type = FrameType::unbind, .from = Role::client, .route = true},
};

/// Whether the receiver reports that a field of the header must be zero, which it does before it reads the
/// payload.
bool is_refused(const Fields& of, const Header& header) {
  Pair pair;
  Session fresh(of.from == Role::client ? Role::server : Role::client, drive::options());
  Session& open = of.from == Role::client ? pair.server : pair.client;
  drive::Octets bytes(kHeaderSize);
  encode_header(header, bytes.data());
  const auto events = drive::feed(of.type == FrameType::hello ? fresh : open, bytes);
  return !events.empty() && events.back().type == EventType::broken &&
         events.back().text.find("that must be zero is not") != std::string::npos;
}

TEST(ReservedFields, AreToBeZeroEachByItself) {
  for (const Fields& of : kTypes) {
    SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(of.type) << " from the "
                                    << (of.from == Role::client ? "client" : "server"));
    Header good;
    good.type = of.type;
    EXPECT_FALSE(is_refused(of, good));
    for (unsigned bit = 0; bit < 8; ++bit) {
      Header header = good;
      header.flags = static_cast<std::uint8_t>(1U << bit);
      EXPECT_EQ(is_refused(of, header), (of.flags & header.flags) == 0) << "flag " << bit;
    }
    for (unsigned bit = 0; bit < 16; ++bit) {
      const auto value = static_cast<std::uint16_t>(1U << bit);
      Header route = good;
      route.route = value;
      EXPECT_EQ(is_refused(of, route), !of.route) << "route " << value;
      Header word = good;
      word.deadline_or_status = value;
      EXPECT_EQ(is_refused(of, word), !of.word) << "word " << value;
      Header count = good;
      count.count = value;
      EXPECT_EQ(is_refused(of, count), !of.count) << "count " << value;
    }
    for (unsigned bit = 0; bit < 32; ++bit) {
      Header header = good;
      header.id = 1U << bit;
      EXPECT_EQ(is_refused(of, header), !of.id) << "id " << header.id;
    }
  }
}

// Late sends meet a session that has ended: a worker's reply, a caller's request.
TEST(ClosedSession, TakesNothingThatIsSentHoweverItIsSent) {
  Pair pair;
  pair.client.fail(Code::cancelled, "");
  pair.server.fail(Code::cancelled, "");
  drive::take_output(pair.client);
  drive::take_output(pair.server);
  const auto payload = drive::octets("2a");
  const auto gathered = [] {
    Gathered gathered;
    gathered.pieces = {{.at = 0, .bytes = Bytes(5000, std::byte{1})}};
    return gathered;
  };

  EXPECT_EQ(pair.client.send_request({.route = 1}, payload), 0U);
  EXPECT_EQ(pair.client.send_request({.route = 1}, drive::buffer_of(5000)), 0U);
  EXPECT_EQ(pair.client.send_request({.route = 1}, gathered()), 0U);
  std::uint32_t id = 5;
  EXPECT_TRUE(pair.client.place_request({.route = 1}, 10, id).empty());
  EXPECT_EQ(id, 0U);
  pair.client.send_describe({.service = "a.S"});
  pair.client.send_ping(1);
  EXPECT_EQ(pair.client.output_bytes(), 0U);

  pair.server.send_reply({.id = 1}, payload);
  pair.server.send_reply({.id = 1}, drive::buffer_of(5000));
  pair.server.send_reply({.id = 1}, gathered());
  pair.server.send_goaway(Code::shutting_down, "");
  pair.server.send_descriptor({.service = "a.S"});
  pair.server.fail(Code::cancelled, "twice");
  EXPECT_EQ(pair.server.output_bytes(), 0U);
}

TEST(Descriptor, IsRefusedWhereThePeerDoesNotTakeIt) {
  Pair pair(4096);
  const std::string text(4096, 'x');
  try {
    pair.server.send_descriptor({.service = "a.S", .text = text});
    FAIL() << "sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::message_too_large);
  }
  EXPECT_EQ(pair.server.output_bytes(), 0U);
  pair.server.send_descriptor({.service = "a.S", .text = std::string_view(text).substr(0, 4000)});
  EXPECT_THAT(pair.to_client(), testing::SizeIs(1));
}

}  // namespace
}  // namespace mf::protocol
