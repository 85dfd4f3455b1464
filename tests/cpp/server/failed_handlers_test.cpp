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
    EXPECT_TRUE(calling.log->has(" identity=none trace_id=\"\" reference="));
    EXPECT_TRUE(calling.log->has(" calls=1 what=boom"));
  }
}

/// The reference that a caller got; empty: none.
std::string reference_in(const std::string& message) {
  constexpr std::string_view kBefore = "with the reference ";
  const auto at = message.find(kBefore);
  return at == std::string::npos ? "" : message.substr(at + kBefore.size());
}

/// The text does not leave the server, and the log has it with what the caller got.
void expect_hidden(const mf::Failure& failure, const KeptLog& log, const std::string& text) {
  EXPECT_EQ(failure.code, mf::Code::handler_failed);
  EXPECT_EQ(failure.message.find(text), std::string::npos) << failure.message;
  const auto reference = reference_in(failure.message);
  EXPECT_EQ(reference.size(), 8U) << failure.message;
  EXPECT_TRUE(log.has("reference=" + reference + " ")) << reference;
}

TEST(FailedHandlers, GiveTheirCallersAReferenceInPlaceOfTheText) {
  for (const auto where : {mf::Where::worker, mf::Where::io_thread}) {
    Calling calling(where);
    expect_hidden(failure_of([&] { return calling.stub.fail("std"); }), *calling.log, "boom");
    const std::vector<calls::EchoFailRequest> requests{{"fine"}, {"std"}};
    expect_hidden(calling.stub.fail_bulk(requests).at(1).failure(), *calling.log, "boom");
    expect_hidden(calling.stub.fail_batch(requests).results().at(1).failure(), *calling.log, "boom");
    expect_hidden(failure_of([&] { return calling.stub.fail("nested"); }), *calling.log, "nested");
  }
}

TEST(FailedHandlers, ThatAnswerLaterGiveAReferenceToo) {
  ServedLater served;
  const calls::EchoClient stub(*served.client);
  expect_hidden(failure_of([&] { return stub.fail("now"); }), *served.log, "boom");
  expect_hidden(failure_of([&] { return stub.fail("later"); }), *served.log, "boom");
}

TEST(FailedHandlers, HaveOneReferenceForOneText) {
  Calling calling;
  const auto first = failure_of([&] { return calling.stub.fail("std"); }).message;
  EXPECT_EQ(failure_of([&] { return calling.stub.fail("std"); }).message, first);
  EXPECT_NE(failure_of([&] { return calling.stub.fail("int"); }).message, first);
  EXPECT_EQ(calling.log->warnings(), 2);
}

TEST(FailedHandlers, AreLoggedWithTheTraceOfTheirCaller) {
  Calling calling;
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  mf::CallOptions traced;
  traced.metadata.set("traceparent", "00-" + trace + "-00f067aa0ba902b7-01");
  (void)failure_of([&] { return calling.stub.fail("std", traced); });
  EXPECT_TRUE(calling.log->has(" trace_id=" + trace + " reference="));
}

TEST(FailedHandlers, WithoutALineHaveNoReference) {
  const auto log = std::make_shared<KeptLog>();
  mf::Server server({.log = mf::Log(log, mf::Level::error)});
  server.offer(std::make_shared<Echo>());
  server.start();
  mf::Client client(server.address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(failure_of([&] { return stub.fail("std"); }).message,
            "the handler has failed: the log of its server counts it");
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
  EXPECT_EQ(failure_of([&] { return stub.fail("std"); }).message, "boom") << "it stays in the process";
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
