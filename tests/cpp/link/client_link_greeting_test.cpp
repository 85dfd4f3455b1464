// ClientLink: the handshake and the binding of services.
#include "link/client_link_fixture.hpp"
#include "support/connect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mf::link {
namespace {

using mftest::Peer;
using mftest::soon;
using protocol::EventType;
using test::Joined;
using test::kService;

struct Refused {
  explicit Refused(std::function<void(Peer&)> server, std::chrono::milliseconds time = mftest::kLong) {
    auto [left, right] = transport::make_inproc_pair();
    Peer peer(protocol::Role::server, std::move(left));
    std::thread serving([&] { server(peer); });
    auto opened = mftest::open(std::move(right), {}, reactor, std::chrono::steady_clock::now() + time);
    if (!opened) failure = opened.failure();
    serving.join();
  }
  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  Failure failure;
};

TEST(ClientLink, ARefusedHandshakeSaysWhy) {
  const Refused refused([](Peer& peer) {
    (void)peer.next(EventType::hello);
    peer.session.fail(Code::unauthenticated, "who are you?");
    peer.flush();
  });
  EXPECT_EQ(refused.failure.code, Code::unauthenticated);
  EXPECT_EQ(refused.failure.execution, Execution::not_executed);
  EXPECT_THAT(refused.failure.message, testing::HasSubstr("who are you?"));
}

TEST(ClientLink, WhatIsNoMfServerIsAProtocolError) {
  const Refused refused([](Peer& peer) {
    const std::string text = "HTTP/1.1 400 Bad Request\r\n\r\n";
    peer.send_raw(std::as_bytes(std::span(text)));
    (void)peer.until_end();
  });
  EXPECT_EQ(refused.failure.code, Code::protocol_error);
  EXPECT_EQ(refused.failure.execution, Execution::not_executed);
}

TEST(ClientLink, ASilentServerIsGivenUpInTime) {
  const auto read_and_say_nothing = [](Peer& peer) {
    std::array<std::byte, 256> sink;
    for (auto state = transport::IoState::ok;
         state == transport::IoState::ok || state == transport::IoState::would_block;) {
      state = peer.stream().read(sink, transport::Wait::coarsely).state;
    }
  };
  const Refused refused(read_and_say_nothing, std::chrono::milliseconds(50));
  EXPECT_EQ(refused.failure.code, Code::unavailable);
  EXPECT_THAT(refused.failure.message, testing::HasSubstr("did not answer the handshake"));
}

TEST(ClientLink, AServerThatClosesAtOnceIsNotExecuted) {
  const Refused refused([](Peer& peer) { peer.close(); });
  EXPECT_EQ(refused.failure.code, Code::connection_lost);
  EXPECT_EQ(refused.failure.execution, Execution::not_executed);
}

TEST(ClientLink, BindsOnceForManyThreads) {
  Joined joined;
  std::vector<std::thread> threads;
  std::atomic<int> bound{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (mftest::bind(*joined.link, kService, "", soon()).ok()) ++bound;
    });
  }
  joined.peer->accept_bind();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bound, 4);
  joined.serve();
  EXPECT_EQ(joined.call(1), 1U);  // no second BIND was sent: the next frame is the request
  joined.stop_serving();
}

TEST(ClientLink, ARefusedBindingIsToldAndMayBeAskedAgain) {
  Joined joined;
  std::thread asking([&] {
    const auto refused = mftest::bind(*joined.link, kService, "books", soon());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, Code::unknown_agent);
    EXPECT_THAT(refused.failure().message, testing::HasSubstr("not here"));
    EXPECT_TRUE(mftest::bind(*joined.link, kService, "books", soon()).ok());
  });
  const auto bind = joined.peer->next(EventType::bind);
  joined.peer->session.send_bound(bind.header.route, Code::unknown_agent, "not here");
  joined.peer->flush();
  const auto again = joined.peer->next(EventType::bind);
  EXPECT_EQ(again.header.route, bind.header.route);
  joined.peer->session.send_bound(again.header.route);
  joined.peer->flush();
  asking.join();
}

TEST(ClientLink, ABindingIsGivenUpAtTheDeadlineAndWhenTheLinkEnds) {
  Joined joined;
  const auto late = mftest::bind(*joined.link, kService, "",
                                 std::chrono::steady_clock::now() + std::chrono::milliseconds(30));
  EXPECT_EQ(late.failure().code, Code::deadline_exceeded);
  std::thread asking([&] {
    const auto lost = mftest::bind(*joined.link, kService, "", soon());
    EXPECT_EQ(lost.failure().code, Code::connection_lost);
    EXPECT_EQ(lost.failure().execution, Execution::not_executed);
  });
  (void)joined.peer->next(EventType::bind);
  joined.peer->close();
  asking.join();
}

TEST(ClientLink, AnAgentsNameThatNoBindCanHoldIsRefusedHere) {
  Joined joined;
  const auto refused = mftest::bind(*joined.link, kService, std::string(40'000, 'x'), soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, Code::message_too_large);
  EXPECT_FALSE(joined.link->broken());
}

TEST(ClientLink, AnAgentThatIsNoTextIsRefusedHere) {
  Joined joined;
  const auto refused = mftest::bind(*joined.link, kService, "caf\xe9", soon());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, Code::invalid_argument);
  EXPECT_EQ(refused.failure().execution, Execution::not_executed);
  EXPECT_FALSE(joined.link->broken());
}

}  // namespace
}  // namespace mf::link
