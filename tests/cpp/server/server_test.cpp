#include "mf/server/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <semaphore>
#include <set>

#include "client/fake_resolver.hpp"
#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest::server_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class Servers : public testing::TestWithParam<mf::Where> {};

INSTANTIATE_TEST_SUITE_P(Where, Servers,
                         testing::Values(mf::Where::adaptive, mf::Where::worker, mf::Where::io_thread),
                         [](const auto& info) {
                           return info.param == mf::Where::adaptive ? "Adaptive"
                                  : info.param == mf::Where::worker ? "Worker"
                                                                    : "IoThread";
                         });

TEST_P(Servers, EveryShapeOfResultComesBack) {
  Calling calling(GetParam());
  EXPECT_EQ(calling.stub.twice(21), 42);
  EXPECT_EQ(calling.stub.text("hello"), "hello");
  EXPECT_TRUE(calling.stub.even(2));
  EXPECT_FALSE(calling.stub.even(3));
  EXPECT_EQ(calling.stub.both(5), (calls::EchoBothResult{.plus = 6, .minus = 4}));
  EXPECT_NO_THROW(calling.stub.wait(0));
  const mf::Bytes large(3 << 20, std::byte{7});
  EXPECT_EQ(calling.stub.blob(large), large);
}

TEST_P(Servers, AHandlerThatThrowsBecomesATypedError) {
  Calling calling(GetParam());
  const auto how = [&](const char* text) { return failure_of([&] { return calling.stub.fail(text); }); };
  EXPECT_THROW(calling.stub.fail("nope"), calls::Nope);
  try {
    calling.stub.fail("many");
    ADD_FAILURE();
  } catch (const calls::TooMany& error) {
    EXPECT_EQ(error.limit, 7U);
  }
  for (const char* text : {"std", "int", "other", "nested"}) {
    const auto failure = how(text);
    EXPECT_EQ(failure.code, Code::handler_failed) << text;
    EXPECT_EQ(failure.execution, Execution::unknown) << text;
  }
  for (const char* text : {"std", "int", "latin", "nested"})
    EXPECT_THAT(how(text).message, HasSubstr("with the reference ")) << text;
  EXPECT_THAT(how("std").message, Not(HasSubstr("boom")));
  EXPECT_THAT(how("other").message, HasSubstr("does not declare"));
  EXPECT_EQ(how("denied").code, Code::permission_denied);
  EXPECT_EQ(calling.stub.fail("fine"), 1);
}

TEST_P(Servers, OneThatSendsTextsSendsThem) {
  Calling calling(GetParam(), {.error_texts = true});
  const auto how = [&](const char* text) { return failure_of([&] { return calling.stub.fail(text); }); };
  EXPECT_EQ(how("std").message, "boom");
  EXPECT_THAT(how("latin").message, HasSubstr("caf?.txt"));
}

TEST_P(Servers, OnewayCallsRunInTheOrderSent) {
  Calling calling(GetParam());
  constexpr std::int32_t kCalls = 20'000;
  for (std::int32_t i = 0; i < kCalls; ++i) calling.stub.note(i);
  ASSERT_TRUE(eventually([&] { return calling.echo->notes().size() == kCalls; }));
  EXPECT_TRUE(std::ranges::is_sorted(calling.echo->notes()));
}

TEST_P(Servers, LaterCallsStartAfterTheOnewayOnes) {
  Calling calling(GetParam());
  for (int round = 0; round < 20; ++round) {
    calling.stub.note_wait(round, 2);
    (void)calling.stub.twice(1);
    EXPECT_EQ(calling.echo->notes().size(), static_cast<std::size_t>(round + 1));
  }
}

TEST_P(Servers, BatchesOfOnewayCallsKeepTheOrder) {
  Calling calling(GetParam());
  std::vector<calls::EchoNoteRequest> requests;
  for (std::int32_t i = 0; i < 1000; ++i) requests.push_back({.x = i});
  for (const auto& outcome : calling.stub.note_batch(requests, {.size = 100}).results())
    EXPECT_TRUE(outcome.ok());
  for (const auto& outcome : calling.stub.note_bulk(requests)) EXPECT_TRUE(outcome.ok());
  calling.stub.note(2000);
  ASSERT_TRUE(eventually([&] { return calling.echo->notes().size() == 2001; }));
  const auto notes = calling.echo->notes();
  EXPECT_TRUE(std::is_sorted(notes.begin(), notes.begin() + 1000));
  EXPECT_TRUE(std::is_sorted(notes.begin() + 1000, notes.end()));
}

TEST(Server, OnewayCallsOfOneConnectionKeepTheirOrderOverServices) {
  Calling calling;
  const calls::OtherClient other(calling.client);
  for (std::int32_t i = 0; i < 200; ++i) {
    calling.stub.note_wait(i, i % 50 == 0 ? 5 : 0);
    other.note(i);
    if (i % 20 != 0) continue;
    // The other service's call must not have overtaken the slow one.
    EXPECT_EQ(other.name(), "other");
    const std::scoped_lock lock(calling.other->mutex);
    EXPECT_GE(calling.echo->notes().size(), calling.other->notes.size());
  }
}

// The client stays silent: no CANCEL hides the server's check of the clock.
TEST_P(Servers, ExpiredCallsAreNeverRun) {
  Served served(GetParam(), {.workers = 1});
  auto stream = mftest::connect(served.server.address(), 5s);
  Peer peer(mf::protocol::Role::client, std::move(stream).value());
  peer.session.send_hello();
  const auto& service = calls::methods::kEchoService;
  peer.session.send_bind(0, {.fingerprint = service.fingerprint,
                             .service = service.name,
                             .agent = "",
                             .methods = {"wait", "twice"}});
  (void)peer.next(mf::protocol::EventType::bound);
  const auto first = peer.session.send_request({.route = 0}, std::span<const std::byte>(bytes_of(10).span()));
  const auto late = peer.session.send_request({.route = 1, .deadline = mf::protocol::encode_deadline(1us)},
                                              std::span<const std::byte>(bytes_of(1).span()));
  peer.flush();
  std::map<std::uint32_t, Code> ended;
  for (int i = 0; i < 2; ++i) {
    const auto reply = peer.next(mf::protocol::EventType::reply);
    ended[reply.header.id] = reply.header.code();
  }
  EXPECT_EQ(ended, (std::map<std::uint32_t, Code>{{first, Code::ok}, {late, Code::deadline_exceeded}}));
  EXPECT_EQ(served.echo->ran, 1);
}

TEST(Server, CallsThatAreGivenUpBeforeTheyStartAreNeverRun) {
  Served served(mf::Where::worker, {.workers = 1});
  auto stream = mftest::connect(served.server.address(), 5s);
  Peer peer(mf::protocol::Role::client, std::move(stream).value());
  peer.session.send_hello();
  const auto& service = calls::methods::kEchoService;
  peer.session.send_bind(0, {.fingerprint = service.fingerprint,
                             .service = service.name,
                             .agent = "",
                             .methods = {"wait", "twice"}});
  (void)peer.next(mf::protocol::EventType::bound);
  peer.session.send_request({.route = 0}, std::span<const std::byte>(bytes_of(100).span()));
  const auto id = peer.session.send_request({.route = 1}, std::span<const std::byte>(bytes_of(1).span()));
  peer.session.send_cancel(id);
  peer.flush();
  const auto first = peer.next(mf::protocol::EventType::reply);
  EXPECT_EQ(first.header.code(), Code::ok);
  const auto second = peer.next(mf::protocol::EventType::reply);
  EXPECT_EQ(second.header.id, id);
  EXPECT_EQ(second.header.code(), Code::cancelled);
  EXPECT_EQ(served.echo->ran, 1);
}

TEST(Server, RequestsThatAreNotWhatTheSchemaSaysAreAnsweredAndHurtNobody) {
  Served served;
  auto stream = mftest::connect(served.server.address(), 5s);
  Peer peer(mf::protocol::Role::client, std::move(stream).value());
  peer.session.send_hello();
  const auto& service = calls::methods::kEchoService;
  peer.session.send_bind(0, {.fingerprint = service.fingerprint,
                             .service = service.name,
                             .agent = "",
                             .methods = {"twice", "text"}});
  (void)peer.next(mf::protocol::EventType::bound);
  const auto ask = [&](mf::protocol::RequestHead head, std::span<const std::byte> payload) {
    peer.session.send_request(head, payload);
    return peer.next(mf::protocol::EventType::reply).header.code();
  };
  const auto four = bytes_of(1);
  EXPECT_EQ(ask({.route = 0}, four.span()), Code::ok);
  EXPECT_EQ(ask({.route = 0}, four.span().first(3)), Code::decode_error);
  EXPECT_EQ(ask({.route = 0, .tier = mf::Tier::febird}, four.span()), Code::decode_error);
  EXPECT_EQ(ask({.route = 0, .count = 2}, four.span()), Code::decode_error);
  EXPECT_EQ(ask({.route = 0, .count = 4'000'000'000}, four.span()), Code::decode_error);
  EXPECT_EQ(ask({.route = 1, .tier = mf::Tier::febird}, four.span()), Code::decode_error);
  EXPECT_EQ(ask({.route = 7}, four.span()), Code::unknown_method);
  EXPECT_EQ(ask({.route = 0}, four.span()), Code::ok);
}

TEST(Server, ArgumentsThatBreakAConstraintAreRefusedBeforeTheHandler) {
  Served served;
  auto stream = mftest::connect(served.server.address(), 5s);
  Peer peer(mf::protocol::Role::client, std::move(stream).value());
  peer.session.send_hello();
  const auto& service = calls::methods::kEchoService;
  peer.session.send_bind(
      0, {.fingerprint = service.fingerprint, .service = service.name, .agent = "", .methods = {"text"}});
  (void)peer.next(mf::protocol::EventType::bound);
  std::vector<std::byte> long_text(102, std::byte{'a'});
  long_text[0] = std::byte{101};
  peer.session.send_request({.route = 0, .tier = mf::Tier::febird}, std::span<const std::byte>(long_text));
  EXPECT_EQ(peer.next(mf::protocol::EventType::reply).header.code(), Code::invalid_argument);
  // Of several items only the bad one is refused.
  auto two = long_text;
  two.push_back(std::byte{1});
  two.push_back(std::byte{'x'});
  peer.session.send_request({.route = 0, .tier = mf::Tier::febird, .count = 2},
                            std::span<const std::byte>(two));
  const auto mixed = peer.next(mf::protocol::EventType::reply);
  ASSERT_EQ(mixed.header.status(), mf::protocol::kStatusMixed);
  EXPECT_EQ(static_cast<Code>(mixed.payload.at(0)), Code::invalid_argument);
  EXPECT_EQ(static_cast<Code>(mixed.payload.at(1)), Code::ok);
  EXPECT_EQ(served.echo->ran, 1);
}

TEST(Server, SaysWhatItDoesNotOffer) {
  Calling calling;
  const calls::PartClient part(calling.client);
  EXPECT_EQ(part.at("books").name(), "books");
  const auto agent = failure_of([&] { return part.at("films").name(); });
  EXPECT_EQ(agent.code, Code::unknown_agent);
  EXPECT_THAT(agent.message, testing::AllOf(HasSubstr("books"), HasSubstr("films")));
  mf::Server empty;
  empty.start();
  mf::Client client(empty.address().str());
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(client).twice(1); }).code, Code::unknown_service);
}

TEST(Server, OffersThatDoNotFitAreRefused) {
  mf::Server server;
  const auto offer = [&](std::shared_ptr<mf::Servant> servant, std::string agent) {
    return failure_of([&] {
             server.offer(std::move(servant), {.agent = std::move(agent)});
             return 0;
           })
        .code;
  };
  EXPECT_EQ(offer(std::make_shared<Echo>(), ""), Code::ok);
  EXPECT_EQ(offer(std::make_shared<Echo>(), ""), Code::invalid_argument);
  EXPECT_EQ(offer(std::make_shared<Echo>(), "x"), Code::invalid_argument);
  EXPECT_EQ(offer(std::make_shared<Part>("p"), ""), Code::invalid_argument);
  EXPECT_EQ(offer(std::make_shared<Part>("p"), "a"), Code::ok);
  EXPECT_EQ(offer(std::make_shared<Part>("p"), "b"), Code::ok);
  EXPECT_EQ(offer(std::make_shared<Part>("p"), "\xff"), Code::invalid_argument);
  EXPECT_EQ(offer(std::make_shared<Part>("p"), std::string(1'025, 'x')), Code::ok);
}

TEST(Server, AnAgentThatNoControllerTakesIsRefusedWhereOneIsTold) {
  mf::Server server({.controller = "mf://127.0.0.1:1"});
  const auto failure = failure_of(
      [&] { return server.offer(std::make_shared<Part>("p"), {.agent = std::string(1'025, 'x')}), 0; });
  EXPECT_THAT(failure.message, HasSubstr("agents of at most 1024 bytes, not 1025"));
}

TEST(Server, LabelsThatNoControllerTakesAreRefused) {
  mf::Server server;
  const auto offer = [&](std::map<std::string, std::string> labels) {
    return failure_of(
               [&] { return server.offer(std::make_shared<Echo>(), {.labels = std::move(labels)}), 0; })
        .message;
  };
  std::map<std::string, std::string> many;
  for (int i = 0; i < 17; ++i) many[std::to_string(i)];
  EXPECT_THAT(offer(many), HasSubstr("at most 16 labels, not 17"));
  EXPECT_THAT(offer({{"", ""}}), HasSubstr("a label has 1 to 64 bytes"));
  EXPECT_THAT(offer({{std::string(65, 'x'), ""}}), HasSubstr("a label has 1 to 64 bytes"));
  EXPECT_THAT(offer({{"x", std::string(1'025, 'x')}}), HasSubstr("its text at most 1024"));
}

TEST(Server, StopFinishesWhatIsInFlightAndRefusesTheRest) {
  struct Held final : Echo {
    void wait(std::uint32_t /*ms*/) override {
      ++ran;
      may_end.acquire();
    }
    std::binary_semaphore may_end{0};
  };
  const auto held = std::make_shared<Held>();
  mf::Server server;
  server.offer(held, {.where = mf::Where::worker});
  server.start();
  mf::Client client(server.address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::thread long_call([&] { EXPECT_NO_THROW(stub.wait(0)); });
  EXPECT_TRUE(eventually([&] { return held->ran == 2; }));
  std::thread stopping([&] { server.stop(); });
  EXPECT_TRUE(eventually([&] {
    const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 1s}); });
    if (failure.code == Code::ok) return false;
    EXPECT_EQ(failure.execution, Execution::not_executed) << failure.message;
    return true;
  }));
  held->may_end.release();
  long_call.join();
  stopping.join();
}

TEST(Server, StopDoesNotWaitForeverAndAnswersWhatItDrops) {
  Calling calling(mf::Where::worker, {.workers = 1, .drain_timeout = 50ms});
  EXPECT_EQ(calling.stub.twice(1), 2);
  std::thread running([&] { (void)failure_of([&] { return calling.stub.wait(300), 0; }); });
  ASSERT_TRUE(eventually([&] { return calling.echo->ran == 2; }));
  std::atomic<int> refused{0};
  for (int i = 0; i < 5; ++i) {
    calling.stub.async_twice(1, [&](mf::Outcome<std::int32_t> outcome) {
      ASSERT_FALSE(outcome.ok());
      EXPECT_EQ(outcome.failure().execution, Execution::not_executed) << outcome.failure().message;
      ++refused;
    });
  }
  calling.stub.note(1);
  std::this_thread::sleep_for(20ms);
  calling.server.stop();
  running.join();
  EXPECT_TRUE(eventually([&] { return refused == 5; }));
  EXPECT_EQ(calling.echo->ran, 2);
}

TEST(Server, AHandlerMayStopItsServer) {
  struct Stopper final : Other {
    std::string name() override {
      server->stop();
      return "stopped";
    }
    mf::Server* server = nullptr;
  };
  const auto stopper = std::make_shared<Stopper>();
  mf::Server server({.drain_timeout = 50ms});
  stopper->server = &server;
  server.offer(stopper);
  server.start();
  const auto address = server.address();
  mf::Client client(address.str());
  const auto ended = failure_of([&] { return calls::OtherClient(client).name({.deadline = 5s}); });
  // Its answer is sent before the connection ends, or the connection ends first; nothing waits for the
  // deadline.
  EXPECT_THAT(ended.code, testing::AnyOf(Code::ok, Code::connection_lost, Code::shutting_down));
  server.stop();
  EXPECT_FALSE(mftest::connect(address, 5s).ok());  // no process listens there any more
}

TEST(Server, ASecondServerOnATakenPortSaysSo) {
  Served served;
  for (int i = 0; i < 2; ++i) {
    mf::Server second({.listen = served.url()});
    const auto failure = failure_of([&] {
      if (i == 0) {
        second.start();
      } else {
        second.run();
      }
      return 0;
    });
    EXPECT_EQ(failure.code, Code::unavailable);
    EXPECT_THAT(failure.message, HasSubstr("taken"));
  }
}

TEST(Server, TheSamePortCanBeListenedAtAgainAfterStop) {
  mf::Server first;
  first.start();
  const auto url = first.address().str();
  mf::Client client(url);
  (void)failure_of([&] { return calls::EchoClient(client).twice(1); });
  first.stop();
  mf::Server second({.listen = url});
  EXPECT_NO_THROW(second.start());
}

TEST(Server, TwoServersOfOneProcessKeepApart) {
  Calling one;
  Calling two;
  EXPECT_EQ(one.stub.twice(1), 2);
  EXPECT_EQ(two.stub.twice(1), 2);
  one.server.stop();
  EXPECT_EQ(two.stub.twice(2), 4);
  EXPECT_EQ(one.echo->ran, 1);
  EXPECT_EQ(two.echo->ran, 2);
}

TEST(Server, ConnectionsAreSpreadOverItsIoThreads) {
  struct Who final : Other {
    std::string name() override {
      const std::scoped_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
      return "";
    }
    std::mutex mutex;
    std::set<std::thread::id> threads;
  };
  const auto who = std::make_shared<Who>();
  mf::Server server({.io_threads = 3});
  server.offer(who, {.where = mf::Where::io_thread});
  server.start();
  for (int i = 0; i < 6; ++i) {
    mf::Client client(server.address().str());
    const calls::OtherClient stub(client);
    (void)stub.name();
    (void)stub.name();
  }
  server.stop();
  EXPECT_EQ(who->threads.size(), 3U);
}

TEST(Server, MayListenAtSeveralAddresses) {
  const auto path = std::filesystem::temp_directory_path() / ("mf-server-" + std::to_string(::getpid()));
  mf::ServerOptions options;
  options.listen = "tcp://127.0.0.1:0,unix:" + path.string();
  Served served(mf::Where::worker, options);
  const auto addresses = served.server.addresses();
  ASSERT_EQ(addresses.size(), 2U);
  EXPECT_EQ(addresses.front(), served.server.address());
  for (const auto& address : addresses) {
    mf::Client client(address.str());
    EXPECT_EQ(calls::EchoClient(client).twice(21), 42) << address.str();
  }
  served.server.stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Server, RefusesWindowsThatAreTooLargeTogether) {
  mf::Server server({.max_streams = 4096, .stream_window = 1U << 30});
  EXPECT_THAT(failure_of([&] { server.start(); }).message, testing::HasSubstr("may take 8388608 bytes"));
}

TEST(Server, NeedsAnIoThread) {
  mf::Server server({.io_threads = 0});
  EXPECT_THAT(failure_of([&] { server.start(); }).message, testing::HasSubstr("io_threads"));
}

TEST(Server, ABlockingCallInsideAnInlineHandlerIsServed) {
  struct Nested final : Other {
    explicit Nested(std::string url) : client(url), stub(client) {}
    std::string name() override { return std::to_string(stub.twice(21)); }
    mf::Client client;
    calls::EchoClient stub;
  };
  Served backend(mf::Where::io_thread);
  mf::Server front;
  front.offer(std::make_shared<Nested>(backend.url()), {.where = mf::Where::io_thread});
  front.start();
  mf::Client client(front.address().str());
  const calls::OtherClient stub(client);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (stub.name() == "42") ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

TEST(Server, AHandlerThatLooksForAServerKeepsNobodyFromBeingServed) {
  struct Looking final : Other {
    std::string name() override {
      looks = true;
      return std::to_string(calls::EchoClient(client).twice(21, {.deadline = std::chrono::minutes(1)}));
    }
    std::shared_ptr<FakeResolver> resolver = std::make_shared<FakeResolver>();  // has no offers yet
    mf::Client client{resolver};
    std::atomic<bool> looks{false};
  };
  Served backend;
  const auto looking = std::make_shared<Looking>();
  mf::Server front;
  front.offer(looking, {.where = mf::Where::io_thread});
  front.offer(std::make_shared<Echo>(), {.where = mf::Where::io_thread});
  front.start();
  mf::Client client(front.address().str());
  std::string found;
  std::thread asking([&] { found = calls::OtherClient(client).name({.deadline = std::chrono::minutes(1)}); });
  EXPECT_TRUE(eventually([&] { return looking->looks.load(); }));
  EXPECT_EQ(calls::EchoClient(client).twice(1), 2);
  auto offers = answered();
  offers.agents[""].push_back({.address = backend.server.address()});
  looking->resolver->set(offers);
  asking.join();
  EXPECT_EQ(found, "42");
}

class Later final : public calls::EchoAsyncServant {
 public:
  ~Later() override {
    for (auto& thread : threads_) thread.join();
  }
  void twice(calls::EchoTwiceRequest request, mf::Responder<std::int32_t> responder) override {
    later([x = request.x, responder = std::move(responder)]() mutable { responder.respond(2 * x); });
  }
  void text(calls::EchoTextRequest request, mf::Responder<std::string> responder) override {
    responder.respond(std::move(request.value));
  }
  void blob(calls::EchoBlobRequest, mf::Responder<mf::Bytes> responder) override {
    const auto dropped = std::move(responder);
  }
  void fail(calls::EchoFailRequest request, mf::Responder<std::int32_t> responder) override {
    if (request.how == "std") throw std::runtime_error("boom");
    if (request.how == "many") throw calls::TooMany(7);
    if (request.how == "denied") throw mf::Error(Code::permission_denied, Execution::not_executed, "not you");
    if (request.how == "caught") {
      try {
        const auto dropped = std::move(responder);
        throw std::runtime_error("mine");
      } catch (const std::runtime_error&) {
        return;
      }
    }
    later([responder = std::move(responder)]() mutable { responder.respond(calls::Nope("later")); });
  }
  void wait(calls::EchoWaitRequest, mf::Responder<void> responder) override { responder.respond({}); }
  void again(calls::EchoAgainRequest request, mf::Responder<std::int32_t> responder) override {
    responder.respond(request.x);
    responder.respond(0);
  }
  void even(calls::EchoEvenRequest request, mf::Responder<bool> responder) override {
    responder.respond(request.x % 2 == 0);
  }
  void both(calls::EchoBothRequest request, mf::Responder<calls::EchoBothResult> responder) override {
    responder.respond(calls::EchoBothResult{.plus = request.x + 1, .minus = request.x - 1});
  }
  void note(calls::EchoNoteRequest) override { ++notes; }
  void note_wait(calls::EchoNoteWaitRequest) override { throw std::runtime_error("boom"); }

  std::atomic<int> notes{0};

 private:
  void later(mf::UniqueFunction<void()> work) {
    const std::scoped_lock lock(mutex_);
    threads_.emplace_back([work = std::move(work)]() mutable { work(); });
  }
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

TEST(Server, AnAsynchronousServantAnswersWhenItIsReady) {
  const auto servant = std::make_shared<Later>();
  mf::Server server;
  server.offer(servant);
  server.start();
  mf::Client client(server.address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(4), 8);
  EXPECT_EQ(stub.text("x"), "x");
  EXPECT_EQ(stub.again(3), 3);
  EXPECT_TRUE(stub.even(4));
  EXPECT_THROW(stub.fail("nope"), calls::Nope);
  const auto how = [&](const char* text) { return failure_of([&] { return stub.fail(text); }); };
  EXPECT_THAT(how("std").message, HasSubstr("with the reference "));
  EXPECT_EQ(how("denied").code, Code::permission_denied);
  EXPECT_THAT(how("caught").message, HasSubstr("gave up"));
  const auto thrown = stub.fail_bulk(std::vector<calls::EchoFailRequest>{{"many"}, {"nope"}, {"std"}});
  EXPECT_EQ(thrown.at(0).error_as<calls::TooMany>()->limit, 7U);
  EXPECT_NE(thrown.at(1).error_as<calls::Nope>(), nullptr);
  EXPECT_EQ(thrown.at(2).failure().code, Code::handler_failed);
  EXPECT_EQ(failure_of([&] { return stub.blob({}); }).code, Code::handler_failed);
  std::vector<calls::EchoTwiceRequest> requests;
  for (int i = 0; i < 50; ++i) requests.push_back({.x = i});
  const auto outcomes = stub.twice_bulk(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(outcomes.at(static_cast<std::size_t>(i)).value(), 2 * i);
  stub.note(1);
  stub.note_wait(1, 1);
  stub.note(1);
  EXPECT_TRUE(eventually([&] { return servant->notes == 2; }));
}

TEST(Server, TellsWhoHasGone) {
  std::atomic<std::uint64_t> gone{0};
  mf::Server server({.on_disconnect = [&](std::uint64_t connection) { gone = connection; }});
  struct Who final : Other {
    std::string name() override { return std::to_string(mf::current_call().connection); }
  };
  server.offer(std::make_shared<Who>());
  server.start();
  std::uint64_t me = 0;
  {
    mf::Client client(server.address().str());
    me = std::stoull(calls::OtherClient(client).name());
  }
  EXPECT_TRUE(eventually([&] { return gone == me; }));
}

TEST(Server, ManyClientsComeAndGo) {
  Served served;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        mf::Client client(served.url());
        const calls::EchoClient stub(client);
        for (int i = 0; i < 20; ++i)
          if (stub.twice(i) == 2 * i) ++right;
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 160);
  }
}

}  // namespace
}  // namespace mftest::server_test
