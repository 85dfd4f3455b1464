// The health service of every server, and the checks of programs that it shares with /readyz. It mirrors
// tests/python/server/test_health.py.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "mf/client/client.hpp"
#include "mf/health.client.hpp"
#include "mf/interceptors/recorder.hpp"
#include "mf/server/server.hpp"
#include "mftest/calls.client.hpp"
#include "support/echo.hpp"
#include "support/http.hpp"

namespace mftest::health_test {
namespace {

using mf::Code;
using mf::health::HealthClient;
using mf::health::Report;
using mf::health::State;
using namespace std::chrono_literals;

const Report kServing{.state = State::serving, .reasons = {}};

Report not_serving(std::vector<std::string> reasons) {
  return {.state = State::not_serving, .reasons = std::move(reasons)};
}

mf::ServerOptions quiet(mf::ServerOptions options = {}) {
  options.log = mf::Log(mf::Level::off);
  return options;
}

struct Served {
  explicit Served(mf::ServerOptions options = {}) : server(quiet(std::move(options))) {
    server.offer(std::make_shared<Echo>());
    server.start();
    client.emplace(server.address().str());
    health.emplace(*client);
  }

  mf::Server server;
  std::optional<mf::Client> client;
  std::optional<HealthClient> health;
};

std::string readyz(const mf::Server& server) {
  const auto answer =
      sent(server.monitor_address(), "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

TEST(Health, AServerSaysHowItAndItsServicesAre) {
  const Served served;

  EXPECT_EQ(served.health->check(""), kServing);
  EXPECT_EQ(served.health->check("mftest.calls.Echo"), kServing);
  EXPECT_EQ(served.health->check("mf.health.Health"), kServing);
  EXPECT_EQ(served.health->check("mftest.calls.Other"),
            (Report{.state = State::unknown_service, .reasons = {}}));
}

TEST(Health, ChecksAreSharedWithReadyz) {
  Served served({.monitor = "127.0.0.1:0"});
  std::atomic<bool> loaded{false};
  served.server.add_check("index", [&] { return std::string(loaded ? "" : "it is being\nloaded"); });

  EXPECT_EQ(served.health->check(""), not_serving({"index: it is being loaded"}));
  EXPECT_EQ(served.health->check("mftest.calls.Echo"), not_serving({"index: it is being loaded"}));
  EXPECT_EQ(readyz(served.server), "index: it is being loaded\n");
  loaded = true;
  EXPECT_EQ(served.health->check(""), kServing);
  EXPECT_EQ(readyz(served.server), "ok\n");
  loaded = false;
  served.server.remove_check("index");
  EXPECT_EQ(served.health->check(""), kServing);
}

TEST(Health, ACheckOfOneServiceIsAboutThatOne) {
  Served served;
  served.server.add_check("database", [] { return std::string("away"); }, "mftest.calls.Echo");

  EXPECT_EQ(served.health->check("mftest.calls.Echo"), not_serving({"database: away"}));
  EXPECT_EQ(served.health->check(""), kServing);
}

TEST(Health, ACheckThatThrowsIsAReason) {
  Served served;
  served.server.add_check("database", []() -> std::string { throw std::runtime_error("no route"); });

  EXPECT_EQ(served.health->check(""), not_serving({"database: threw"}));
}

TEST(Health, WrongChecksAreRefused) {
  mf::Server server(quiet());
  const auto fine = [] { return std::string(); };
  const auto why = [](const auto& work) { return mf::attempt(work).failure().message; };
  server.add_check("index", fine);

  EXPECT_EQ(why([&] { server.add_check("index", fine); }), "there is a check 'index' already");
  EXPECT_EQ(why([&] { server.remove_check("database"); }), "there is no check 'database'");
  EXPECT_EQ(why([&] { server.add_check("empty", nullptr); }), "the check 'empty' is empty");
}

TEST(Health, NotReadyOfTheOptionsCounts) {
  const Served served({.not_ready = [] { return std::string("too early"); }});

  EXPECT_EQ(served.health->check(""), not_serving({"too early"}));
}

TEST(Health, AServerWithoutItsControllerIsNotServing) {
  const Served served({.controller = "mf://127.0.0.1:1"});

  EXPECT_EQ(served.health->check(""), not_serving({"the server is not registered at its controller"}));
}

TEST(Health, AWatchGivesEachChangeAndEndsWhenTheServerStops) {
  Served served({.drain_timeout = 20s});
  std::atomic<bool> loaded{true};
  served.server.add_check("index", [&] { return std::string(loaded ? "" : "it is being loaded"); });

  auto watch = served.health->watch("", {.deadline = mf::kInfinite});
  EXPECT_EQ(watch.next(), kServing);
  loaded = false;
  EXPECT_EQ(watch.next(), not_serving({"index: it is being loaded"}));
  loaded = true;
  EXPECT_EQ(watch.next(), kServing);
  bool drained = false;
  std::thread stopping([&] { drained = served.server.stop(); });
  EXPECT_EQ(watch.next(), not_serving({"the server is stopping"}));
  EXPECT_EQ(watch.next(), std::nullopt);
  stopping.join();
  EXPECT_TRUE(drained);
}

TEST(Health, AWatchThatIsGivenUpEndsItsHandler) {
  Served served({.drain_timeout = 20s});
  {
    auto watch = served.health->watch("", {.deadline = mf::kInfinite});
    EXPECT_EQ(watch.next(), kServing);
  }
  EXPECT_TRUE(served.server.stop());
}

TEST(Health, AnAccessFileHoldsAndAPeerIsRefused) {
  const Served served({.authorize = [](const mf::Identity& /*peer*/, std::string_view service,
                                       std::string_view /*agent*/, std::string_view method) {
    return service != "mf.health.Health" || method != "check";
  }});

  EXPECT_EQ(mf::attempt([&] { return served.health->check(""); }).failure().code, Code::permission_denied);
}

TEST(Health, LimitsAndInterceptorsDoNotHoldForIt) {
  const auto recorder = std::make_shared<mf::interceptors::Recorder>();
  Served served({.interceptors = {recorder}});

  EXPECT_EQ(served.health->check(""), kServing);
  EXPECT_EQ(calls::EchoClient(*served.client).twice(2), 4);

  (void)recorder->wait_for(1);
  EXPECT_EQ(recorder->calls().size(), 1U);
  for (const auto& method : served.server.stats().methods) EXPECT_EQ(method.service, "mftest.calls.Echo");
}

}  // namespace
}  // namespace mftest::health_test
