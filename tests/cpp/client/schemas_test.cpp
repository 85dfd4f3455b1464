// Servers of one service with different schemas: a client uses those that it can talk to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_resolver.hpp"
#include "support/joined.hpp"

namespace mftest::schemas_test {
namespace {

using namespace std::chrono_literals;
using mf::Code;
using mf::Execution;
using testing::StartsWith;

/// An Echo that claims to be built from another schema.
struct Stranger final : Echo {
  Stranger() : info(Echo::service()) { info.fingerprint[0] ^= 1; }
  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return info; }
  mf::ServiceInfo info;
};

struct ServedStranger {
  ServedStranger() : server({.log = mf::Log(mf::Level::off)}) {
    server.offer(servant);
    server.start();
  }
  [[nodiscard]] mf::Instance instance() const {
    return {.address = server.address(), .fingerprint = servant->info.fingerprint};
  }
  std::shared_ptr<Stranger> servant = std::make_shared<Stranger>();
  mf::Server server;
};

mf::Instance of(const Served& served) {
  return {.address = served.server.address(), .fingerprint = served.echo->service().fingerprint};
}

TEST(Schemas, AClientUsesTheServersThatItCanTalkTo) {
  const ServedStranger stranger;
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {stranger.instance(), of(served)};
  resolver->set(offers);
  mf::Client client(resolver);
  const calls::EchoClient stub(client);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stub.twice(i, {.deadline = 20s}), 2 * i);
  EXPECT_EQ(served.echo->ran, 20);
}

TEST(Schemas, AClientIsToldInWordsThatThereIsNoneForIt) {
  const ServedStranger one;
  const ServedStranger two;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {one.instance(), two.instance()};
  resolver->set(offers);
  const auto log = std::make_shared<KeptLog>();
  mf::Client client(resolver, {.log = mf::Log(log)});
  const calls::EchoClient stub(client);
  auto failure = failure_of([&] { return stub.twice(1, {.deadline = 20s}); });
  EXPECT_EQ(failure.code, Code::schema_mismatch);
  EXPECT_TRUE(log->has("schema_differs service=mftest.calls.Echo server=tcp://"));
  EXPECT_TRUE(log->has("next=\"no call is made there\""));
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_THAT(failure.message, StartsWith("all servers of mftest.calls.Echo have another schema: "));
  offers.agents[""].pop_back();
  resolver->set(offers);
  failure = failure_of([&] { return stub.twice(1, {.deadline = 20s}); });
  EXPECT_THAT(failure.message, StartsWith(one.server.address().str() + ": "));
  const Served served;  // a matching server comes later
  offers.agents[""].push_back(of(served));
  resolver->set(offers);
  EXPECT_EQ(stub.twice(2, {.deadline = 20s}), 4);
}

TEST(Schemas, OneOfAListThatIsNotItsOwnDoesNotKeepAClientFromTheOthers) {
  const ServedStranger stranger;
  auto served = std::make_unique<Served>();
  mf::Client client(stranger.server.address().str() + "," + served->url());
  const calls::EchoClient stub(client);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stub.twice(i, {.deadline = 20s}), 2 * i);
}

}  // namespace
}  // namespace mftest::schemas_test
