// Calls through a relay: the client gets the same results as without one.
#include "mf/relay/relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <list>
#include <numeric>
#include <optional>

#include "mf/client/client.hpp"
#include "mftest/calls.client.hpp"
#include "mftest/flow.client.hpp"
#include "relay/relayed.hpp"
#include "support/echo.hpp"
#include "support/flow.hpp"
#include "support/process.hpp"
#include "support/wait.hpp"

namespace mftest::relay_test {
namespace {

using testing::HasSubstr;

/// A server and a relay that resolves it.
struct Behind {
  explicit Behind(mf::ServerOptions options = {}) : server(std::move(options)) {
    server.offer(echo);
    server.offer(std::make_shared<Part>("a"), {.agent = "a"});
    server.offer(std::make_shared<Part>("b"), {.agent = "b"});
    server.offer(other);
    server.offer(flow);
    server.start();
    auto offers = answered();
    for (const auto* agent : {"", "a", "b"}) offers.agents[agent].push_back({.address = server.address()});
    relay.resolver->set(std::move(offers));
  }
  [[nodiscard]] mf::Client client() const { return mf::Client(relay.address().str()); }

  const std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  const std::shared_ptr<Other> other = std::make_shared<Other>();
  const std::shared_ptr<PlainFlow> flow = std::make_shared<PlainFlow>();
  mf::Server server;
  Relayed relay;
};

template <class Act>
mf::Error error_of(Act&& act) {
  try {
    act();
  } catch (const mf::Error& error) {
    return error;
  }
  return {mf::Code::ok, mf::Execution::unknown, "nothing was thrown"};
}

TEST(Relay, CallsReachTheServerAndItsResultsComeBack) {
  const Behind behind;
  auto client = behind.client();
  const calls::EchoClient echo(client);
  EXPECT_EQ(echo.twice(21), 42);
  EXPECT_EQ(echo.text("words"), "words");
  EXPECT_THROW(echo.fail("nope"), calls::Nope);
  EXPECT_EQ(error_of([&] { echo.fail("denied"); }).code(), mf::Code::permission_denied);
  EXPECT_EQ(behind.echo->ran, 4);
}

TEST(Relay, LargeResultsAndParametersPassWhole) {
  const Behind behind;
  auto client = behind.client();
  const calls::EchoClient echo(client);
  for (const std::size_t size :
       {std::size_t{100}, std::size_t{5'000}, std::size_t{70'000}, std::size_t{3'000'000}}) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7);
    EXPECT_EQ(echo.blob(mf::Bytes(data)).to_vector(), data) << size;
  }
}

TEST(Relay, EachAgentsCallsReachItsOwnServant) {
  const Behind behind;
  auto client = behind.client();
  const calls::PartClient part(client);
  EXPECT_EQ(part.at("a").name(), "a");
  EXPECT_EQ(part.at("b").name(), "b");
}

TEST(Relay, OneWayCallsAndTheCallsBehindThemKeepTheirOrder) {
  const Behind behind;
  auto client = behind.client();
  const calls::EchoClient echo(client);
  std::vector<std::int32_t> sent(200);
  std::iota(sent.begin(), sent.end(), 0);
  for (const auto x : sent) echo.note(x);
  EXPECT_EQ(echo.twice(1), 2);
  EXPECT_EQ(behind.echo->notes(), sent);
}

TEST(Relay, StreamsPassInBothDirections) {
  const Behind behind;
  auto client = behind.client();
  const flow::FlowClient flow(client);
  std::uint64_t sum = 0;
  for (const auto value : flow.count(100'000)) sum += value;
  EXPECT_EQ(sum, 99'999ULL * 100'000 / 2);
  auto adding = flow.sum(1);
  for (std::uint32_t i = 0; i < 100'000; ++i) adding.write(i);
  EXPECT_EQ(adding.finish(), 1 + 99'999ULL * 100'000 / 2);
  EXPECT_EQ(flow.sum(7).finish(), 7U);
}

TEST(Relay, ServersOfOtherSchemasAreLeftToOtherClients) {
  struct Stranger final : Echo {
    Stranger() : info(Echo::service()) { info.fingerprint[0] ^= 1; }
    [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return info; }
    mf::ServiceInfo info;
  };
  const Behind behind;
  auto offers = answered();
  std::list<mf::Server> strangers;
  for (int i = 0; i < 16; ++i) {  // more than a relay connects to
    auto& server = strangers.emplace_back();
    const auto servant = std::make_shared<Stranger>();
    server.offer(servant);
    server.start();
    offers.agents[""].push_back({.address = server.address(), .fingerprint = servant->info.fingerprint});
  }
  const auto own = behind.echo->service().fingerprint;
  offers.agents[""].push_back({.address = behind.server.address(), .fingerprint = own});
  behind.relay.resolver->set(std::move(offers));
  for (int i = 0; i < 8; ++i) {
    auto client = behind.client();
    EXPECT_EQ(calls::EchoClient(client).twice(i), 2 * i);
  }
}

TEST(Relay, AServerThatNobodyKnowsIsNamedAsMissing) {
  Relayed relay;
  relay.resolver->set(answered());
  mf::Client client(relay.address().str(), {.wait_for_server = std::chrono::milliseconds(0)});
  const calls::EchoClient stub(client);
  std::string said;
  EXPECT_TRUE(eventually([&] {  // the first calls may end before the relay was reached
    const auto error = error_of([&] { stub.twice(1, {.deadline = std::chrono::milliseconds(300)}); });
    EXPECT_EQ(error.code(), mf::Code::unavailable);
    EXPECT_EQ(error.execution(), mf::Execution::not_executed);
    said = error.what();
    return said.find("no server offers mftest.calls.Echo") != std::string::npos;
  })) << said;
  EXPECT_THAT(said, HasSubstr("relay " + relay.address().str()));
}

TEST(Relay, SeveralInARowWorkAndMoreThanEightAreRefused) {
  const Behind behind;
  std::vector<std::unique_ptr<Relayed>> relays;
  auto next = behind.server.address();
  for (int i = 0; i < 9; ++i) {
    relays.push_back(std::make_unique<Relayed>());
    relays.back()->knows({next});
    next = relays.back()->address();
  }
  mf::Client eight(relays[7]->address().str());
  EXPECT_EQ(calls::EchoClient(eight).twice(21), 42);
  mf::Client nine(relays[8]->address().str());
  const auto error = error_of([&] { calls::EchoClient(nine).twice(21); });
  EXPECT_EQ(error.code(), mf::Code::permission_denied);
  EXPECT_THAT(error.what(), HasSubstr("come through 8 relays"));
}

TEST(Relay, ThatWouldReachItselfRefusesInWords) {
  Relayed one;
  Relayed two;
  one.knows({two.address()});
  two.knows({one.address()});
  mf::Client client(one.address().str());
  const auto error = error_of([&] { calls::EchoClient(client).twice(21); });
  EXPECT_EQ(error.code(), mf::Code::permission_denied);
  EXPECT_EQ(error.execution(), mf::Execution::not_executed);
  EXPECT_THAT(error.what(), HasSubstr("a loop of relays"));
}

TEST(Relay, OfTwoInstancesTheOneThatLivesGetsTheCalls) {
  Behind behind;
  auto second = std::make_unique<mf::Server>();
  const auto echo = std::make_shared<Echo>();
  second->offer(echo);
  second->start();
  behind.relay.knows({behind.server.address(), second->address()});
  auto client = behind.client();
  const calls::EchoClient stub(client);
  EXPECT_TRUE(eventually([&] {
    stub.again(1);
    return echo->ran > 0 && behind.echo->ran > 0;
  }));
  second->stop();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stub.again(i), i);
  behind.relay.knows({});
}

TEST(Relay, ADeadlineThatPassesAtTheServerIsTheClients) {
  const Behind behind;
  auto client = behind.client();
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);  // connected
  const auto error = error_of([&] { stub.wait(1'000, {.deadline = std::chrono::milliseconds(50)}); });
  EXPECT_EQ(error.code(), mf::Code::deadline_exceeded);
}

TEST(Relay, ALostServerIsNamedBesideTheRelay) {
  Process process({MF_ECHO_SERVER, "tcp://127.0.0.1:0"});
  const auto server = mf::Address::parse(process.out_line());
  Relayed relay;
  relay.knows({server});
  mf::Client client(relay.address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::thread calling([&] {
    const auto error = error_of([&] { stub.wait(60'000, {.deadline = std::chrono::seconds(30)}); });
    EXPECT_EQ(error.code(), mf::Code::connection_lost);
    EXPECT_EQ(error.execution(), mf::Execution::unknown);
    EXPECT_THAT(error.what(),
                HasSubstr("relay " + relay.address().str() + ": the connection to a server has ended"));
  });
  EXPECT_TRUE(eventually([&] { return relay.stats().connections.calls != 0; }));
  process.kill(SIGKILL);
  calling.join();
}

TEST(Relay, ItsEndIsThatOfAServer) {
  auto behind = std::make_unique<Behind>();
  auto client = behind->client();
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::thread calling([&] { EXPECT_EQ(stub.text("in flight"), "in flight"); });
  calling.join();
  behind->relay.stop();
  const auto error = error_of([&] { stub.twice(1, {.deadline = std::chrono::milliseconds(500)}); });
  EXPECT_EQ(error.execution(), mf::Execution::not_executed);
}

}  // namespace
}  // namespace mftest::relay_test
