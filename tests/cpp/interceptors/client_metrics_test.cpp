// The metrics of a client's calls.
#include "mf/interceptors/client_metrics.hpp"

#include <string>

#include "interceptors/ways.hpp"

namespace mftest::intercepted {
namespace {

using mf::interceptors::ClientMetrics;
using namespace std::chrono_literals;

std::string exposed(const ClientMetrics& metrics) {
  mf::monitor::Exposition out(mf::monitor::Format::prometheus);
  metrics.expose(out);
  return std::move(out).text();
}

bool has(const ClientMetrics& metrics, const std::string& line) {
  return exposed(metrics).find("\n" + line + "\n") != std::string::npos;
}

std::string of(const std::string& method) {
  return R"({service="mftest.calls.Echo",method=")" + method + "\"";
}

class MetricsOfClients : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, MetricsOfClients, testing::ValuesIn(kWays),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(MetricsOfClients, CountCallsByMethodAndCode) {
  const auto metrics = std::make_shared<ClientMetrics>();
  Ends ends(GetParam(), {metrics});

  EXPECT_EQ(ends.twice(1).value(), 2);
  EXPECT_EQ(ends.twice(2).value(), 4);
  EXPECT_FALSE(ends.fail("std").ok());
  const std::vector<calls::EchoFailRequest> requests{{"fine"}, {"nope"}, {"fine"}};
  (void)ends.stub->fail_bulk(requests);

  EXPECT_TRUE(has(*metrics, "mf_client_calls_total" + of("twice") + ",code=\"OK\"} 2")) << exposed(*metrics);
  EXPECT_TRUE(has(*metrics, "mf_client_calls_total" + of("fail") + ",code=\"HANDLER_FAILED\"} 1"));
  EXPECT_TRUE(has(*metrics, "mf_client_calls_total" + of("fail") + ",code=\"OK\"} 2"));
  EXPECT_TRUE(has(*metrics, "mf_client_calls_total" + of("fail") + ",code=\"DECLARED\"} 1"));
  EXPECT_TRUE(has(*metrics, "mf_client_call_duration_seconds_count" + of("twice") + "} 2"));
  EXPECT_TRUE(has(*metrics, "mf_client_call_duration_seconds_count" + of("fail") + "} 2"));
  EXPECT_TRUE(has(*metrics, "mf_client_attempts_total" + of("twice") + "} 2"));
  EXPECT_EQ(exposed(*metrics).find("mf_client_retries_total{"), std::string::npos);
  EXPECT_TRUE(has(*metrics, "mf_client_open_calls 0"));
}

/// Refuses all calls, unexecuted, so that clients ask another server.
class Refuses final : public mf::Interceptor {
 public:
  void begin(mf::InterceptedCall& /*call*/) override {
    throw mf::Error(mf::Code::overloaded, mf::Execution::not_executed, "not here");
  }
};

TEST(ClientMetrics, CountRepeats) {
  const auto metrics = std::make_shared<ClientMetrics>();
  mf::Server refusing({.interceptors = {std::make_shared<Refuses>()}, .log = mf::Log(mf::Level::off)});
  mf::Server other({.log = mf::Log(mf::Level::off)});
  for (auto* const server : {&refusing, &other}) {
    server->offer(std::make_shared<Echo>());
    server->start();
  }
  mf::Client client(refusing.address().str() + "," + other.address().str(), {.interceptors = {metrics}});
  const calls::EchoClient stub(client);

  for (std::int32_t x = 0; x < 8; ++x) EXPECT_EQ(stub.twice(x), 2 * x);

  const auto text = exposed(*metrics);
  const auto number = [&](const std::string& name) {
    const auto at = text.find(name + of("twice") + "} ");
    return at == std::string::npos ? 0 : std::stoi(text.substr(text.find("} ", at) + 2));
  };
  EXPECT_GE(number("mf_client_retries_total"), 1) << text;
  EXPECT_EQ(number("mf_client_attempts_total"), 8 + number("mf_client_retries_total"));
  EXPECT_TRUE(has(*metrics, "mf_client_calls_total" + of("twice") + ",code=\"OK\"} 8"));
}

TEST(ClientMetrics, CountCallsThatNeverReachedAServer) {
  const auto metrics = std::make_shared<ClientMetrics>();
  mf::Client client("tcp://127.0.0.1:9", {.wait_for_server = 0s, .interceptors = {metrics}});

  const auto outcome = mf::attempt([&] { return calls::EchoClient(client).twice(1, {.deadline = 200ms}); });

  EXPECT_TRUE(has(*metrics, "mf_client_calls_total" + of("twice") + ",code=\"" +
                                mf::name(outcome.failure().code) + "\"} 1"))
      << exposed(*metrics);
}

TEST(ClientMetrics, OfALightCountNothing) {
  const auto metrics = std::make_shared<ClientMetrics>();
  Ends ends(kWays[4], {}, {metrics});

  EXPECT_EQ(ends.twice(1).value(), 2);

  EXPECT_EQ(exposed(*metrics).find("mf_client_calls_total{"), std::string::npos);
}

TEST(ClientMetrics, OfMethodsBeyondTheBoundShareOneSeries) {
  ClientMetrics metrics;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ClientMetrics::kMostMethods + 10; ++i) names.push_back("m" + std::to_string(i));
  const auto& service = calls::methods::EchoTwice::kService;
  for (const auto& name : names) {
    mf::MethodInfo info;
    info.name = name;
    mf::InterceptedCall call(service, "", info, mf::CallKind::call, 1, nullptr);
    metrics.begin(call);
    metrics.end(call, {});
  }

  EXPECT_TRUE(has(metrics, "mf_client_calls_total{service=\"other\",method=\"other\",code=\"OK\"} 10"));
  EXPECT_TRUE(has(metrics, "mf_client_calls_total" + of(names.front()) + ",code=\"OK\"} 1"));
  EXPECT_FALSE(has(metrics, "mf_client_calls_total" + of(names.back()) + ",code=\"OK\"} 1"));
}

}  // namespace
}  // namespace mftest::intercepted
