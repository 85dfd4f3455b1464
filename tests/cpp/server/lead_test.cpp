// Of all servers that ask for the lead of a service and agent, one holds it at a time, and its epoch is
// larger than all earlier ones.

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "mf/client/asio.hpp"
#include "support/echo.hpp"
#include "support/running_controller.hpp"
#include "support/wait.hpp"

namespace mftest::lead_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class Leads : public testing::Test {
 protected:
  void start_controller(const std::string& listen = "tcp://127.0.0.1:0") {
    auto options = RunningController::quiet();
    options.store = store;
    controller.emplace(listen, options);
  }
  std::unique_ptr<mf::Server> server(bool offers = true) {
    return server_at(controller->address().str(), offers);
  }
  std::unique_ptr<mf::Server> server_at(const std::string& controllers, bool offers = true) {
    mf::ServerOptions options;
    options.listen = "tcp://127.0.0.1:0";
    options.controller = controllers;
    options.drain_timeout = 1s;
    options.log = mf::Log(mf::Level::off);
    auto made = std::make_unique<mf::Server>(options);
    for (const auto* const agent : {"a", "b"})
      if (offers) made->offer(part, {.agent = agent});
    made->start();
    return made;
  }
  /// Asks on a thread of its own.
  std::future<mf::Lead> waits(mf::Server& server, std::string agent = "a", std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, &server, agent = std::move(agent), stop = std::move(stop)] {
      return server.lead(*part, {.agent = agent, .stop = stop});
    });
  }
  [[nodiscard]] std::size_t candidates() const { return controller->servant().candidates(); }

  const std::shared_ptr<Part> part = std::make_shared<Part>("a");
  const std::shared_ptr<mf::controller::MemoryStore> store = std::make_shared<mf::controller::MemoryStore>();
  std::optional<RunningController> controller;
};

TEST_F(Leads, TheNextOneHasItWhenTheFirstHasGivenItUp) {
  start_controller();
  const auto one = server();
  const auto two = server();
  std::optional<mf::Lead> first(one->lead(*part, {.agent = "a"}));
  auto next = waits(*two);
  EXPECT_TRUE(first->held());
  EXPECT_FALSE(first->lost(0ms));
  ASSERT_TRUE(eventually([&] { return candidates() == 2; }));
  EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
  const auto epoch = first->epoch();
  EXPECT_GT(epoch, 0U);
  first.reset();
  const mf::Lead second = next.get();
  EXPECT_TRUE(second.held());
  EXPECT_GT(second.epoch(), epoch);
}

TEST_F(Leads, ThoseOfOtherAgentsAreOthers) {
  start_controller();
  const auto one = server();
  const mf::Lead a = one->lead(*part, {.agent = "a"});
  const mf::Lead b = one->lead(*part, {.agent = "b"});
  EXPECT_TRUE(a.held());
  EXPECT_TRUE(b.held());
}

TEST_F(Leads, WhoIsCutOffFromTheControllerHasLostItAndMayHaveItAgain) {
  start_controller();
  const auto one = server();
  mf::Lead lead = one->lead(*part, {.agent = "a"});
  const auto come_back = controller->cut_off();
  lead.lost();
  EXPECT_FALSE(lead.held());
  auto again = waits(*one);
  come_back();
  EXPECT_GT(again.get().epoch(), lead.epoch());
}

TEST_F(Leads, ItIsLostWithTheControllerAndGivenAgainByTheNextOneOfTheSameStore) {
  start_controller();
  const auto one = server();
  const auto two = server();
  mf::Lead lead = one->lead(*part, {.agent = "a"});
  const auto port = controller->address().port;
  controller.reset();
  EXPECT_TRUE(lead.lost(kLong));
  EXPECT_FALSE(lead.held());
  start_controller("tcp://127.0.0.1:" + std::to_string(port));
  const mf::Lead again = two->lead(*part, {.agent = "a"});
  EXPECT_GT(again.epoch(), lead.epoch());
}

TEST_F(Leads, ItIsAskedForAtAnotherControllerOfTheStoreWhenTheFirstIsGone) {
  start_controller();
  auto of_the_same = RunningController::quiet();
  of_the_same.store = store;
  const RunningController other("tcp://127.0.0.1:0", of_the_same);
  const auto one = server_at(controller->address().str() + "," + other.address().str());
  mf::Lead lead = one->lead(*part, {.agent = "a"});
  EXPECT_EQ(other.servant().candidates(), 0U) << "the first one gives it while it is there";
  controller.reset();
  EXPECT_TRUE(lead.lost(kLong));
  const mf::Lead again = one->lead(*part, {.agent = "a"});
  EXPECT_EQ(other.servant().candidates(), 1U);
  EXPECT_GT(again.epoch(), lead.epoch());
}

TEST_F(Leads, ItIsNotAskedForAtAControllerThatKnowsNothingOfTheFirst) {
  start_controller();
  const RunningController stranger;
  const auto one = server_at(controller->address().str() + "," + stranger.address().str());
  mf::Lead lead = one->lead(*part, {.agent = "a"});
  const auto port = controller->address().port;
  controller.reset();
  EXPECT_TRUE(lead.lost(kLong));
  auto again = waits(*one);
  EXPECT_EQ(again.wait_for(1500ms), std::future_status::timeout);
  EXPECT_EQ(stranger.servant().candidates(), 0U);
  start_controller("tcp://127.0.0.1:" + std::to_string(port));
  EXPECT_GT(again.get().epoch(), lead.epoch());
}

TEST_F(Leads, WhoWaitsLearnsThatItsServerIsStopped) {
  start_controller();
  const auto one = server();
  const auto two = server();
  const mf::Lead lead = one->lead(*part, {.agent = "a"});
  auto waiting = waits(*two);
  ASSERT_TRUE(eventually([&] { return candidates() == 2; }));
  two->stop();
  try {
    (void)waiting.get();
    ADD_FAILURE() << "it has the lead";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), mf::Code::cancelled);
    EXPECT_EQ(error.message(), "the server was stopped");
  }
  EXPECT_TRUE(lead.held());
}

TEST_F(Leads, WhoHasItLosesItWithItsServerAndTheNextOneGetsIt) {
  start_controller();
  const auto one = server();
  const auto two = server();
  mf::Lead lead = one->lead(*part, {.agent = "a"});
  auto next = waits(*two);
  one->stop();
  EXPECT_FALSE(lead.held());
  lead.lost();
  EXPECT_GT(next.get().epoch(), lead.epoch());
  EXPECT_THROW((void)one->lead(*part, {.agent = "a"}), mf::Error) << "a server that was stopped";
}

TEST_F(Leads, WhoIsToldToStopWaitsNoMoreAndStandsInNobodysWay) {
  start_controller();
  const auto one = server();
  const auto two = server();
  std::optional<mf::Lead> lead(one->lead(*part, {.agent = "a"}));
  std::stop_source stop;
  auto giving_up = waits(*two, "a", stop.get_token());
  ASSERT_TRUE(eventually([&] { return candidates() == 2; }));
  stop.request_stop();
  try {
    (void)giving_up.get();
    ADD_FAILURE() << "it has the lead";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), mf::Code::cancelled);
  }
  ASSERT_TRUE(eventually([&] { return candidates() == 1; })) << "the controller has noticed";
  auto next = waits(*two);
  ASSERT_TRUE(eventually([&] { return candidates() == 2; }));
  lead.reset();
  EXPECT_TRUE(next.get().held());
}

TEST_F(Leads, ThoseWhoWaitForNothingAreToldThatTheyHaveItAndThatTheyHaveLostIt) {
  start_controller();
  const auto one = server();
  const auto two = server();
  auto asked = one->async_lead(*part, {.agent = "a"}, asio::use_future);
  std::optional<mf::Lead> lead(std::move(asked.get()).value());
  EXPECT_TRUE(lead->held());

  asio::cancellation_signal signal;
  std::promise<mf::Outcome<void>> tired;
  lead->async_lost(asio::bind_cancellation_slot(
      signal.slot(), [&](mf::Outcome<void> outcome) { tired.set_value(std::move(outcome)); }));
  auto lost = lead->async_lost(asio::use_future);
  auto next = two->async_lead(*part, {.agent = "a"}, asio::use_future);
  signal.emit(asio::cancellation_type::terminal);
  EXPECT_EQ(tired.get_future().get().failure().code, mf::Code::cancelled);
  EXPECT_TRUE(lead->held()) << "only the waiting has ended";

  lead.reset();
  EXPECT_TRUE(lost.get().ok());
  EXPECT_TRUE(next.get().value().held());
}

TEST_F(Leads, AServerWithoutAControllerAndOneThatIsNotStartedHaveNone) {
  const auto refusal = [&](mf::Server& server, const std::string& agent) -> std::string {
    try {
      (void)server.lead(*part, {.agent = agent});
    } catch (const mf::Error& error) {
      EXPECT_EQ(error.code(), mf::Code::invalid_argument);
      return error.message();
    }
    return "";
  };
  mf::Server alone;
  EXPECT_EQ(refusal(alone, "a"), "the lead is given by a controller, and this server has none");
  mf::Server idle({.controller = "mf://127.0.0.1:1"});
  EXPECT_EQ(refusal(idle, "a"), "start the server first");
  EXPECT_NE(refusal(idle, "").find("agent"), std::string::npos) << "the service has agents";
}

}  // namespace
}  // namespace mftest::lead_test
