// Each flow under faults at each step, in virtual time: ninety calls of three clients a seed, while messages
// are lost, late, repeated and out of order, processes are killed and come back, links are cut, and the lead
// goes from one to the other, noticed late. In one seed of fifty a client makes more calls at once besides
// than a replica takes of it. MF_REPLICATED_SEEDS runs more seeds (`make soak`).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "replicated/world.hpp"

namespace mf::replicated::testing::simulated_test {
namespace {

constexpr std::uint64_t kSeeds = 100;
constexpr int kCalls = 30;
constexpr std::uint64_t kBurst = kMostAhead + 200;
constexpr std::uint64_t kBurstEvery = 50;

void require(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

template <class T>
const T& choice(World& world, const std::vector<T>& from) {
  return from[world.below(from.size())];
}

void cut(World& world, const std::vector<std::pair<PeerId, PeerId>>& pairs) {
  world.partition(pairs);
  world.at(world.uniform(0.05, 2.5), [&world] { world.heal(); });
}

/// Unless so many have lost their memory already that no majority is left which remembers.
void kill(World& world, const std::string& name) {
  const auto remembering = std::count_if(
      world.processes.begin(), world.processes.end(),
      [&](const auto& each) { return each.second->replica.normal() != 0 && each.first != name; });
  if (static_cast<std::size_t>(remembering) <= world.names().size() / 2) return;
  world.kill(name);
  world.at(world.uniform(0.05, 0.8), [&world, name] { world.start(name); });
}

/// One fault, that ends by itself after a while.
void disturb(World& world) {
  std::vector<std::string> names;
  for (const auto& [name, process] : world.processes) names.push_back(name);
  std::vector<Caller*> callers;
  for (const auto& [id, caller] : world.callers) callers.push_back(caller.get());
  const auto name = choice(world, names);
  switch (world.below(9)) {
    case 0:
      return kill(world, name);
    case 1:
      if (world.leader) kill(world, std::string(world.leader->name));
      return;
    case 2:
      return cut(world, {{name, choice(world, names)}});
    case 3: {
      std::vector<std::pair<PeerId, PeerId>> pairs;
      for (const auto& other : names) pairs.emplace_back(name, other);
      return cut(world, pairs);
    }
    case 4:
      return world.take_lead_away(world.uniform(0.0, 1.5));
    case 5:
      return cut(world, {{name, choice(world, callers)->client()}});
    case 6:
      return world.give_up(*choice(world, callers));
    case 7:
      return world.pause(name, world.uniform(0.1, 1.5));
    default: {
      // Two give out versions, each reached by clients, and some replicas hear of both.
      if (!world.leader) return;
      const auto leader = world.leader->name;
      std::vector<std::pair<PeerId, PeerId>> pairs;
      for (const auto& other : names) {
        if (other != leader && world.below(2) == 0) pairs.emplace_back(leader, other);
      }
      cut(world, pairs);
      world.take_lead_away(world.uniform(0.5, 2.0));
    }
  }
}

void check_what_survived(World& world) {
  const auto& first = *world.processes.begin()->second;
  for (const auto& [name, process] : world.processes)
    require(process->state == first.state, "replicas differ");
  const auto count = world.names().size();
  for (const auto& [made, result] : world.results) {
    const auto* const applied = std::get_if<Applied>(&result);
    if (applied == nullptr) continue;
    const auto required = world.begun.at(made);
    require(applied->members.size() >= needed(required, count), "fewer replicas than were required");
    require(world.contents.at(applied->version) == made, "a call has the version of another message");
    if (required != Require::one)
      require(first.held.contains(made),
              "message " + std::to_string(made.second) + " was acknowledged and is gone");
  }
}

/// One more client that makes many calls at once, which all have time enough to end well.
Uuid burst(World& world, Pattern pattern) {
  auto& caller = world.client();
  world.at(0.5, [&world, &caller, pattern] {
    for (std::uint64_t i = 0; i < kBurst; ++i) world.call(caller, pattern, Require::majority, 1'000.0);
  });
  return caller.client();
}

/// One run; every rule is checked on the way and at its end. Gives how many calls have succeeded.
std::size_t simulate(Pattern pattern, std::uint64_t seed) {
  World::Options options;
  options.seed = seed;
  options.members = seed % 4 == 0 ? 5 : 3;
  options.network = {.lost = 0.03, .repeated = 0.05, .least = 0.0002, .most = 0.02};
  if (seed % 3 == 0) {
    options.settings.most_entries = 15;
    options.settings.chunk_bytes = 500;
  }
  options.applying = 0.003;
  World world(options);
  for (int i = 0; i < 3; ++i) {
    auto& caller = world.client();
    for (int call = 0; call < kCalls; ++call) {
      const auto needs =
          choice(world, std::vector{Require::one, Require::majority, Require::majority, Require::all});
      const auto timeout = choice(world, std::vector{0.5, 3.0, 20.0});
      world.at(world.uniform(0.0, 1.5),
               [&world, &caller, pattern, needs, timeout] { world.call(caller, pattern, needs, timeout); });
    }
  }
  std::optional<Uuid> flood;
  if (seed % kBurstEvery == 0) flood = burst(world, pattern);
  for (auto faults = 2 + world.below(24); faults > 0; --faults)
    world.at(world.uniform(0.05, 2.0), [&world] { disturb(world); });
  world.run(4.5);
  world.calm();
  require(world.run_until([&] { return world.results.size() == world.begun.size(); }, 25.0),
          world.describe());
  for (const auto& [made, result] : world.results) {
    const auto* const failure = std::get_if<Failure>(&result);
    require(failure == nullptr || made.first != flood,
            "call " + std::to_string(made.second) + " of many at once did not end well");
  }
  if (pattern != Pattern::no_versioning) {
    require(world.run_until([&] { return world.settled(); }, 30.0), world.describe());
    check_what_survived(world);
  }
  require(world.stuck.empty(), world.stuck.empty() ? "" : world.stuck.front());
  return static_cast<std::size_t>(
      std::count_if(world.results.begin(), world.results.end(),
                    [](const auto& each) { return std::holds_alternative<Applied>(each.second); }));
}

std::uint64_t seeds() {
  const char* const more = std::getenv("MF_REPLICATED_SEEDS");
  return more == nullptr ? kSeeds : std::strtoull(more, nullptr, 10);
}

class Simulated : public ::testing::TestWithParam<Pattern> {};

TEST_P(Simulated, NoFaultBreaksTheOrderOrLosesWhatAMajorityHasAcknowledged) {
  std::size_t applied = 0;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    try {
      applied += simulate(GetParam(), seed);
    } catch (const Broken& broken) {
      FAIL() << "seed " << seed << ": " << broken.what();
    }
  }
  EXPECT_GT(applied, seeds() * 3 * kCalls / 2);  // most calls succeed all the same
}

INSTANTIATE_TEST_SUITE_P(All, Simulated,
                         ::testing::Values(Pattern::no_versioning, Pattern::version_request,
                                           Pattern::message_returns_version, Pattern::one_hop,
                                           Pattern::one_hop_ack_client, Pattern::wait_for_version,
                                           Pattern::chain),
                         [](const auto& each) { return std::string(name(each.param)); });

}  // namespace
}  // namespace mf::replicated::testing::simulated_test
