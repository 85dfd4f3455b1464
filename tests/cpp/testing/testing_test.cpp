// The guarantees of mf::testing for tests of programs: channels, a clock, faults, a controller, a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "mf/testing/channel.hpp"
#include "mf/testing/clock.hpp"
#include "mf/testing/controller.hpp"
#include "mf/testing/faults.hpp"
#include "mf/testing/script.hpp"
#include "mftest/calls.client.hpp"
#include "mftest/kept.client.hpp"
#include "support/echo.hpp"
#include "support/wait.hpp"

namespace mftest::testing_test {
namespace {

using mf::Code;
using mf::Execution;
using mf::testing::Channel;
using mf::testing::FakeClock;
using mf::testing::FakeController;
using mf::testing::Operation;
using mf::testing::Recorder;
using mf::testing::Script;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;
using namespace calls::methods;

/// What a call failed with.
template <class Call>
mf::Error failed(Call call) {
  try {
    call();
  } catch (const mf::Error& error) {
    return error;
  }
  throw std::runtime_error("the call did not fail");
}

TEST(Channel, CarriesCallsOfAllKindsInMemory) {
  const auto echo = std::make_shared<Echo>();
  Channel channel(echo);
  const calls::EchoClient stub(channel.client());
  EXPECT_EQ(stub.twice(4), 8);
  EXPECT_THROW(stub.fail("nope"), calls::Nope);
  stub.note(1);
  stub.note(2);
  EXPECT_EQ(stub.again(3), 3);
  EXPECT_THAT(echo->notes(), ElementsAre(1, 2));
  const std::vector<calls::EchoTwiceRequest> requests{{.x = 1}, {.x = 2}};
  EXPECT_EQ(stub.twice_bulk(requests)[1].value(), 4);
}

TEST(Channel, TakesMoreClientsAtItsAddress) {
  Channel channel(std::make_shared<Echo>());
  mf::Client another(channel.address());
  EXPECT_EQ(calls::EchoClient(another).twice(1), 2);
  EXPECT_EQ(calls::EchoClient(channel.client()).twice(2), 4);
  EXPECT_EQ(channel.server().stats().connections.open, 2U);
}

TEST(Channel, OfNobodyIsRefusedInWords) {
  mf::Client client("memory:nobody");
  const auto error = failed([&] { calls::EchoClient(client).twice(1, {.deadline = 50ms}); });
  EXPECT_THAT(error.what(), HasSubstr("connect memory:nobody: connection refused"));
}

TEST(Channel, ANameIsListenedAtByOneServer) {
  Channel channel(std::make_shared<Echo>());
  mf::Server other({.listen = channel.address()});
  EXPECT_THAT(failed([&] { other.start(); }).what(),
              HasSubstr("another server of this process listens there"));
}

TEST(FakeClock, EndsAnAsynchronousCallAtItsDeadlineOnly) {
  FakeClock clock;
  Channel channel(std::make_shared<Echo>());
  const calls::EchoClient stub(channel.client());
  EXPECT_EQ(stub.twice(1), 2);
  channel.faults().drop(Operation::reply);
  std::promise<mf::Outcome<std::int32_t>> ended;
  auto end = ended.get_future();
  stub.async_twice(2, {.deadline = 20s},
                   [&](mf::Outcome<std::int32_t> outcome) { ended.set_value(std::move(outcome)); });
  EXPECT_TRUE(eventually([&] { return channel.faults().seen(Operation::reply) == 2; }));
  clock.advance(19s);
  EXPECT_EQ(end.wait_for(0s), std::future_status::timeout);
  clock.advance(1s);
  EXPECT_EQ(end.get().failure().code, Code::deadline_exceeded);
}

/// Takes 12 s for each call.
class Slow : public Echo {
 public:
  explicit Slow(FakeClock& clock) : clock_(clock) {}
  std::int32_t twice(std::int32_t x) override {
    clock_.advance(12s);
    return Echo::twice(x);
  }

 private:
  FakeClock& clock_;
};

TEST(FakeClock, AHandlerIsTooLateByItsTime) {
  FakeClock clock;
  Channel channel(std::make_shared<Slow>(clock));
  const calls::EchoClient stub(channel.client());
  for (int i = 0; i < 5; ++i) {
    const auto error = failed([&] { stub.twice(1, {.deadline = 10s}); });
    EXPECT_EQ(error.code(), Code::deadline_exceeded);
    EXPECT_EQ(stub.twice(i, {.deadline = 20s}), 2 * i);
  }
}

TEST(FakeClock, WhatIsCachedGrowsOldByIt) {
  FakeClock clock;
  Recorder recorder;
  const auto script = std::make_shared<Script<kept::methods::IdsMethod>>(&recorder);
  script->on<kept::methods::IdsNames>(
      [](const auto& request) { return std::vector<std::string>{request.name}; });
  Channel channel(script, {.offer = {.agent = "books"}});
  const auto ids = kept::IdsClient(channel.client()).at("books");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ids.names("ann").size(), 1U);
  EXPECT_EQ(recorder.size(), 1U);
  clock.advance(59s);
  (void)ids.names("ann");
  EXPECT_EQ(recorder.size(), 1U);
  clock.advance(2s);
  (void)ids.names("ann");
  EXPECT_EQ(recorder.size(), 2U);
}

TEST(FakeClock, IsTheOnlyOne) {
  const FakeClock clock;
  EXPECT_THAT(failed([] { const FakeClock another; }).what(), HasSubstr("there is a FakeClock already"));
}

TEST(FakeClock, DoesNotGoBack) {
  FakeClock clock;
  EXPECT_THAT(failed([&] { clock.advance(-1s); }).what(), HasSubstr("does not go back"));
}

TEST(Faults, DropTheReplyOfACallThatHasRun) {
  FakeClock clock;
  const auto echo = std::make_shared<Echo>();
  Channel channel(echo);
  const calls::EchoClient stub(channel.client());
  channel.faults().drop(Operation::reply, 2, 30s);
  EXPECT_EQ(stub.twice(1), 2);
  const auto error = failed([&] { stub.twice(2, {.deadline = 20s}); });
  EXPECT_EQ(error.code(), Code::deadline_exceeded);
  EXPECT_EQ(error.execution(), Execution::unknown);
  EXPECT_EQ(stub.twice(3), 6);
  EXPECT_EQ(echo->ran, 3);
}

TEST(Faults, ADelayedReplyComesInTimeOrNot) {
  FakeClock clock;
  Channel channel(std::make_shared<Echo>());
  const calls::EchoClient stub(channel.client());
  channel.faults().delay(Operation::reply, 3s);
  EXPECT_EQ(stub.twice(1, {.deadline = 4s}), 2);
  channel.faults().delay(Operation::reply, 5s);
  EXPECT_EQ(failed([&] { stub.twice(1, {.deadline = 4s}); }).code(), Code::deadline_exceeded);
  EXPECT_EQ(stub.twice(2, {.deadline = 4s}), 4);
}

TEST(Faults, CutAConnectionInPlaceOfAReply) {
  const auto echo = std::make_shared<Echo>();
  Channel channel(echo);
  const calls::EchoClient stub(channel.client());
  channel.faults().cut(Operation::reply);
  const auto error = failed([&] { stub.twice(1); });
  EXPECT_EQ(error.code(), Code::connection_lost);
  EXPECT_EQ(error.execution(), Execution::unknown);
  EXPECT_EQ(stub.twice(2), 4);
  EXPECT_EQ(echo->ran, 2);
  EXPECT_EQ(channel.faults().seen(Operation::connect), 2U);
}

TEST(Faults, AnIdempotentCallIsMadeAgainAfterACut) {
  const auto echo = std::make_shared<Echo>();
  Channel channel(echo);
  const calls::EchoClient stub(channel.client());
  channel.faults().cut(Operation::reply);
  EXPECT_EQ(stub.again(7), 7);
  EXPECT_EQ(echo->ran, 2);
}

TEST(Faults, AStalledServerIsGivenUpWhenItIsSilentForTooLong) {
  FakeClock clock;
  Channel channel(std::make_shared<Echo>());
  const calls::EchoClient stub(channel.client());
  EXPECT_EQ(stub.twice(1), 2);
  channel.faults().stall(Operation::reply, 1, 20s);
  const auto error = failed([&] { stub.twice(2, {.deadline = 30s}); });
  EXPECT_EQ(error.execution(), Execution::unknown);
  EXPECT_EQ(stub.twice(3), 6);
}

TEST(Faults, RefuseConnectsUntilTheyAreOver) {
  Channel channel(std::make_shared<Echo>());
  channel.faults().refuse(1, 2);
  EXPECT_EQ(calls::EchoClient(channel.client()).twice(1), 2);
  EXPECT_EQ(channel.faults().seen(Operation::connect), 3U);
}

TEST(Faults, ThatTimePassesNeedsAClock) {
  Channel channel(std::make_shared<Echo>());
  EXPECT_THAT(failed([&] { channel.faults().delay(Operation::reply, 1s); }).what(), HasSubstr("needs a"));
}

TEST(FakeController, InstancesComeAndGoByACall) {
  FakeController controller;
  auto client = controller.client({.wait_for_server = 0s});
  const calls::PartClient part(client);
  const auto books = controller.serve(std::make_shared<Part>("books"), "books");
  EXPECT_EQ(part.at("books").name(), "books");
  EXPECT_EQ(failed([&] { part.at("films").name(); }).execution(), Execution::not_executed);
  controller.serve(std::make_shared<Part>("films"), "films");
  EXPECT_EQ(part.at("films").name(), "films");
  controller.stop(books);
  EXPECT_EQ(failed([&] { part.at("books").name(); }).execution(), Execution::not_executed);
}

TEST(FakeController, SaysAllOfAServiceAtOnce) {
  FakeController controller;
  controller.lose("it has said nothing yet");
  Channel books(std::make_shared<Part>("books"), {.offer = {.agent = "books"}});
  Channel films(std::make_shared<Part>("films"), {.offer = {.agent = "films"}});
  auto client = controller.client({.wait_for_server = 0s});
  const calls::PartClient part(client);
  controller.say("mftest.calls.Part", {{"books", {books.address()}}});
  EXPECT_EQ(part.at("books").name(), "books");
  controller.say("mftest.calls.Part", {{"films", {films.address()}}});
  EXPECT_EQ(part.at("films").name(), "films");
  EXPECT_EQ(failed([&] { (void)part.at("books").name(); }).execution(), Execution::not_executed);
}

TEST(FakeController, WhatIsNotKnownIsLookedForUntilTheControllerAnswersAgain) {
  FakeController controller;
  controller.lose("it was restarted");
  auto client = controller.client();
  const calls::PartClient part(client);
  const auto error = failed([&] { (void)part.at("books").name({.deadline = 20ms}); });
  EXPECT_THAT(error.what(), HasSubstr("it was restarted"));
  controller.recover();
  controller.serve(std::make_shared<Part>("books"), "books");
  EXPECT_EQ(part.at("books").name(), "books");
}

TEST(FakeController, ACallWaitsForItsServerNoLongerThanItsClientSays) {
  FakeClock clock;
  FakeController controller;
  auto client = controller.client({.wait_for_server = 5s});
  auto waits = std::async(std::launch::async, [&] {
    return failed([&] { (void)calls::PartClient(client).at("books").name({.deadline = 60s}); });
  });
  EXPECT_TRUE(eventually([&] { return controller.waits() != 0; }));
  const auto before = clock.now();
  clock.advance(5s);
  EXPECT_THAT(waits.get().what(), HasSubstr("books"));
  EXPECT_EQ(clock.now() - before, 5s);
}

TEST(Script, AnswersAndRecordsInOrder) {
  Recorder recorder;
  const auto script = std::make_shared<Script<EchoMethod>>(&recorder);
  script->on<EchoTwice>([](const auto& request) { return request.x * 3; });
  script->on<EchoFail>([](const auto& request) -> std::int32_t { throw calls::Nope(request.how); });
  Channel channel(script);
  const calls::EchoClient stub(channel.client());
  EXPECT_EQ(stub.twice(2, {.deadline = 60s, .metadata = {{"who", "ann"}}}), 6);
  EXPECT_THROW(stub.fail("so"), calls::Nope);
  const std::vector<calls::EchoTwiceRequest> requests{{.x = 4}, {.x = 5}};
  EXPECT_EQ(stub.twice_bulk(requests)[1].value(), 15);
  EXPECT_THAT(recorder.names(), ElementsAre("mftest.calls.Echo.twice", "mftest.calls.Echo.fail",
                                            "mftest.calls.Echo.twice", "mftest.calls.Echo.twice"));
  const auto kept = recorder.calls();
  EXPECT_EQ(kept[0].request<EchoTwice>().x, 2);
  EXPECT_EQ(kept[0].code, Code::ok);
  EXPECT_EQ(kept[0].metadata, (mf::Metadata{{"who", "ann"}}));
  EXPECT_LE(kept[0].deadline.value(), 61s);  // rounded up on the wire
  EXPECT_GT(kept[0].deadline.value(), 0s);
  EXPECT_EQ(kept[1].request<EchoFail>().how, "so");
  EXPECT_EQ(kept[1].code, Code::declared);
  EXPECT_EQ(kept[3].request<EchoTwice>().x, 5);
}

TEST(Script, AMethodWithoutAnAnswerFailsInWords) {
  Channel channel(std::make_shared<Script<EchoMethod>>());
  const auto error = failed([&] { calls::EchoClient(channel.client()).twice(1); });
  EXPECT_EQ(error.code(), Code::handler_failed);
  EXPECT_THAT(error.what(), HasSubstr("the script has no answer for twice"));
}

TEST(Script, RecordsWhatAServantOfItsOwnIsCalledWith) {
  Echo echo;
  Recorder recorder;
  const auto script = std::make_shared<Script<EchoMethod>>(&recorder);
  script->pass_to<EchoEven>(echo);
  Channel channel(script);
  EXPECT_TRUE(calls::EchoClient(channel.client()).even(8));
  EXPECT_EQ(recorder.calls().at(0).request<EchoEven>().x, 8);
}

}  // namespace
}  // namespace mftest::testing_test
