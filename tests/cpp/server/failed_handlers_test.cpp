// The lines that a server logs about handlers that fail.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "mf/light/light.hpp"
#include "support/joined.hpp"

namespace mftest::failed_handlers_test {
namespace {

/// Fails as Echo does, and answers later for "later".
class FailingLater final : public calls::EchoAsyncServant {
 public:
  void twice(calls::EchoTwiceRequest, mf::Responder<std::int32_t>) override {}
  void text(calls::EchoTextRequest, mf::Responder<std::string>) override {}
  void blob(calls::EchoBlobRequest, mf::Responder<mf::Bytes>) override {}
  void fail(calls::EchoFailRequest request, mf::Responder<std::int32_t> responder) override {
    if (request.how == "later") {
      answer = std::async(std::launch::async, [responder = std::move(responder)]() mutable {
        responder.respond(mf::outcome_of([]() -> std::int32_t { throw std::runtime_error("late boom"); }));
      });
      return;
    }
    throw std::runtime_error("boom");
  }
  void wait(calls::EchoWaitRequest, mf::Responder<void>) override {}
  void again(calls::EchoAgainRequest, mf::Responder<std::int32_t>) override {}
  void even(calls::EchoEvenRequest, mf::Responder<bool>) override {}
  void both(calls::EchoBothRequest, mf::Responder<calls::EchoBothResult>) override {}
  void note(calls::EchoNoteRequest) override {}
  void note_wait(calls::EchoNoteWaitRequest) override {}

  std::future<void> answer;
};

struct ServedLater {
  ServedLater() {
    server.offer(servant);
    server.start();
    client.emplace(server.address().str());
  }

  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
  std::shared_ptr<FailingLater> servant = std::make_shared<FailingLater>();
  mf::Server server{{.log = mf::Log(log)}};
  std::optional<mf::Client> client;
};

TEST(FailedHandlers, AreLoggedWithMethodPeerAndReason) {
  for (const auto where : {mf::Where::worker, mf::Where::io_thread}) {
    Calling calling(where);
    EXPECT_EQ(failure_of([&] { return calling.stub.fail("std"); }).code, mf::Code::handler_failed);
    EXPECT_TRUE(
        calling.log->has("handler_failed service=mftest.calls.Echo method=fail agent=\"\" peer=tcp://"));
    EXPECT_TRUE(calling.log->has(" identity=none calls=1 what=boom"));
  }
}

TEST(FailedHandlers, AreLoggedWithTheirAgentOnceASecond) {
  class BrokenPart final : public calls::PartServant {
   public:
    std::string name() override { return {}; }
    void fail() override { throw std::runtime_error("broken"); }
  };
  const auto log = std::make_shared<KeptLog>();
  mf::Server server({.log = mf::Log(log)});
  server.offer(std::make_shared<BrokenPart>(), {.agent = "news"});
  server.start();
  mf::Client client(server.address().str());
  const auto part = calls::PartClient(client).at("news");
  EXPECT_EQ(failure_of([&] { part.fail(); }).code, mf::Code::handler_failed);
  EXPECT_TRUE(log->has("method=fail agent=news"));
  EXPECT_TRUE(eventually([&] {
    (void)failure_of([&] { part.fail(); });
    return log->warnings() == 2;
  })) << "the calls since are counted by the next line";
  EXPECT_FALSE(log->has("calls=0"));
}

TEST(FailedHandlers, ThatMeantTheirErrorForTheCallerAreNotLogged) {
  Calling calling;
  EXPECT_EQ(failure_of([&] { return calling.stub.fail("denied"); }).code, mf::Code::permission_denied);
  EXPECT_EQ(failure_of([&] { return calling.stub.fail("nope"); }).code, mf::Code::declared);
  EXPECT_FALSE(calling.log->has("handler_failed"));
}

TEST(FailedHandlers, WhoseCallersHaveCancelledAreNotLogged) {
  class Waiting final : public calls::PartServant {
   public:
    std::string name() override { return {}; }
    void fail() override {
      begun = true;
      const auto& call = mf::current_call();
      EXPECT_TRUE(eventually([&] { return call.cancelled(); }));
      throw std::runtime_error("the caller is gone");
    }
    std::atomic<bool> begun{false};
  };
  const auto log = std::make_shared<KeptLog>();
  const auto servant = std::make_shared<Waiting>();
  mf::Server server({.log = mf::Log(log)});
  server.offer(servant, {.agent = "news"});
  server.start();
  mf::Client client(server.address().str());
  std::stop_source source;
  auto code = std::async(std::launch::async, [&] {
    return failure_of([&] { calls::PartClient(client).at("news").fail({.stop = source.get_token()}); }).code;
  });
  ASSERT_TRUE(eventually([&] { return servant->begun.load(); }));
  source.request_stop();
  EXPECT_EQ(code.get(), mf::Code::cancelled);
  server.stop();
  EXPECT_FALSE(log->has("handler_failed"));
}

TEST(FailedHandlers, OfBatchesAreLoggedToo) {
  Calling calling;
  const std::vector<calls::EchoFailRequest> requests{{"fine"}, {"other"}};
  EXPECT_FALSE(calling.stub.fail_bulk(requests).at(1).ok());
  EXPECT_TRUE(calling.log->has("handler_failed"));
  EXPECT_TRUE(calling.log->has("does not declare"));
}

TEST(FailedHandlers, OfAsynchronousServantsAreLoggedWhenTheyAnswer) {
  for (const std::string how : {"now", "later"}) {
    ServedLater served;
    const calls::EchoClient stub(*served.client);
    EXPECT_EQ(failure_of([&] { return stub.fail(how); }).code, mf::Code::handler_failed);
    EXPECT_TRUE(served.log->has("handler_failed service=mftest.calls.Echo method=fail")) << how;
    EXPECT_TRUE(served.log->has("boom")) << how;
  }
}

TEST(FailedHandlers, InTheProcessAreLoggedToo) {
  const auto log = std::make_shared<KeptLog>();
  mf::Light light{mf::Log(log)};
  light.offer(std::make_shared<Echo>());
  mf::Client client(light);
  const calls::EchoClient stub(client);
  EXPECT_EQ(failure_of([&] { return stub.fail("std"); }).code, mf::Code::handler_failed);
  EXPECT_TRUE(log->has("handler_failed service=mftest.calls.Echo method=fail agent=\"\" peer=light:"));
  EXPECT_TRUE(log->has("what=boom"));
}

TEST(FailedHandlers, OfOnewayItemsAreLogged) {
  class Careless final : public Echo {
   public:
    void note(std::int32_t x) override {
      if (x == 7) throw std::runtime_error("seven");
      Echo::note(x);
    }
  };
  const auto log = std::make_shared<KeptLog>();
  mf::Server server({.log = mf::Log(log)});
  const auto servant = std::make_shared<Careless>();
  server.offer(servant);
  server.start();
  mf::Client client(server.address().str());
  const calls::EchoClient stub(client);
  const std::vector<calls::EchoNoteRequest> requests{{.x = 7}, {.x = 8}};
  (void)stub.note_bulk(requests);
  EXPECT_TRUE(eventually([&] { return servant->notes().size() == 1; })) << "the other item runs";
  EXPECT_TRUE(eventually([&] { return log->has("oneway_failed"); }));
  EXPECT_TRUE(log->has("seven"));
}

}  // namespace
}  // namespace mftest::failed_handlers_test
