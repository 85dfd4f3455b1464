// Each flow without faults: how many messages of which kind each process sends to each other, in which order;
// those of tests/vectors/replicated/flows.json, which Python's machines send, too.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "replicated/world.hpp"

namespace mf::replicated::testing::flows_test {
namespace {

constexpr Pattern kPatterns[] = {
    Pattern::no_versioning, Pattern::version_request,    Pattern::message_returns_version,
    Pattern::one_hop,       Pattern::one_hop_ack_client, Pattern::wait_for_version,
    Pattern::chain};

std::vector<Sent> flow(Pattern pattern) {
  std::ifstream file(MF_SOURCE_DIR "/tests/vectors/replicated/flows.json");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Sent> sent;
  const auto flows = boost::json::parse(text.str());
  for (const auto& each : flows.at(name(pattern)).as_array()) {
    const auto part = [&](std::size_t i) { return std::string(each.at(i).as_string()); };
    sent.emplace_back(part(0), part(1), part(2));
  }
  return sent;
}

/// `a` gives out the versions.
std::unique_ptr<World> ready_world() {
  auto world = std::make_unique<World>();
  EXPECT_TRUE(world->run_until([&] { return world->ready(); }, 5.0));
  world->run(1.0);
  EXPECT_EQ(world->leader->name, "a");
  return world;
}

/// What one call sends, between replicas that have nothing to catch up with.
std::vector<Sent> trace(World& world, Pattern pattern, Require require) {
  auto& caller = world.client();
  world.run(0.01);
  world.sent.clear();
  const auto sequence = world.call(caller, pattern, require);
  const Made key(caller.client(), sequence);
  EXPECT_TRUE(world.run_until([&] { return world.results.contains(key); }, 1.0));
  EXPECT_TRUE(std::holds_alternative<Applied>(world.results.at(key)));
  auto sent = world.sent;
  std::erase_if(
      sent, [](const Sent& each) { return std::get<2>(each) == "Prepare" || std::get<2>(each) == "Report"; });
  return sent;
}

class Flows : public ::testing::TestWithParam<Pattern> {};

TEST_P(Flows, AMessageCostsWhatItsFlowSays) {
  EXPECT_EQ(trace(*ready_world(), GetParam(), Require::all), flow(GetParam()));
}

TEST_P(Flows, TheResultNamesTheVersionAndTheReplicasThatHaveAppliedIt) {
  const auto world = ready_world();
  auto& caller = world->client();
  world->run(0.01);

  for (const auto* payload : {"first", "second"}) {
    world->call(caller, GetParam(), Require::all, 20.0, payload);
    world->run(0.01);
  }

  const auto result = [&](std::uint64_t sequence) {
    return std::get<Applied>(world->results.at({caller.client(), sequence}));
  };
  const std::vector<std::string> all{"a", "b", "c"};
  EXPECT_EQ(result(1).members, all);
  EXPECT_EQ(result(2).members, all);
  const bool versioned = GetParam() != Pattern::no_versioning;
  EXPECT_EQ(result(1).version, versioned ? (Version{.epoch = 1, .counter = 1}) : Version{});
  EXPECT_EQ(result(2).version, versioned ? (Version{.epoch = 1, .counter = 2}) : Version{});
  EXPECT_EQ(result(1).outcome.payload.text(), "first");
  EXPECT_EQ(result(2).outcome.payload.text(), "second");
}

INSTANTIATE_TEST_SUITE_P(All, Flows, ::testing::ValuesIn(kPatterns),
                         [](const auto& each) { return std::string(name(each.param)); });

TEST(Calls, ACallEndsWhenAsManyAsAreRequiredHaveAppliedIt) {
  for (const auto& [require, count] :
       {std::pair(Require::one, 1U), std::pair(Require::majority, 2U), std::pair(Require::all, 3U)}) {
    const auto world = ready_world();
    (void)trace(*world, Pattern::one_hop_ack_client, require);
    EXPECT_EQ(std::get<Applied>(world->results.begin()->second).members.size(), count);
  }
}

TEST(Calls, WithAllRequiredACallWaitsForAReplicaThatIsGoneAndItsDeadlineEndsIt) {
  const auto world = ready_world();
  auto& caller = world->client();
  world->kill("c");
  world->run(0.01);

  world->call(caller, Pattern::one_hop_ack_client, Require::all, 2.0);
  world->run(3.0);

  const auto failure = std::get<Failure>(world->results.at({caller.client(), 1}));
  EXPECT_EQ(failure.code, Code::deadline_exceeded);
  EXPECT_EQ(failure.execution, Execution::unknown);
  EXPECT_EQ(failure.message, "2 of 3 replicas are known to have applied it, 3 must");
}

TEST(Calls, TheChainGoesRoundAReplicaThatIsGone) {
  const auto world = ready_world();
  world->kill("b");
  world->run(0.1);

  EXPECT_EQ(trace(*world, Pattern::chain, Require::majority),
            (std::vector<Sent>{{"client", "a", "Submit"}, {"a", "c", "Stamped"}, {"c", "client", "Ack"}}));
}

}  // namespace
}  // namespace mf::replicated::testing::flows_test
