// Agents are given as values of their type, and shown as users write them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/current_call.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "mftest/agents.client.hpp"
#include "mftest/agents.server.hpp"

namespace mftest::agents_test {
namespace {

using agents::Venue;

/// Returns the agent of its call, and its own name.
template <class Base>
class Named final : public Base {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::string name() override { return std::string(mf::current_call().agent) + " " + name_; }

 private:
  std::string name_;
};

constexpr mf::Uuid kNode{
    {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}};
constexpr auto kNodeText = "00112233-4455-6677-8899-aabbccddeeff";

template <class Hub>
void offer_all(Hub& hub) {
  hub.offer(std::make_shared<Named<agents::TradingServant>>("first"), {.agent = "xetra"});
  hub.offer(std::make_shared<Named<agents::TradingServant>>("second"),
            {.agent = mf::agent_text(Venue::eurex)});
  hub.offer(std::make_shared<Named<agents::ShardedServant>>("seventh"), {.agent = mf::agent_text(7U)});
  hub.offer(std::make_shared<Named<agents::NodesServant>>("node"), {.agent = mf::agent_text(kNode)});
}

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const mf::Error& error) {
    return error.message();
  }
  return "no error";
}

void expect_typed(mf::Client& client) {
  const agents::TradingClient trading(client);
  EXPECT_EQ(trading.at(Venue::xetra).name(), "xetra first");
  EXPECT_EQ(trading.at(Venue::eurex).name(), "eurex second");
  EXPECT_EQ(agents::ShardedClient(client).at(7).name(), "7 seventh");
  EXPECT_EQ(agents::NodesClient(client).at(kNode).name(), kNodeText + std::string(" node"));
  const auto all = trading.on({Venue::eurex, Venue::xetra}).name();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].agent, "eurex");
  EXPECT_EQ(all[0].outcome.value(), "eurex second");
  EXPECT_EQ(all[1].agent, "xetra");
}

TEST(Agents, AreTypedInTheProcess) {
  mf::Light light;
  offer_all(light);
  mf::Client client(light);
  expect_typed(client);
  auto everywhere = agents::TradingClient(client).everywhere().name();
  std::ranges::sort(everywhere, {}, &mf::AgentOutcome<std::string>::agent);
  ASSERT_EQ(everywhere.size(), 2U);
  EXPECT_EQ(everywhere[0].agent, "eurex");
}

TEST(Agents, AreTypedAcrossHosts) {
  mf::Server server;
  offer_all(server);
  server.start();
  mf::Client client("tcp://127.0.0.1:" + std::to_string(server.address().port));
  expect_typed(client);
}

TEST(Agents, OfAnEnumAreShownByTheirNamesInMessages) {
  mf::Light light;
  light.offer(std::make_shared<Named<agents::TradingServant>>("first"), {.agent = "1"});
  const auto again = [&] {
    light.offer(std::make_shared<Named<agents::TradingServant>>("x"), {.agent = "xetra"});
  };
  EXPECT_NE(message_of(again).find("offered already for \"xetra\""), std::string::npos) << message_of(again);
  mf::Client client(light);
  const auto other = [&] { agents::TradingClient(client).at(Venue::eurex).name(); };
  EXPECT_NE(message_of(other).find("for agent \"eurex\""), std::string::npos) << message_of(other);
}

TEST(Agents, OfAnEnumAreShownByTheirNamesInWhatAServerRefuses) {
  mf::Server server;
  server.offer(std::make_shared<Named<agents::TradingServant>>("first"), {.agent = "xetra"});
  server.start();
  mf::Client client("tcp://127.0.0.1:" + std::to_string(server.address().port));
  const auto other = [&] { agents::TradingClient(client).at(Venue::eurex).name(); };
  EXPECT_NE(message_of(other).find("for agent \"eurex\"; known agents: \"xetra\""), std::string::npos)
      << message_of(other);
}

}  // namespace
}  // namespace mftest::agents_test
