#include "mf/light/light.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "support/joined.hpp"

namespace mftest::light_test {
namespace {

using mf::Code;
using mf::Execution;
using namespace std::chrono_literals;

struct Lit {
  Lit() {
    light.offer(echo);
    light.offer(std::make_shared<Part>("books"), {.agent = "books"});
    light.offer(std::make_shared<Part>("news"), {.agent = "news"});
  }
  mf::Light light;
  std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  mf::Client client{light};
  calls::EchoClient stub{client};
};

TEST(Light, TheSameStubsCallOnTheCallersThread) {
  Lit lit;
  EXPECT_EQ(lit.stub.twice(21), 42);
  EXPECT_EQ(lit.stub.text("x"), "x");
  EXPECT_EQ(lit.stub.both(1).minus, 0);
  EXPECT_TRUE(lit.stub.even(2));
  lit.stub.note(3);
  EXPECT_EQ(lit.echo->notes(), std::vector<std::int32_t>{3});
  const calls::PartClient part(lit.client);
  EXPECT_EQ(part.at("news").name(), "news");
  EXPECT_EQ(part.name(), "books");
}

TEST(Light, HandlersEndAsTheyDoAcrossHosts) {
  Lit lit;
  const auto how = [&](const char* text) { return failure_of([&] { return lit.stub.fail(text); }); };
  EXPECT_THROW(lit.stub.fail("nope"), calls::Nope);
  for (const char* text : {"std", "int", "other", "nested"}) {
    EXPECT_EQ(how(text).code, Code::handler_failed) << text;
    EXPECT_EQ(how(text).execution, Execution::unknown) << text;
  }
  EXPECT_EQ(how("denied").code, Code::permission_denied);
}

TEST(Light, ConstraintsAreChecked) {
  Lit lit;
  const auto failure = failure_of([&] { return lit.stub.text(std::string(65, 'x')); });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_EQ(lit.echo->ran, 0);
}

TEST(Light, ADeadlineThatHasPassedKeepsTheHandlerFromStarting) {
  Lit lit;
  EXPECT_EQ(failure_of([&] { return lit.stub.twice(1, {.deadline = 0ns}); }).code, Code::deadline_exceeded);
  EXPECT_EQ(lit.echo->ran, 0);
}

TEST(Light, AsynchronousCallsEndWithTheirOwnFailures) {
  Lit lit;
  mf::Outcome<std::int32_t> outcome;
  lit.stub.async_twice(2, [&](mf::Outcome<std::int32_t> ended) { outcome = std::move(ended); });
  EXPECT_EQ(outcome.value(), 4);
  lit.stub.async_twice(2, {.deadline = 0ns},
                       [&](mf::Outcome<std::int32_t> ended) { outcome = std::move(ended); });
  EXPECT_EQ(outcome.failure().code, Code::deadline_exceeded);
  EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
}

TEST(Light, HandlersKnowThatTheirCallWasGivenUpOrTheOneAroundIt) {
  struct Asking final : Other {
    std::string name() override {
      std::string said = mf::current_call().cancelled() ? "given up, " : "wanted, ";
      stop.request_stop();
      return said + (mf::current_call().cancelled() ? "given up" : "wanted");
    }
    std::stop_source stop;
  };
  struct Around final : Part {
    explicit Around(std::function<std::string()> to) : Part("a"), inner(std::move(to)) {}
    std::string name() override { return inner(); }
    std::function<std::string()> inner;
  };
  mf::Light light;
  const auto asking = std::make_shared<Asking>();
  light.offer(asking);
  mf::Client client(light);
  const calls::OtherClient other(client);
  light.offer(std::make_shared<Around>([&] { return other.name(); }), {.agent = "a"});
  const calls::PartClient around(client);

  EXPECT_EQ(other.name(), "wanted, wanted");  // no call listens to that stop
  asking->stop = std::stop_source();
  EXPECT_EQ(other.name({.stop = asking->stop.get_token()}), "wanted, given up");
  asking->stop = std::stop_source();
  EXPECT_EQ(around.at("a").name({.stop = asking->stop.get_token()}), "wanted, given up");
}

TEST(Light, BatchesHaveAnOutcomeForEachItem) {
  Lit lit;
  const std::vector<calls::EchoFailRequest> requests{
      {.how = "fine"}, {.how = "nope"}, {.how = "std"}, {.how = "fine"}};
  for (const auto& outcomes : {lit.stub.fail_batch(requests).results(), lit.stub.fail_bulk(requests)}) {
    ASSERT_EQ(outcomes.size(), 4U);
    EXPECT_EQ(outcomes[0].value(), 1);
    EXPECT_NE(outcomes[1].error_as<calls::Nope>(), nullptr);
    EXPECT_EQ(outcomes[2].failure().code, Code::handler_failed);
    EXPECT_EQ(outcomes[3].value(), 1);
  }
}

TEST(Light, NoOutcomeOfABatchHandlerThatMiscountsCounts) {
  mf::Light light;
  light.offer(std::make_shared<Miscounting>());
  mf::Client client(light);
  for (const std::size_t items : {1U, 3U}) {
    for (const auto& outcome :
         calls::EchoClient(client).even_bulk(std::vector<calls::EchoEvenRequest>(items)))
      EXPECT_EQ(outcome.failure().code, Code::handler_failed) << items;
  }
}

TEST(Light, AScatterNamesEachAgentsEnd) {
  Lit lit;
  const calls::PartClient part(lit.client);
  const auto on = part.on({"books", "films", "news"}).name();
  ASSERT_EQ(on.size(), 3U);
  EXPECT_EQ(on[0].outcome.value(), "books");
  EXPECT_EQ(on[1].outcome.failure().code, Code::unknown_agent);
  EXPECT_EQ(on[1].outcome.failure().message,
            "nothing in this process offers mftest.calls.Part for agent \"films\"; "
            "known agents: \"books\", \"news\"");
  EXPECT_EQ(on[2].outcome.value(), "news");
  const auto all = part.everywhere().fail();
  ASSERT_EQ(all.size(), 2U);
  for (const auto& one : all) EXPECT_EQ(one.outcome.error_as<calls::Nope>()->why, one.agent);
}

class Lingering final : public calls::PartServant {
 public:
  explicit Lingering(std::atomic<int>& begun) : begun_(begun) {}
  std::string name() override {
    ++begun_;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait(lock, mf::current_call().stop_token(), [] { return false; });
    return "";
  }
  void fail() override {}

 private:
  std::atomic<int>& begun_;
};

TEST(Light, TheDeadlineOfAScatterIsThatOfTheWhole) {
  std::atomic<int> begun{0};
  mf::Light light;
  for (const char* agent : {"books", "news"})
    light.offer(std::make_shared<Lingering>(begun), {.agent = agent});
  mf::Client client(light);
  const auto ends = calls::PartClient(client).on({"books", "news"}).name({.deadline = 50ms});
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[1].outcome.failure().code, Code::deadline_exceeded);
  EXPECT_EQ(begun, 1);
}

TEST(Light, WhatIsNotOfferedIsUnknownAsItIsAtAServer) {
  mf::Light light;
  mf::Client client(light);
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(client).twice(1); }).code, Code::unknown_service);
}

class Slow final : public calls::OtherAsyncServant {
 public:
  ~Slow() override {
    if (thread.joinable()) thread.join();
  }
  void note(calls::OtherNoteRequest request) override {
    if (request.x < 0) throw std::runtime_error("boom");
    ++notes;
  }
  void name(calls::OtherNameRequest, mf::Responder<std::string> responder) override {
    if (notes < 0) throw std::runtime_error("boom");
    if (thread.joinable()) thread.join();
    thread = std::thread([responder = std::move(responder), this]() mutable {
      std::this_thread::sleep_for(pause);
      responder.respond(std::string("slow"));
    });
  }
  std::atomic<int> notes{0};
  std::chrono::milliseconds pause{1};
  std::thread thread;
};

TEST(Light, AnAsynchronousServantIsWaitedForUntilTheDeadline) {
  mf::Light light;
  const auto slow = std::make_shared<Slow>();
  light.offer(slow);
  mf::Client client(light);
  const calls::OtherClient stub(client);
  EXPECT_EQ(stub.name(), "slow");
  const std::vector<calls::OtherNameRequest> two(2);
  for (const auto& outcome : stub.name_bulk(two)) EXPECT_EQ(outcome.value(), "slow");
  stub.note(1);
  EXPECT_NO_THROW(stub.note(-1));
  const std::vector<calls::OtherNoteRequest> notes{{.x = 1}, {.x = 2}};
  EXPECT_EQ(stub.note_bulk(notes).size(), 2U);
  EXPECT_EQ(slow->notes, 3);
  slow->pause = 100ms;
  EXPECT_EQ(failure_of([&] { return stub.name({.deadline = 5ms}); }).code, Code::deadline_exceeded);
  slow->notes = -1;
  EXPECT_EQ(failure_of([&] { return stub.name(); }).message, "boom");
}

TEST(Light, OffersThatDoNotFitAreRefused) {
  mf::Light light;
  light.offer(std::make_shared<Echo>());
  EXPECT_THROW(light.offer(std::make_shared<Echo>()), mf::Error);
  EXPECT_THROW(light.offer(std::make_shared<Part>("p")), mf::Error);
  EXPECT_THROW(light.offer(std::make_shared<Other>(), {.agent = "x"}), mf::Error);
  EXPECT_THROW(light.offer(std::make_shared<Part>("p"), {.agent = "\xff"}), mf::Error);
}

}  // namespace
}  // namespace mftest::light_test
