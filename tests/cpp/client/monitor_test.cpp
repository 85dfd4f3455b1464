// What the monitor of a server says of its calls and connections, and when it is ready.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

#include "mf/monitor/exposition.hpp"
#include "support/certificates.hpp"
#include "support/http.hpp"
#include "support/joined.hpp"

namespace mftest::monitor_test {
namespace {

using mf::Code;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

mf::ServerOptions monitored() {
  mf::ServerOptions options;
  options.listen = "tcp://127.0.0.1:0";
  options.monitor = "127.0.0.1:0";
  return options;
}

std::string metrics_of(const mf::Server& server) {
  return sent(server.monitor_address(), asking("/metrics"));
}

class Monitor : public testing::TestWithParam<mf::Where> {};
INSTANTIATE_TEST_SUITE_P(Places, Monitor,
                         testing::Values(mf::Where::worker, mf::Where::io_thread, mf::Where::adaptive));

TEST_P(Monitor, CountsCallsByTheirOutcomes) {
  Served served(GetParam(), monitored());
  mf::Client client(served.url());
  const calls::EchoClient stub(client);
  EXPECT_THAT(metrics_of(served.server), Not(HasSubstr("mf_server_calls_total{")));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
  EXPECT_EQ(failure_of([&] { return stub.fail("std"); }).code, Code::handler_failed);
  EXPECT_THROW((void)stub.fail("nope"), calls::Nope);
  const auto said = metrics_of(served.server);
  EXPECT_THAT(
      said,
      HasSubstr("\nmf_server_calls_total{service=\"mftest.calls.Echo\",method=\"twice\",code=\"OK\"} 5\n"));
  EXPECT_THAT(said, HasSubstr("method=\"fail\",code=\"HANDLER_FAILED\"} 1\n"));
  EXPECT_THAT(said, HasSubstr("method=\"fail\",code=\"DECLARED\"} 1\n"));
  EXPECT_THAT(
      said,
      HasSubstr(
          "\nmf_server_call_duration_seconds_count{service=\"mftest.calls.Echo\",method=\"twice\"} 5\n"));
  EXPECT_THAT(said, HasSubstr("method=\"twice\",le=\"137.438953472\"} 5\n"));
  EXPECT_THAT(said, HasSubstr("\nmf_server_connections 1\n"));
  EXPECT_THAT(said, HasSubstr("\nmf_server_ready 1\n"));
}

TEST(Monitors, SayWhenTheCertificateExpires) {
  constexpr auto* kName = "\nmf_server_certificate_expires_timestamp_seconds ";
  Authority authority;
  auto options = monitored();
  options.listen = "tls://127.0.0.1:0";
  options.tls = authority.issue({.valid_until = 500'000});
  const Served served(mf::Where::worker, options);
  const auto said = metrics_of(served.server);
  const auto at = said.find(kName);
  ASSERT_NE(at, std::string::npos);
  const auto expires = std::stod(said.substr(at + std::strlen(kName)));
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(expires, now + 500'000, 1'000);

  const Served without(mf::Where::worker, monitored());
  EXPECT_THAT(metrics_of(without.server), Not(HasSubstr(kName)));
}

TEST(Monitors, HaveNoSeriesOfNamesThatPeersSend) {
  Served served(mf::Where::worker, monitored());
  mf::Client client(served.url());
  EXPECT_EQ(failure_of([&] { return calls::PartClient(client).at("unheard").name(); }).code,
            Code::unknown_agent);
  EXPECT_THAT(metrics_of(served.server), Not(HasSubstr("unheard")));
}

TEST(Monitors, AreThereOnlyIfAskedFor) {
  Served served;
  EXPECT_EQ(served.server.monitor_address(), "");
}

TEST(Monitors, AskTheUserToo) {
  auto options = monitored();
  const auto busy = std::make_shared<std::atomic<bool>>(false);
  options.not_ready = [busy] { return *busy ? std::string("the index is being loaded") : std::string(); };
  options.expose = [](mf::monitor::Exposition& out) { out.gauge("index_documents", "Documents.", 42); };
  Served served(mf::Where::worker, std::move(options));
  const auto ready = [&] { return sent(served.server.monitor_address(), asking("/readyz")); };
  EXPECT_THAT(ready(), StartsWith("HTTP/1.1 200 "));
  *busy = true;
  EXPECT_THAT(ready(), StartsWith("HTTP/1.1 503 "));
  EXPECT_TRUE(ready().ends_with("the index is being loaded\n"));
  EXPECT_THAT(metrics_of(served.server), HasSubstr("\nindex_documents 42\n"));
  EXPECT_THAT(metrics_of(served.server), HasSubstr("\nmf_server_ready 0\n"));
}

TEST(Monitors, SayThatAServerIsNotRegistered) {
  auto options = monitored();
  options.controller = "mf://127.0.0.1:1";  // nothing listens there
  Served served(mf::Where::worker, std::move(options));
  const auto said = sent(served.server.monitor_address(), asking("/readyz"));
  EXPECT_THAT(said, StartsWith("HTTP/1.1 503 "));
  EXPECT_TRUE(said.ends_with("the server is not registered at its controller\n"));
}

TEST(Monitors, ThatCannotListenRefuseTheStart) {
  auto options = monitored();
  options.monitor = "0.0.0.0:0";
  mf::Server server(options);
  EXPECT_EQ(failure_of([&] {
              server.start();
              return 0;
            }).code,
            Code::invalid_argument);
}

}  // namespace
}  // namespace mftest::monitor_test
