// A controller behind a real server on the loopback, servers that register at it and clients that query it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/controller/controller_registrar.hpp"
#include "mf/controller/controller_resolver.hpp"
#include "support/certificates.hpp"
#include "support/running_controller.hpp"
#include "support/wait.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using mftest::RunningController;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kPatience = 20s;  // for operations that take milliseconds

ProcessIdentity process(std::uint8_t number) {
  ProcessIdentity identity;
  identity.nonce.front() = number;
  identity.secret.front() = number;
  return identity;
}

std::unique_ptr<ControllerRegistrar> registrar_at(const Address& controller, std::uint8_t number) {
  return std::make_unique<ControllerRegistrar>(std::vector{controller}, process(number), Log(Level::off));
}

Offered offered(std::string service, std::string agent) {
  Offered offered;
  offered.service = std::move(service);
  offered.agent = std::move(agent);
  return offered;
}

using Known = std::map<std::string, std::vector<std::string>>;

Known known_of(const Offers& offers) {
  Known known;
  for (const auto& [agent, instances] : offers.agents)
    for (const mf::Instance& instance : instances) known[agent].push_back(instance.address.str());
  return known;
}

/// Waits until the resolver has exactly this of the service.
testing::AssertionResult comes_to_know(Resolver& resolver, const std::string& service, const Known& wanted) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  auto snapshot = resolver.offers(service);
  while (!snapshot->answered || known_of(*snapshot) != wanted) {
    if (std::chrono::steady_clock::now() >= until)
      return testing::AssertionFailure()
             << "has " << testing::PrintToString(known_of(*snapshot)) << ' ' << snapshot->note;
    snapshot = resolver.wait_for_change(service, snapshot, until);
  }
  return testing::AssertionSuccess();
}

const Known kNobody;
const Known kBooksAt1{{"books", {"tcp://127.0.0.1:1"}}};

TEST(Discovery, AClientLearnsWhatAServerOffersAndThatItLeft) {
  const RunningController controller;
  ControllerResolver resolver({controller.address()});
  EXPECT_TRUE(comes_to_know(resolver, "Index", kNobody));
  EXPECT_NE(resolver.client_id(), 0U);
  auto server = registrar_at(controller.address(), 1);
  server->announce({offered("Index", "books"), offered("Rank", "")}, {Address::parse("tcp://127.0.0.1:1")});
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  EXPECT_TRUE(comes_to_know(resolver, "Rank", {{"", {"tcp://127.0.0.1:1"}}}));
  const auto before = resolver.version();
  server->withdraw();
  EXPECT_TRUE(comes_to_know(resolver, "Index", kNobody));
  EXPECT_GT(resolver.version(), before);
}

TEST(Discovery, ServersRegisterAndClientsAskOverTlsAndVerifyTheController) {
  mftest::Authority authority;
  const mftest::Authority stranger("another authority");
  const RunningController controller("tls://127.0.0.1:0", RunningController::quiet(), authority.issue());
  const auto reactor = [] { return std::make_shared<transport::Reactor>(); };
  ControllerResolver resolver({controller.address()}, reactor(), {}, authority.accepted());
  EXPECT_TRUE(comes_to_know(resolver, "Index", kNobody));
  ControllerRegistrar refused({controller.address()}, process(2), Log(Level::off), reactor(),
                              stranger.accepted());
  refused.announce({offered("Index", "books")}, {Address::parse("tls://127.0.0.1:2")});
  ControllerRegistrar server({controller.address()}, process(1), Log(Level::off), reactor(),
                             authority.accepted());
  server.announce({offered("Index", "books")}, {Address::parse("tls://127.0.0.1:1")});
  EXPECT_TRUE(comes_to_know(resolver, "Index", {{"books", {"tls://127.0.0.1:1"}}}));
  server.withdraw();
  EXPECT_TRUE(comes_to_know(resolver, "Index", kNobody));
}

TEST(Discovery, TwoServersOfAnAgentAreBothKnown) {
  const RunningController controller;
  ControllerResolver resolver({controller.address()});
  auto one = registrar_at(controller.address(), 1);
  auto two = registrar_at(controller.address(), 2);
  one->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  two->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:2")});
  EXPECT_TRUE(comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1", "tcp://127.0.0.1:2"}}}));
  one.reset();
  EXPECT_TRUE(comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:2"}}}));
}

TEST(Discovery, AServerOffersMoreLater) {
  const RunningController controller;
  ControllerResolver resolver({controller.address()});
  auto server = registrar_at(controller.address(), 1);
  server->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  server->announce({offered("Index", "books"), offered("Index", "news")},
                   {Address::parse("tcp://127.0.0.1:1")});
  EXPECT_TRUE(
      comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1"}}, {"news", {"tcp://127.0.0.1:1"}}}));
}

TEST(Discovery, ClientAndServerMayComeBeforeTheController) {
  std::optional<RunningController> controller(std::in_place);
  const Address address = controller->address();
  controller.reset();  // now no process listens there

  ControllerResolver resolver({address});
  EXPECT_FALSE(resolver.offers("Index")->answered);
  EXPECT_THAT(resolver.offers("Index")->note, testing::HasSubstr(address.str()));
  auto server = registrar_at(address, 1);
  server->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});

  controller.emplace("tcp://127.0.0.1:" + std::to_string(address.port));
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
}

TEST(Discovery, AClientSaysOnceInItsLogThatItsControllerDoesNotAnswerAndOnceThatItDoesAgain) {
  std::optional<RunningController> controller(std::in_place);
  const Address address = controller->address();
  controller.reset();  // now no process listens there

  const auto log = std::make_shared<mftest::KeptLog>();
  ControllerResolver resolver({address}, std::make_shared<transport::Reactor>(), Log(log));
  (void)resolver.offers("Index");
  ASSERT_TRUE(mftest::eventually([&] { return log->size() != 0; }));
  EXPECT_TRUE(log->has("controller_does_not_answer controller=" + address.str() + " code=UNAVAILABLE"));
  EXPECT_TRUE(log->has("reason=\"connect tcp" + address.str().substr(2) + ": connection refused\""));

  controller.emplace("tcp://127.0.0.1:" + std::to_string(address.port));
  EXPECT_TRUE(comes_to_know(resolver, "Index", kNobody));
  EXPECT_TRUE(log->has("controller_answers_again controller=" + address.str()));
  EXPECT_EQ(log->size(), 2U);
}

TEST(Discovery, WhatIsKnownOutlivesTheControllerAndItsReturn) {
  std::optional<RunningController> controller(std::in_place);
  const Address address = controller->address();
  ControllerResolver resolver({address});
  auto server = registrar_at(address, 1);
  server->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  ASSERT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  const auto version = resolver.version();

  controller.reset();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(known_of(*resolver.offers("Index")), kBooksAt1);
  controller.emplace("tcp://127.0.0.1:" + std::to_string(address.port));

  auto late = registrar_at(address, 2);
  late->announce({offered("Index", "news")}, {Address::parse("tcp://127.0.0.1:2")});
  EXPECT_TRUE(
      comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1"}}, {"news", {"tcp://127.0.0.1:2"}}}));
  EXPECT_GT(resolver.version(), version);

  // And the new controller really has the old server: a new client finds it.
  ControllerResolver fresh({address});
  EXPECT_TRUE(
      comes_to_know(fresh, "Index", {{"books", {"tcp://127.0.0.1:1"}}, {"news", {"tcp://127.0.0.1:2"}}}));
}

TEST(Discovery, AWatchThatWasCutOffLearnsWhatHasChangedMeanwhile) {
  RunningController controller;
  ControllerResolver resolver({controller.address()}, std::make_shared<transport::Reactor>(),
                              Log(Level::off));
  auto staying = registrar_at(controller.address(), 1);
  auto leaving = registrar_at(controller.address(), 2);
  staying->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  leaving->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:2")});
  ASSERT_TRUE(comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1", "tcp://127.0.0.1:2"}}}));
  const auto come_back = controller.cut_off();
  leaving.reset();
  staying->announce({offered("Index", "books"), offered("Index", "news")},
                    {Address::parse("tcp://127.0.0.1:1")});
  come_back();
  EXPECT_TRUE(
      comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1"}}, {"news", {"tcp://127.0.0.1:1"}}}));
}

TEST(Discovery, AServerThatHangsIsOutOfTheListsAndOneThatOnlyHasNothingToSayStays) {
  ControllerOptions options = RunningController::quiet();
  options.dead_after = 3s;
  const RunningController controller("tcp://127.0.0.1:0", options);
  ControllerResolver resolver({controller.address()});
  auto lively = registrar_at(controller.address(), 1);
  lively->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  const auto reactor = std::make_shared<transport::Reactor>();
  ControllerRegistrar hanging({controller.address()}, process(2), Log(Level::off), reactor);
  hanging.announce({offered("Index", "news")}, {Address::parse("tcp://127.0.0.1:2")});
  ASSERT_TRUE(
      comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1"}}, {"news", {"tcp://127.0.0.1:2"}}}));
  std::promise<void> over;
  reactor->post([&over] { over.get_future().wait(); });  // reads nothing, and answers no ping
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  over.set_value();
  EXPECT_TRUE(
      comes_to_know(resolver, "Index", {{"books", {"tcp://127.0.0.1:1"}}, {"news", {"tcp://127.0.0.1:2"}}}))
      << "it comes back by itself";
}

TEST(Discovery, AServerThatIsNotAloneIsWarned) {
  const RunningController controller;
  const auto log = std::make_shared<mftest::KeptLog>();
  ControllerRegistrar server({controller.address()}, process(1), Log(log));
  Offered wanted = offered("Clock", "");
  wanted.alone = true;
  server.announce({wanted}, {Address::parse("tcp://127.0.0.1:1")});
  ControllerResolver resolver({controller.address()});
  ASSERT_TRUE(comes_to_know(resolver, "Clock", {{"", {"tcp://127.0.0.1:1"}}}));
  auto other = registrar_at(controller.address(), 2);
  other->announce({offered("Clock", "")}, {Address::parse("tcp://127.0.0.1:2")});
  EXPECT_TRUE(mftest::eventually([&] { return log->has("offered_twice"); }));
  EXPECT_TRUE(log->has("Clock is meant to have one server, and is offered by process"));
  EXPECT_TRUE(comes_to_know(resolver, "Clock", {{"", {"tcp://127.0.0.1:1", "tcp://127.0.0.1:2"}}}));
}

TEST(Discovery, WhatAServerMayNotOfferIsSaidInItsLogAndHurtsNothingElse) {
  const RunningController controller;
  const auto log = std::make_shared<mftest::KeptLog>();
  ControllerRegistrar server({controller.address()}, process(1), Log(log));
  Offered wrong = offered("Index", "books");
  wrong.labels[std::string(65, 'x')] = "";
  server.announce({wrong}, {Address::parse("tcp://127.0.0.1:1")});
  EXPECT_TRUE(mftest::eventually([&] { return log->has("not_registered"); }));
  EXPECT_TRUE(log->has("code=INVALID_ARGUMENT"));
  server.announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  ControllerResolver resolver({controller.address()});
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
}

TEST(Discovery, AnOfferThatIsRefusedLaterLeavesTheOthersRegistered) {
  const RunningController controller;
  const auto log = std::make_shared<mftest::KeptLog>();
  ControllerRegistrar server({controller.address()}, process(1), Log(log));
  const std::vector at{Address::parse("tcp://127.0.0.1:1")};
  const auto books = offered("Index", "books");
  server.announce({books}, at);
  ControllerResolver resolver({controller.address()});
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));

  Offered wrong = offered("Rank", "");
  wrong.labels[std::string(65, 'x')] = "";
  server.announce({books, wrong, offered("Clock", "")}, at);
  EXPECT_TRUE(comes_to_know(resolver, "Clock", {{"", {"tcp://127.0.0.1:1"}}}));
  EXPECT_TRUE(mftest::eventually([&] { return log->has("offer_refused"); }));
  EXPECT_TRUE(log->has("name=Rank") && log->has("code=INVALID_ARGUMENT"));

  std::vector<Offered> many{books};
  for (std::size_t i = 0; i < Registry::kMaxOffersOfOwner; ++i)
    many.push_back(offered("Many", std::to_string(i)));
  server.announce(many, at);
  EXPECT_TRUE(mftest::eventually([&] { return log->has("code=OVERLOADED"); }));
  EXPECT_TRUE(comes_to_know(resolver, "Clock", kNobody)) << "what is not offered any more is removed";
  server.announce({books, offered("Rank", "")}, at);
  EXPECT_TRUE(comes_to_know(resolver, "Rank", {{"", {"tcp://127.0.0.1:1"}}}));
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  EXPECT_FALSE(log->has("not_registered")) << "it stood all the time";
}

TEST(Discovery, AResolverEndsWhileItAsksAndWhileNobodyIsThere) {
  std::optional<RunningController> controller(std::in_place);
  ControllerResolver asking({controller->address()});
  EXPECT_TRUE(comes_to_know(asking, "Index", kNobody));
  ControllerResolver alone({controller->address()});
  controller.reset();
  (void)alone.offers("Index");
}

TEST(Discovery, AServiceThatIsForgottenIsWatchedNoMoreAndMayBeAskedForAgain) {
  const RunningController controller;
  ControllerResolver resolver({controller.address()});
  auto server = registrar_at(controller.address(), 1);
  server->announce({offered("Index", "books")}, {Address::parse("tcp://127.0.0.1:1")});
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  EXPECT_TRUE(comes_to_know(resolver, "Nobody", kNobody));
  auto at = controller.address();
  at.scheme = "tcp";
  Client client(at.str());
  const ControllerClient status(client);
  EXPECT_EQ(status.status().watches, 2U);
  resolver.forget("Nobody");
  resolver.forget("Index");
  resolver.forget("never.asked.For");
  EXPECT_TRUE(mftest::eventually([&] { return status.status().watches == 0; }));
  EXPECT_TRUE(comes_to_know(resolver, "Index", kBooksAt1));
  EXPECT_EQ(status.status().watches, 1U);
}

TEST(Discovery, WaitingEndsAtItsTime) {
  const RunningController controller;
  ControllerResolver resolver({controller.address()});
  ASSERT_TRUE(comes_to_know(resolver, "Index", kNobody));
  const auto known = resolver.offers("Index");
  EXPECT_EQ(resolver.wait_for_change("Index", known, std::chrono::steady_clock::now() + 20ms), known);
}

}  // namespace
}  // namespace mf::controller
