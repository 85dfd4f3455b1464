// Peers that violate the rules of streams and metadata: each gets a clear error, and the connection's other
// calls continue where the specification allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "mf/protocol/metadata.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/server/server.hpp"
#include "mf/transport/socket.hpp"
#include "mftest/flow.client.hpp"
#include "support/connect.hpp"
#include "support/flow.hpp"
#include "support/peer.hpp"

namespace mftest::hostile_test {
namespace {

using namespace std::chrono_literals;
using mf::Code;
using mf::protocol::EventType;
using testing::HasSubstr;

constexpr std::uint16_t kSum = 1;
constexpr std::uint16_t kStopped = 7;
constexpr std::uint16_t kMetadata = 8;

/// A server, and a client that a test drives frame by frame.
struct Attacked {
  explicit Attacked(mf::ServerOptions options = {}) : server(std::move(options)) {
    server.offer(servant);
    server.start();
    auto stream = mftest::connect(server.address(), 5s);
    peer = std::make_unique<Peer>(mf::protocol::Role::client, std::move(stream).value());
    peer->session.send_hello();
    bind();
  }
  void bind() {
    const auto& service = flow::methods::kFlowService;
    peer->session.send_bind(0, {.fingerprint = service.fingerprint,
                                .service = service.name,
                                .agent = "",
                                .methods = {service.methods.begin(), service.methods.end()}});
    ASSERT_EQ(peer->next(EventType::bound).code, Code::ok);
  }
  /// Opens `sum(start: 0)`.
  std::uint32_t open_sum() {
    mf::Buffer start;
    start.resize(8);
    std::memset(start.data(), 0, 8);
    return peer->session.send_request({.route = kSum, .flags = mf::protocol::kStream}, std::move(start));
  }
  void data(std::uint32_t id, std::size_t bytes, std::uint16_t count) {
    mf::Buffer payload;
    payload.resize(bytes);
    if (bytes != 0) std::memset(payload.data(), 0, bytes);
    peer->session.send_data({.id = id, .count = count}, std::move(payload));
  }
  struct Answer {
    std::uint32_t id = 0;
    Code code = Code::ok;
    mf::Execution execution = mf::Execution::unknown;
    std::string message;
  };
  Answer reply() {
    const auto seen = peer->next(EventType::reply);
    Answer answer;
    answer.id = seen.header.id;
    answer.code = seen.header.code();
    mf::protocol::FailureRecord record;
    if (answer.code != Code::ok && mf::protocol::parse_failure(seen.payload, record)) {
      answer.execution = record.execution;
      answer.message = record.message;
    }
    return answer;
  }
  void expect_alive() {
    const auto id = peer->session.send_request({.route = kStopped}, std::span<const std::byte>());
    auto answer = reply();
    EXPECT_EQ(answer.id, id);
    EXPECT_EQ(answer.code, Code::ok) << answer.message;
  }

  std::shared_ptr<PlainFlow> servant = std::make_shared<PlainFlow>();
  mf::Server server;
  std::unique_ptr<Peer> peer;
};

TEST(HostileStreams, DataForACallThatWasNeverBegunEndsTheConnection) {
  Attacked attacked;
  attacked.data(77, 4, 1);
  const auto refused = attacked.peer->next(EventType::refused);
  EXPECT_EQ(refused.code, Code::protocol_error);
  EXPECT_THAT(refused.text, HasSubstr("77"));
}

TEST(HostileStreams, DataForACallThatHasEndedIsDropped) {
  Attacked attacked;
  const auto id = attacked.open_sum();
  attacked.peer->session.send_end(id);
  EXPECT_EQ(attacked.reply().code, Code::ok);
  attacked.data(id, 4, 1);
  attacked.peer->session.send_credit(id, 5);
  attacked.peer->session.send_end(id);
  attacked.expect_alive();
}

TEST(HostileStreams, DataForACallWithoutAStreamEndsThatCall) {
  Attacked attacked;
  const auto id =
      attacked.peer->session.send_request({.route = 6}, std::span<const std::byte>());  // linger()
  ASSERT_TRUE(eventually([&] {
    attacked.peer->flush();
    return attacked.servant->lingering == 1U;
  }));
  attacked.data(id, 4, 1);
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.code, Code::protocol_error) << answer.message;
  EXPECT_TRUE(eventually([&] { return attacked.servant->stops == 1U; })) << "the handler is stopped";
  attacked.expect_alive();
}

TEST(HostileStreams, MoreDataThanCreditEndsTheCall) {
  Attacked attacked;
  const auto id = attacked.open_sum();
  attacked.data(id, mf::protocol::kDefaultStreamWindow - 8,
                4094);  // with its header, 8 bytes more than the window
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.code, Code::protocol_error);
  EXPECT_THAT(answer.message, HasSubstr("credit"));
  attacked.expect_alive();
}

TEST(HostileStreams, CreditBeyondThirtyOneBitsEndsTheCall) {
  Attacked attacked;
  const auto id = attacked.open_sum();
  attacked.peer->session.send_credit(id, mf::protocol::kMaxCredit);
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.code, Code::protocol_error);
  EXPECT_THAT(answer.message, HasSubstr("credit"));
  attacked.expect_alive();
}

TEST(HostileStreams, APieceWithoutBytesAndValuesThatCannotBeReadEndTheCall) {
  Attacked attacked;
  const auto piece = attacked.open_sum();
  attacked.data(piece, 0, 0);
  EXPECT_EQ(attacked.reply().code, Code::protocol_error);
  const auto cut = attacked.open_sum();
  attacked.data(cut, 3, 1);
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.id, cut);
  EXPECT_EQ(answer.code, Code::decode_error) << answer.message;
  attacked.expect_alive();
}

TEST(HostileStreams, NothingMayFollowEnd) {
  Attacked attacked;
  // `echo` lasts until its results are read, so it still runs when the forbidden frames arrive.
  const auto open = [&] {
    const auto id = attacked.peer->session.send_request({.route = 2, .flags = mf::protocol::kStream},
                                                        std::span<const std::byte>());
    for (int i = 0; i < 40; ++i) {
      mf::Buffer value;
      value.append(std::as_bytes(std::span("\xac\x02", 2)));  // 300 bytes
      value.resize(302);
      std::memset(value.data() + 2, 0, 300);
      attacked.peer->session.send_data({.id = id, .tier = mf::Tier::febird, .count = 1}, std::move(value));
    }
    attacked.peer->session.send_end(id);
    return id;
  };
  const auto first = open();
  attacked.data(first, 1, 1);
  auto answer = attacked.reply();
  EXPECT_EQ(answer.id, first);
  EXPECT_THAT(answer.code, testing::AnyOf(Code::protocol_error, Code::ok)) << answer.message;
  const auto second = open();
  attacked.peer->session.send_end(second);
  answer = attacked.reply();
  EXPECT_EQ(answer.id, second);
  EXPECT_THAT(answer.code, testing::AnyOf(Code::protocol_error, Code::ok)) << answer.message;
  attacked.expect_alive();
}

TEST(HostileStreams, ACallThatBreaksItsRulesWhileItsHandlerBeginsIsAnsweredOnce) {
  Attacked attacked;
  std::map<std::uint32_t, int> answers;
  constexpr int kRounds = 400;
  constexpr int kAtOnce = 20;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kAtOnce; ++i) {
      const auto id = attacked.open_sum();
      attacked.peer->session.send_end(id);
      attacked.peer->session.send_end(id);
    }
    attacked.peer->flush();
    for (int i = 0; i < kAtOnce; ++i) ++answers[attacked.reply().id];
  }
  attacked.expect_alive();
  EXPECT_EQ(answers.size(), std::size_t{kRounds * kAtOnce})
      << "an answer that came twice kept another one away";
}

TEST(HostileStreams, AStreamThatIsOpenedAndNeitherReadNorClosedEndsAtItsDeadline) {
  Attacked attacked;
  mf::protocol::RequestHead head{.route = 5, .flags = mf::protocol::kStream};  // endless()
  head.deadline = mf::protocol::encode_deadline(150ms);
  (void)attacked.peer->session.send_request(head, std::span<const std::byte>());
  attacked.peer->flush();
  EXPECT_TRUE(eventually([&] { return attacked.servant->stops == 1U; }));
  // Its cost is limited by the client's window.
  std::size_t bytes = 0;
  attacked.peer->session.send_ping(1);
  for (auto seen = attacked.peer->next(); seen.type != EventType::pong; seen = attacked.peer->next())
    if (seen.type == EventType::data) bytes += mf::protocol::padded(seen.header.size);
  EXPECT_LE(bytes, mf::protocol::kDefaultStreamWindow);
  attacked.expect_alive();
}

TEST(HostileStreams, StreamsAboveTheLimitAreOverloadedAndNotExecuted) {
  Attacked attacked({.max_streams = 3});
  for (int i = 0; i < 3; ++i) (void)attacked.open_sum();
  const auto id = attacked.open_sum();
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.id, id);
  EXPECT_EQ(answer.code, Code::overloaded);
  EXPECT_EQ(answer.execution, mf::Execution::not_executed);
  attacked.expect_alive();
}

TEST(HostileStreams, BindingsAboveTheLimitAreOverloadedAndUnbindMakesRoom) {
  Attacked attacked({.max_bindings = 1});
  const auto& service = flow::methods::kFlowService;
  const mf::protocol::Bind again{
      .fingerprint = service.fingerprint, .service = service.name, .agent = "", .methods = {"stopped"}};
  attacked.peer->session.send_bind(100, again);
  EXPECT_EQ(attacked.peer->next(EventType::bound).code, Code::overloaded);
  attacked.peer->session.send_unbind(0);
  attacked.peer->session.send_bind(0, again);
  EXPECT_EQ(attacked.peer->next(EventType::bound).code, Code::ok);
  (void)attacked.peer->session.send_request({.route = 0}, std::span<const std::byte>());
  EXPECT_EQ(attacked.reply().code, Code::ok);
  attacked.peer->session.send_unbind(1);
  EXPECT_EQ(attacked.peer->next(EventType::refused).code, Code::protocol_error);
}

TEST(HostileStreams, AMethodOfTheOtherKindIsADecodeError) {
  Attacked attacked;
  (void)attacked.peer->session.send_request({.route = kStopped, .flags = mf::protocol::kStream},
                                            std::span<const std::byte>());
  auto answer = attacked.reply();
  EXPECT_EQ(answer.code, Code::decode_error);
  EXPECT_EQ(answer.execution, mf::Execution::not_executed);
  mf::Buffer start;
  start.resize(8);
  std::memset(start.data(), 0, 8);
  (void)attacked.peer->session.send_request({.route = kSum}, std::move(start));
  EXPECT_EQ(attacked.reply().code, Code::decode_error);
  attacked.expect_alive();
}

TEST(HostileStreams, MalformedMetadataIsAnsweredAndTheConnectionGoesOn) {
  Attacked attacked;
  mf::Buffer payload;
  payload.append(bytes_of(64).span());  // a size beyond the payload
  payload.append(bytes_of(0).span());
  (void)attacked.peer->session.send_request(
      {.route = kMetadata, .tier = mf::Tier::febird, .flags = mf::protocol::kMetadata}, std::move(payload));
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.code, Code::decode_error);
  EXPECT_EQ(answer.execution, mf::Execution::not_executed);
  EXPECT_THAT(answer.message, HasSubstr("metadata"));
  attacked.expect_alive();
}

TEST(HostileStreams, AnIdThatIsInFlightMayNotBeUsedAgain) {
  Attacked attacked;
  const auto id = attacked.open_sum();
  mf::Buffer start;
  start.resize(8);
  std::memset(start.data(), 0, 8);
  (void)attacked.peer->session.send_request({.route = kSum, .flags = mf::protocol::kStream, .id = id},
                                            std::move(start));
  const auto answer = attacked.reply();
  EXPECT_EQ(answer.code, Code::protocol_error);
  attacked.peer->session.send_end(id);
  EXPECT_EQ(attacked.reply().code, Code::ok) << "the first is not touched";
  attacked.expect_alive();
}

TEST(HostileStreams, AConnectionThatEndsTellsItsHandlers) {
  Attacked attacked;
  (void)attacked.peer->session.send_request({.route = 6}, std::span<const std::byte>());
  (void)attacked.peer->session.send_request({.route = 5, .flags = mf::protocol::kStream},
                                            std::span<const std::byte>());
  attacked.peer->flush();
  ASSERT_TRUE(eventually([&] { return attacked.servant->lingering == 1U; }));
  while (attacked.peer->next().type != EventType::data) continue;  // endless() runs, too
  attacked.peer->close();
  EXPECT_TRUE(eventually([&] { return attacked.servant->stops == 2U; }));
}

}  // namespace
}  // namespace mftest::hostile_test
