#include "mf/link/server_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <semaphore>

#include "mf/core/blocking.hpp"
#include "mf/core/text.hpp"
#include "support/peer.hpp"

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::eventually;
using mftest::KeptLog;
using mftest::Peer;
using protocol::EventType;

/// Keeps the requests, for the test to answer.
class Kept final : public ServerLink::Handler {
 public:
  struct Request {
    protocol::ReplyHead head;
    std::size_t size = 0;
    bool oneway = false;
  };

  Answer on_bind(std::uint16_t first_route, const protocol::Bind& bind) override {
    if (first_route == 99) return std::pair(Code::protocol_error, std::string("bound already"));
    if (bind.service != "t.S") return std::pair(Code::unknown_service, std::string("no such service"));
    return std::pair(Code::ok, std::string());
  }
  std::optional<const ServiceInfo*> on_describe(const protocol::Describe&) override {
    service.descriptor = descriptor;
    return &service;
  }
  void on_drain(std::uint32_t behind) override { latest = behind; }
  void on_request(const protocol::Event& event, TimePoint) override {
    if (throws) throw std::bad_alloc();
    if (when_requested) return when_requested(event);
    if (answer_with != 0) {
      Gathered payload;
      payload.buffer.resize(answer_with);
      std::memset(payload.buffer.data(), 2, answer_with);
      auto head = protocol::ReplyHead::to(event);
      head.encoding = 1;
      ++answered;
      return answers.lock()->send_reply(head, payload, event.payload.size());
    }
    const std::scoped_lock lock(mutex);
    requests.push_back({protocol::ReplyHead::to(event), event.payload.size(), event.header.oneway()});
  }
  void on_cancel(std::uint32_t) override { ++cancels; }
  void on_stream(const protocol::Event&) override { ++stream_frames; }
  bool on_unbind(std::uint16_t first_route) override { return first_route == 0; }
  void on_room() override {
    ++rooms;
    if (when_room) when_room();
  }
  void on_turn_end() override {}
  void on_handed_over() noexcept override { ++handed_over; }
  void on_greeted() override { ++greeted; }
  void on_overfull() override { ++overfull; }
  void on_closed() override { closed = true; }
  std::size_t size() {
    const std::scoped_lock lock(mutex);
    return requests.size();
  }
  std::vector<Request> take() {
    const std::scoped_lock lock(mutex);
    return std::exchange(requests, {});
  }

  std::string descriptor = "service t.S\n";
  ServiceInfo service{.annex = "the annex"};
  std::atomic<std::uint32_t> latest{~0U};
  std::mutex mutex;
  std::vector<Request> requests;
  std::atomic<int> cancels{0};
  std::atomic<int> stream_frames{0};
  std::atomic<int> rooms{0};
  std::atomic<int> handed_over{0};
  // In the place of what is above; set before the first request.
  std::function<void(const protocol::Event& event)> when_requested;
  std::function<void()> when_room;
  std::atomic<int> greeted{0};
  std::atomic<int> answered{0};
  std::atomic<int> overfull{0};
  std::atomic<std::size_t> answer_with{0};  // the size of replies given where the request was read
  std::weak_ptr<ServerLink> answers;
  std::atomic<bool> closed{false};
  std::atomic<bool> throws{false};
};

struct Joined {
  explicit Joined(ServerLink::Options options = {}, std::size_t spares = 0)
      : reactor(std::make_shared<transport::Reactor>(spares)) {
    auto [left, right] = transport::make_inproc_pair();
    options.log = Log(log);
    load = options.load;
    link = std::make_shared<ServerLink>(std::move(left), std::move(options), reactor);
    peer = std::make_unique<Peer>(protocol::Role::client, std::move(right));
    handler->answers = link;
    link->open(handler);
  }
  ~Joined() {
    link->close("");
    reactor->stop();
  }
  void greet() {
    peer->session.send_hello();
    (void)peer->next(EventType::hello);
  }
  /// Without flushing.
  void queue_request() {
    protocol::RequestHead head;
    peer->session.send_request(head, Gathered());
  }
  void request(std::size_t size, bool oneway = false) {
    Buffer payload(size);
    payload.resize(size);
    if (size != 0) std::memset(payload.data(), 1, size);
    protocol::RequestHead head;
    if (oneway) head.flags = protocol::kOneway;
    peer->session.send_request(head, std::move(payload));
    peer->flush();
  }
  std::size_t answer_all(std::size_t size) {
    const auto requests = handler->take();
    for (const auto& request : requests) {
      if (request.oneway) {
        link->end_request(request.size);
      } else {
        Gathered payload;
        payload.buffer.resize(size);
        if (size != 0) std::memset(payload.buffer.data(), 2, size);
        auto head = request.head;
        head.encoding = 1;
        link->send_reply(head, payload, request.size);
      }
    }
    return requests.size();
  }

  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
  std::shared_ptr<transport::Reactor> reactor;
  std::shared_ptr<Kept> handler = std::make_shared<Kept>();
  std::shared_ptr<ServerLoad> load;
  std::shared_ptr<ServerLink> link;
  std::unique_ptr<Peer> peer;
};

TEST(ServerLink, AHelloAndAPingInOneSegmentAreBothAnswered) {
  Joined joined;
  joined.peer->session.send_hello();
  joined.peer->session.send_ping(5);
  joined.peer->flush();
  EXPECT_EQ(joined.peer->next().type, EventType::hello);
  EXPECT_EQ(joined.peer->next().type, EventType::pong);
}

TEST(ServerLink, AnExceptionInAConnectionsCodeEndsThatConnectionOnly) {
  Joined joined;
  auto [left, right] = transport::make_inproc_pair();
  const auto throwing = std::make_shared<Kept>();
  throwing->throws = true;
  ServerLink::Options options;
  options.log = Log(joined.log);
  const auto link = std::make_shared<ServerLink>(std::move(left), std::move(options), joined.reactor);
  link->open(throwing);
  Peer peer(protocol::Role::client, std::move(right));
  peer.session.send_hello();
  peer.session.send_request({}, std::span<const std::byte>(bytes_of(7).span()));
  peer.until_end();
  EXPECT_TRUE(eventually([&] { return throwing->closed.load(); }));
  EXPECT_TRUE(joined.log->has("connection_failed"));
  joined.greet();
  joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.answer_all(4);
  EXPECT_EQ(joined.peer->next(EventType::reply).header.id, 1U);
}

TEST(ServerLink, AnswersRequestsInAnyOrder) {
  Joined joined;
  joined.greet();
  for (int i = 0; i < 3; ++i) joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 3; }));
  {
    const std::scoped_lock lock(joined.handler->mutex);
    std::ranges::reverse(joined.handler->requests);
  }
  joined.answer_all(8);
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(joined.peer->next(EventType::reply).header.id);
  EXPECT_THAT(ids, testing::ElementsAre(3U, 2U, 1U));
  EXPECT_TRUE(eventually([&] { return joined.link->idle(); }));
}

TEST(ServerLink, ClosesAPeerThatDoesNotSendItsHelloInTime) {
  ServerLink::Options options;
  options.handshake_timeout = std::chrono::milliseconds(30);
  Joined joined(options);
  const auto seen = joined.peer->until_end();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].type, EventType::refused);
  EXPECT_THAT(seen[0].text, testing::HasSubstr("HELLO"));
  EXPECT_TRUE(eventually([&] { return joined.handler->closed.load(); }));
  EXPECT_TRUE(joined.log->has("HELLO"));
  EXPECT_EQ(joined.load->cuts(Cut::handshake), 1U);
}

TEST(ServerLink, HalfAHelloIsNoHello) {
  ServerLink::Options options;
  options.handshake_timeout = std::chrono::milliseconds(30);
  Joined joined(options);
  const std::array<std::byte, 5> half{std::byte{0x40}};
  joined.peer->send_raw(half);
  EXPECT_EQ(joined.peer->until_end().size(), 1U);
  EXPECT_TRUE(joined.log->has("HELLO"));
}

TEST(ServerLink, AGreetedPeerMayBeSilent) {
  ServerLink::Options options;
  options.handshake_timeout = std::chrono::milliseconds(20);
  Joined joined(options);
  joined.greet();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(joined.link->closed());
}

TEST(ServerLink, ReadsNothingMoreWhileItsRepliesAreNotRead) {
  ServerLink::Options options;
  options.max_output = 1 << 20;
  Joined joined(options);
  joined.greet();
  for (int i = 0; i < 8; ++i) joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 8; }));
  joined.answer_all(512 << 10);  // 4 MiB for a peer that does not read
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  joined.request(4);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(joined.handler->size(), 0U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(joined.peer->next(EventType::reply).payload.size(), 512U << 10);
  EXPECT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
}

/// Answers with more bytes than may wait to be written, so that on_room() follows when they are written.
void answer_much(ServerLink& link, const protocol::ReplyHead& head) {
  Gathered payload;
  payload.buffer.resize(3 << 10U);
  std::memset(payload.buffer.data(), 2, payload.buffer.size());
  auto to = head;
  to.encoding = 1;
  link.send_reply(to, payload, 0);
  EXPECT_FALSE(link.has_room());
}

// The next turn begins on another thread, and the end of the one before must not take its requests.
TEST(ServerLink, TheNextTurnKeepsItsRequestsIfAStreamWithRoomWaits) {
  ServerLink::Options options;
  options.max_output = 4 << 10U;
  Joined joined(options, 2);
  std::binary_semaphore waits(0);
  std::binary_semaphore next(0);
  std::atomic<bool> room_left{false};
  std::atomic<int> requests{0};
  joined.handler->when_requested = [&](const protocol::Event& event) {
    if (++requests == 1) return answer_much(*joined.link, protocol::ReplyHead::to(event));
    if (requests == 2) {
      next.release();
      EXPECT_TRUE(eventually([&] { return room_left.load(); }));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the first turn ends meanwhile
    }
    joined.link->end_request(0);
  };
  joined.handler->when_room = [&] {
    if (joined.handler->rooms != 1) return;
    blocking();
    waits.release();
    EXPECT_TRUE(next.try_acquire_for(mftest::kLong));
    room_left = true;
  };
  joined.greet();
  joined.request(0);
  ASSERT_TRUE(waits.try_acquire_for(mftest::kLong));
  joined.queue_request();
  joined.queue_request();
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return requests == 3; }));
}

TEST(ServerLink, AHandlerAndAStreamThatWaitLeaveOneTurnOnce) {
  ServerLink::Options options;
  options.max_output = 4 << 10U;
  Joined joined(options, 2);
  std::optional<protocol::ReplyHead> first;
  std::atomic<bool> waited{false};
  joined.handler->when_requested = [&](const protocol::Event& event) {
    if (!first) {
      first = protocol::ReplyHead::to(event);
      return;
    }
    answer_much(*joined.link, *first);
    blocking();  // writes the answer, so that there is room
    joined.link->end_request(event.payload.size());
    waited = true;
  };
  joined.handler->when_room = [] { blocking(); };
  joined.greet();
  joined.queue_request();
  joined.queue_request();
  joined.peer->flush();
  EXPECT_TRUE(eventually([&] { return waited.load(); }));
  EXPECT_EQ(joined.handler->rooms, 1);
  EXPECT_EQ(joined.handler->handed_over, 1);
}

TEST(ServerLink, ClosesAPeerThatReadsNothing) {
  ServerLink::Options options;
  options.progress_timeout = std::chrono::milliseconds(40);
  Joined joined(options);
  joined.greet();
  joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.answer_all(8 << 20);
  EXPECT_TRUE(eventually([&] { return joined.handler->closed.load(); }));
  EXPECT_TRUE(joined.log->has("connection_cut"));
  EXPECT_TRUE(joined.log->has("does not read its replies"));
  EXPECT_EQ(joined.load->cuts(Cut::progress), 1U);
}

TEST(ServerLink, APeerThatReadsSlowlyIsServedToTheEnd) {
  ServerLink::Options options;
  options.progress_timeout = std::chrono::milliseconds(200);
  Joined joined(options);
  joined.greet();
  joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.answer_all(4 << 20);
  protocol::Event event;
  std::size_t got = 0;
  while (!joined.peer->session.next(event)) {
    const auto window = joined.peer->session.receive_window();
    const auto result = joined.peer->stream().read(
        window.first(std::min<std::size_t>(window.size(), 256 << 10)), transport::Wait::coarsely);
    ASSERT_NE(result.state, transport::IoState::closed);
    if (result.state == transport::IoState::ok) {
      joined.peer->session.commit(result.bytes);
      got += result.bytes;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(got, std::size_t{4} << 20);
  EXPECT_FALSE(joined.log->has("connection_cut"));
}

TEST(ServerLink, RequestsThatWereReadDoNotBeginWhileRepliesAreNotRead) {
  ServerLink::Options options;
  options.max_output = 1 << 20;
  Joined joined(options);
  joined.handler->answer_with = 512 << 10;
  joined.greet();
  for (int i = 0; i < 100; ++i)
    joined.peer->session.send_request({}, std::span<const std::byte>(bytes_of(7).span()));
  joined.peer->flush();  // all of them are one read
  ASSERT_TRUE(eventually([&] { return joined.link->full(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LT(joined.handler->answered, 20);  // 1 MiB, and the capacity of the sockets
  EXPECT_FALSE(joined.link->idle());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(joined.peer->next(EventType::reply).payload.size(), 512U << 10);
  EXPECT_EQ(joined.handler->answered, 100);
  EXPECT_TRUE(eventually([&] { return joined.link->idle() && joined.link->holds() == 0; }));
}

TEST(ServerLink, AByteNowAndThenIsNoProgress) {
  ServerLink::Options options;
  options.progress_timeout = std::chrono::milliseconds(60);
  Joined joined(options);
  joined.greet();
  joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.answer_all(8 << 20);
  std::array<std::byte, 16> few{};
  EXPECT_TRUE(eventually([&] {
    (void)joined.peer->stream().read(few, transport::Wait::coarsely);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return joined.handler->closed.load();
  }));
  EXPECT_EQ(joined.load->cuts(Cut::progress), 1U);
}

TEST(ServerLink, AFrameThatDoesNotEndIsNotWaitedFor) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{1} << 20}) {
    ServerLink::Options options;
    options.progress_timeout = std::chrono::milliseconds(60);
    Joined joined(options);
    joined.greet();
    Buffer payload(size);
    payload.resize(size);
    std::memset(payload.data(), 1, size);
    joined.peer->session.send_request({}, std::move(payload));
    std::array<IoSlice, 4> slices;
    ASSERT_GE(joined.peer->session.fill_output(slices), 1U);
    std::size_t at = 0;
    EXPECT_TRUE(eventually([&] {
      if (at < 60) joined.peer->send_raw({slices[0].data + at++, 1});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return joined.handler->closed.load();
    }));
    EXPECT_TRUE(joined.log->has("does not end the frame"));
    EXPECT_EQ(joined.load->cuts(Cut::progress), 1U);
    EXPECT_EQ(joined.handler->size(), 0U);
    EXPECT_TRUE(eventually([&] { return joined.load->bytes() == 0; }));
  }
}

TEST(ServerLink, WhatIsAnnouncedIsChargedAndGivenBack) {
  Joined joined;
  joined.greet();
  Buffer payload(1 << 20);
  payload.resize(1 << 20);
  std::memset(payload.data(), 1, payload.size());
  joined.peer->session.send_request({}, std::move(payload));
  std::array<IoSlice, 4> slices;
  ASSERT_EQ(joined.peer->session.fill_output(slices), 1U);
  joined.peer->send_raw({slices[0].data, 100});
  EXPECT_TRUE(eventually([&] { return joined.load->bytes() >= 1U << 20; }));
  joined.peer->send_raw({slices[0].data + 100, slices[0].size - 100});
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  EXPECT_TRUE(eventually([&] { return joined.link->holds() >= 1U << 20; }));  // until it is answered
  joined.answer_all(4);
  EXPECT_TRUE(eventually([&] { return joined.load->bytes() == 0; }));
}

TEST(ServerLink, ItsServerIsToldWhenConnectionsHoldTooMuchTogether) {
  ServerLink::Options options;
  options.load = std::make_shared<ServerLoad>(1 << 20);
  Joined joined(options);
  joined.greet();
  EXPECT_EQ(joined.handler->greeted, 1);
  joined.request(800 << 10);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.request(800 << 10);
  EXPECT_TRUE(eventually([&] { return joined.handler->overfull > 0; }));
  joined.link->cut(Cut::memory, "max_held_bytes", "it holds the most");
  EXPECT_TRUE(joined.handler->closed);
  EXPECT_EQ(joined.load->cuts(Cut::memory), 1U);
  EXPECT_TRUE(joined.log->has("limit=max_held_bytes"));
  EXPECT_EQ(joined.log->size(), 1U);
}

TEST(ServerLink, NearThatLimitRequestsAreRefused) {
  ServerLink::Options options;
  options.load = std::make_shared<ServerLoad>(1 << 20);
  Joined joined(options);
  joined.greet();
  joined.request(950 << 10);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.request(4);
  const auto refused = joined.peer->next(EventType::reply);
  EXPECT_EQ(refused.header.code(), Code::overloaded);
  EXPECT_EQ(refused.header.id, 2U);
  joined.answer_all(4);
  EXPECT_EQ(joined.peer->next(EventType::reply).header.id, 1U);
  joined.request(4);
  EXPECT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
}

TEST(ServerLink, ItsDescriptorIsFreeOnceItHasEndedWhateverIsUnanswered) {
  Joined joined;
  joined.greet();
  joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  const auto before = mftest::open_descriptors();
  joined.peer->close();
  ASSERT_TRUE(eventually([&] { return joined.handler->closed.load(); }));
  EXPECT_TRUE(eventually([&] { return mftest::open_descriptors() == before - 1; }));
  joined.answer_all(4);  // they are not read
}

TEST(ServerLink, AFloodOfBindsLeavesOthersTheirTurn) {
  Joined joined;
  joined.greet();
  auto [left, right] = transport::make_inproc_pair();
  const auto other = std::make_shared<Kept>();
  const auto link = std::make_shared<ServerLink>(std::move(left), ServerLink::Options(), joined.reactor);
  link->open(other);
  Peer innocent(protocol::Role::client, std::move(right));
  innocent.session.send_hello();
  (void)innocent.next(EventType::hello);
  constexpr int kFlood = 20'000;  // more than the burst allows
  std::thread flooding([&] {
    for (int i = 0; i < kFlood; ++i) {
      joined.peer->session.send_bind(0, {.fingerprint = {}, .service = "t.S", .agent = "", .methods = {}});
      joined.peer->session.send_unbind(0);
      if (i % 100 == 99) joined.peer->flush();
    }
    int bound = 0;
    while (bound < kFlood && joined.peer->next(EventType::bound).code == Code::ok) ++bound;
    EXPECT_EQ(bound, kFlood);
  });
  for (std::size_t i = 1; i <= 100; ++i) {
    innocent.session.send_request({}, std::span<const std::byte>(bytes_of(7).span()));
    innocent.flush();
    EXPECT_TRUE(eventually([&] { return other->size() == i; }));
  }
  flooding.join();
  link->close("");
}

TEST(ServerLink, AnswersOverloadedAboveItsLimitOfRequests) {
  ServerLink::Options options;
  options.session.limits.max_in_flight = 4;
  Joined joined(options);
  joined.greet();
  for (int i = 0; i < 5; ++i) joined.request(4);
  const auto refused = joined.peer->next(EventType::reply);
  EXPECT_EQ(refused.header.code(), Code::overloaded);
  EXPECT_EQ(refused.header.id, 5U);
  EXPECT_EQ(joined.handler->size(), 4U);
  joined.answer_all(4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(joined.peer->next(EventType::reply).header.code(), Code::ok);
}

TEST(ServerLink, AnswersOverloadedAboveItsLimitOfBytes) {
  ServerLink::Options options;
  options.max_queued_bytes = 100'000;
  Joined joined(options);
  joined.greet();
  joined.request(90'000);
  joined.request(90'000);
  EXPECT_EQ(joined.peer->next(EventType::reply).header.code(), Code::overloaded);
  EXPECT_EQ(joined.handler->size(), 1U);
}

TEST(ServerLink, OnewayCallsAboveTheLimitHoldTheSenderBackAndAreAllTaken) {
  ServerLink::Options options;
  options.session.limits.max_in_flight = 100;
  Joined joined(options);
  joined.greet();
  constexpr std::size_t kAll = 30'000;
  std::thread sending([&] {
    for (std::size_t i = 0; i < kAll; ++i) {
      joined.peer->session.send_request({.flags = protocol::kOneway}, std::span<const std::byte>());
      if (i % 500 == 499) joined.peer->flush();
    }
    joined.peer->flush();
  });
  std::size_t taken = 0;
  std::size_t most = 0;
  EXPECT_TRUE(eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto now = joined.answer_all(0);
    most = std::max(most, now);
    taken += now;
    return taken >= kAll;
  }));
  sending.join();
  EXPECT_LT(most, kAll);
}

TEST(ServerLink, DrainRefusesWhatIsNewByGoawayAndKeepsTheRest) {
  Joined joined;
  joined.greet();
  joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 1; }));
  joined.link->drain("maintenance");
  const auto goaway = joined.peer->next(EventType::goaway);
  EXPECT_THAT(goaway.text, testing::HasSubstr("maintenance"));
  EXPECT_EQ(goaway.header.id, joined.handler->latest);
  EXPECT_FALSE(joined.link->idle());
  joined.answer_all(4);
  EXPECT_EQ(joined.peer->next(EventType::reply).header.code(), Code::ok);
  EXPECT_TRUE(eventually([&] { return joined.link->idle(); }));
}

TEST(ServerLink, WhatWasAnsweredBeforeTheCloseIsWritten) {
  Joined joined;
  joined.greet();
  for (int i = 0; i < 10; ++i) joined.request(4);
  ASSERT_TRUE(eventually([&] { return joined.handler->size() == 10; }));
  // Where replies of several in flight would be written.
  const auto hold = std::make_shared<std::binary_semaphore>(0);
  joined.reactor->post([hold] { hold->acquire(); });
  joined.answer_all(4);
  joined.link->close("");
  hold->release();
  EXPECT_EQ(joined.peer->until_end().size(), 10U);
}

TEST(ServerLink, BindsOfRangesInUseEndTheConnection) {
  Joined joined;
  joined.greet();
  joined.peer->session.send_bind(99, {.fingerprint = {}, .service = "t.S", .agent = "", .methods = {}});
  const auto seen = joined.peer->until_end();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].type, EventType::refused);
  EXPECT_TRUE(joined.log->has("bound already"));
}

TEST(ServerLink, ADescriptorComesWithItsAnnex) {
  Joined joined;
  joined.greet();
  joined.peer->session.send_describe({.service = "t.S"});
  joined.peer->flush();
  protocol::Descriptor descriptor;
  const char* reason = nullptr;
  std::string room;
  const auto seen = joined.peer->next(EventType::descriptor);
  ASSERT_TRUE(protocol::parse_descriptor(seen.payload, descriptor, reason, room));
  EXPECT_EQ(descriptor.text, "service t.S\n");
  EXPECT_EQ(descriptor.annex, "the annex");
}

TEST(ServerLink, WhoSaysHelloAfterItHasBegunToDrainIsToldSo) {
  Joined joined;
  joined.link->drain("maintenance");
  EXPECT_EQ(joined.handler->latest, 0U);
  joined.greet();
  EXPECT_THAT(joined.peer->next(EventType::goaway).text, testing::HasSubstr("maintenance"));
}

TEST(ServerLink, ADescriptorThatThePeerCannotTakeHurtsNobody) {
  auto [left, right] = transport::make_inproc_pair();
  protocol::SessionOptions small;
  small.limits.max_payload = 4096;
  Joined joined;
  joined.handler->descriptor = std::string(20'000, 'x');
  const auto link = std::make_shared<ServerLink>(std::move(left), ServerLink::Options{}, joined.reactor);
  link->open(joined.handler);
  Peer peer(protocol::Role::client, std::move(right), small);
  peer.session.send_hello();
  peer.session.send_describe({.service = "t.S"});
  protocol::Descriptor descriptor;
  const char* reason = nullptr;
  std::string room;
  const auto seen = peer.next(EventType::descriptor);
  ASSERT_TRUE(protocol::parse_descriptor(seen.payload, descriptor, reason, room));
  EXPECT_EQ(descriptor.text, "");
  const std::string longer(5'000, 'y');
  peer.session.send_describe({.service = longer});
  EXPECT_EQ(peer.next(EventType::refused).code, Code::protocol_error);
  link->close("");
}

TEST(ServerLink, AFloodOfQuestionsIsCutOff) {
  ServerLink::Options options;
  options.max_output = 64 << 10;
  Joined joined(options);
  joined.handler->descriptor = std::string(30'000, 'x');
  joined.greet();
  for (int i = 0; i < 2000; ++i) joined.peer->session.send_describe({.service = "t.S"});
  joined.peer->flush();
  const auto seen = joined.peer->until_end();
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().type, EventType::refused);
  EXPECT_EQ(seen.back().code, Code::overloaded);
  EXPECT_LT(seen.size(), 100U);
}

std::vector<std::byte> hello_bytes() {
  protocol::Session session(protocol::Role::client, {});
  session.send_hello();
  std::array<IoSlice, 4> slices;
  const auto n = session.fill_output(slices);
  std::vector<std::byte> bytes;
  for (const auto& slice : std::span(slices).first(n))
    bytes.insert(bytes.end(), slice.data, slice.data + slice.size);
  return bytes;
}

TEST(ServerLink, AStreamCutAtAnyByteEndsThatConnectionOnly) {
  auto whole = hello_bytes();
  protocol::Session session(protocol::Role::client, {});
  session.send_hello();
  session.send_bind(0, {.fingerprint = {}, .service = "t.S", .agent = "", .methods = {"a"}});
  session.send_request({}, std::span<const std::byte>(bytes_of(7).span()));
  std::array<IoSlice, 8> slices;
  const auto n = session.fill_output(slices);
  whole.clear();
  for (const auto& slice : std::span(slices).first(n))
    whole.insert(whole.end(), slice.data, slice.data + slice.size);
  Joined other;
  other.greet();
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    auto [left, right] = transport::make_inproc_pair();
    const auto log = std::make_shared<KeptLog>();
    ServerLink::Options options;
    options.log = Log(log);
    const auto handler = std::make_shared<Kept>();
    const auto link = std::make_shared<ServerLink>(std::move(left), options, other.reactor);
    link->open(handler);
    {
      Peer peer(protocol::Role::client, std::move(right));
      peer.send_raw(std::span(whole).first(cut));
    }
    ASSERT_TRUE(eventually([&] { return handler->closed.load(); })) << cut;
    const bool between_frames = cut % 8 == 0 && !log->has("within a frame");
    EXPECT_TRUE(between_frames || log->has("within a frame")) << cut;
    EXPECT_EQ(handler->size(), 0U);
  }
  other.request(4);
  EXPECT_TRUE(eventually([&] { return other.handler->size() == 1; }));
}

TEST(ServerLink, RandomBytesEndThatConnectionWithAReason) {
  std::minstd_rand random(7);
  Joined other;
  other.greet();
  for (int round = 0; round < 100; ++round) {
    auto [left, right] = transport::make_inproc_pair();
    const auto log = std::make_shared<KeptLog>();
    ServerLink::Options options;
    options.log = Log(log);
    const auto handler = std::make_shared<Kept>();
    const auto link = std::make_shared<ServerLink>(std::move(left), options, other.reactor);
    link->open(handler);
    Peer peer(protocol::Role::client, std::move(right));
    std::vector<std::byte> bytes = round % 2 == 0 ? hello_bytes() : std::vector<std::byte>();
    for (int i = 0; i < 64; ++i) bytes.push_back(static_cast<std::byte>(random()));
    peer.send_raw(bytes);
    peer.close();
    ASSERT_TRUE(eventually([&] { return handler->closed.load(); })) << round;
    EXPECT_GE(log->size(), 1U) << round;
    EXPECT_EQ(handler->size(), 0U);
  }
  other.request(4);
  EXPECT_TRUE(eventually([&] { return other.handler->size() == 1; }));
}

TEST(ServerLink, AFrameOfFourGibibytesIsRefusedBeforeItIsBuffered) {
  Joined joined;
  joined.greet();
  protocol::Header header;
  header.size = 0xffff'fff0;
  header.type = protocol::FrameType::request;
  header.flags = 1;
  header.id = 1;
  header.count = 1;
  joined.peer->send_raw(std::as_bytes(std::span(&header, 1)));
  const auto seen = joined.peer->until_end();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].type, EventType::refused);
  EXPECT_TRUE(joined.log->has("connection_broken"));
}

TEST(ServerLink, FramesOutOfTurnAreRefused) {
  Joined joined;  // a request before HELLO
  protocol::Header header;
  header.type = protocol::FrameType::request;
  header.flags = 1;
  header.id = 1;
  header.count = 1;
  joined.peer->send_raw(std::as_bytes(std::span(&header, 1)));
  // The peer has sent no HELLO of its own, so its session would not recognise the REFUSE.
  EXPECT_TRUE(eventually([&] { return joined.handler->closed.load(); }));
  EXPECT_TRUE(joined.log->has("PROTOCOL_ERROR"));
}

TEST(ServerLink, APeerThatDoesNotEvenAnswerAPingIsEndedOnceSomebodyWantsToKnow) {
  Joined joined;
  joined.greet();
  joined.link->keep_alive(std::chrono::milliseconds(100));
  EXPECT_TRUE(eventually([&] { return joined.handler->closed.load(); }));
  EXPECT_TRUE(joined.link->closed());
  EXPECT_TRUE(joined.log->has("connection_cut"));
  EXPECT_TRUE(joined.log->has("limit=keep_alive reason=\"nothing has come for"));
  EXPECT_EQ(joined.load->cuts(Cut::progress), 1U);
}

}  // namespace
}  // namespace mf::link
