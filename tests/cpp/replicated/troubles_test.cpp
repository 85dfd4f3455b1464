// Single troubles, one a test, in virtual time: what a group does about each.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "replicated/world.hpp"

namespace mf::replicated::testing::troubles_test {
namespace {

std::unique_ptr<World> ready_world(World::Options options = {}) {
  auto world = std::make_unique<World>(options);
  EXPECT_TRUE(world->run_until([&] { return world->ready(); }, 5.0));
  return world;
}

/// Calls one after the other, of a new client, that all succeed.
std::vector<Applied> put(World& world, int count = 1, Pattern pattern = Pattern::one_hop_ack_client) {
  auto& caller = world.client();
  world.run(0.01);
  std::vector<Applied> made;
  for (int i = 0; i < count; ++i) {
    const Made key(caller.client(), world.call(caller, pattern));
    EXPECT_TRUE(world.run_until([&] { return world.results.contains(key); }, 20.0));
    made.push_back(std::get<Applied>(world.results.at(key)));
  }
  return made;
}

/// Once all are alike.
std::size_t held_by_all(World& world) {
  EXPECT_TRUE(world.run_until([&] { return world.settled(); }, 20.0)) << world.describe();
  const auto& first = *world.processes.begin()->second;
  for (const auto& [name, process] : world.processes) EXPECT_EQ(process->state, first.state) << name;
  return first.state.size();
}

TEST(Troubles, AVersionThatWasGivenOutAndNeverUsedBecomesANoOp) {
  const auto world = ready_world();
  auto& gone = world->client();
  world->run(0.01);
  world->call(gone, Pattern::version_request);
  world->give_up(gone);
  world->run(0.01);
  for (const auto& name : world->names()) world->partition({{name, gone.client()}});

  const auto result = put(*world, 1, Pattern::version_request).front();

  EXPECT_EQ(result.version, (Version{.epoch = 1, .counter = 2}));
  EXPECT_EQ(held_by_all(*world), 1U);
  for (const auto& [name, process] : world->processes) {
    const auto* const entry = process->replica.log().at(1);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_FALSE(entry->body.has_value()) << name;
  }
}

TEST(Troubles, TheNextVersioningServerGoesOnBehindAllThatAMajorityHas) {
  const auto world = ready_world();
  put(*world, 5);
  world->kill("a");

  const auto next = put(*world).front();

  EXPECT_EQ(next.version, (Version{.epoch = 2, .counter = 6}));
}

TEST(Troubles, AReplicaThatComesBackWithoutMemoryCatchesUpBeforeItCounts) {
  for (const bool can_snapshot : {true, false}) {
    World::Options options;
    options.can_snapshot = can_snapshot;
    const auto world = ready_world(options);
    put(*world, 10);
    world->kill("c");
    put(*world, 10);
    world->start("c");

    EXPECT_EQ(held_by_all(*world), 20U);
  }
}

TEST(Troubles, WhatTheLogsNoLongerKeepComesAsASnapshot) {
  World::Options options;
  options.settings.most_entries = 5;
  const auto world = ready_world(options);
  put(*world, 10);
  world->kill("c");
  put(*world, 20);
  world->start("c");

  EXPECT_EQ(held_by_all(*world), 30U);
  EXPECT_GE(std::count(world->sent.begin(), world->sent.end(), Sent("a", "c", "Restore")), 1);
}

/// What one replica gets of a state, and what it answers, since this was made.
class Parts {
 public:
  Parts(World& world, std::string member) : member_(std::move(member)) {
    world.watch = [this](const PeerId& from, const PeerId& to, const Message& message) {
      if (message.kind() == Message::Kind::part && to == PeerId(member_)) {
        parts.push_back(message.part());
        givers.insert(std::get<std::string>(from));
        places.push_back(message.part().offset);
      } else if (message.kind() == Message::Kind::took && from == PeerId(member_)) {
        places.push_back(message.took().size);
      }
    };
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  std::vector<Part> parts;
  std::set<std::string> givers;
  std::vector<std::uint64_t> places;  // in the state: where a part begins, and up to where it was taken

 private:
  const std::string member_;
};

/// With these a state of ten messages goes in several parts.
World::Options small_parts(std::size_t members = 3) {
  World::Options options;
  options.members = members;
  options.settings.most_entries = 4;
  options.settings.chunk_bytes = 40;
  return options;
}

void without_memory(World& world, const std::string& name) {
  world.kill(name);
  world.run(0.1);
  world.start(name);
}

TEST(Troubles, ALongStateComesInPartsOfWhichEachIsAskedForByWhatIsThere) {
  const auto world = ready_world(small_parts());
  put(*world, 10);
  const Parts seen(*world, "c");
  without_memory(*world, "c");

  EXPECT_EQ(held_by_all(*world), 10U);
  // What came first came before it could take a log, perhaps more than once.
  const auto first = std::find(seen.places.rbegin(), seen.places.rend(), 0U).base() - 1;
  const std::vector<std::uint64_t> places(first, seen.places.end());
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t at = 0; at < seen.parts.front().state.size; at += 40) {
    wanted.push_back(at);
    wanted.push_back(std::min<std::uint64_t>(at + 40, seen.parts.front().state.size));
  }
  EXPECT_EQ(places, wanted);
  EXPECT_GT(wanted.size(), 6U);
}

TEST(Troubles, AReplicaWhoseGiverIsKilledInTheMidstOfItsStateGetsThatOfAnother) {
  const auto world = ready_world(small_parts(5));
  put(*world, 10);
  const Parts seen(*world, "c");
  without_memory(*world, "c");
  EXPECT_TRUE(world->run_until([&] { return !seen.parts.empty() && seen.parts.back().offset != 0; }, 5.0));
  EXPECT_TRUE(world->processes.at("c")->state.empty());
  const auto giver = *seen.givers.begin();
  world->kill(giver);

  put(*world, 2);

  EXPECT_EQ(held_by_all(*world), 12U);
  EXPECT_EQ(seen.givers.size(), 2U);
}

TEST(Troubles, PartsThatAreLostOrComeTwiceAreSentAgainAndCountedOnce) {
  auto options = small_parts();
  options.network = {.lost = 0.2, .repeated = 0.3, .least = 0.0001, .most = 0.01};
  const auto world = ready_world(options);
  put(*world, 10);
  const Parts seen(*world, "c");
  without_memory(*world, "c");

  EXPECT_EQ(held_by_all(*world), 10U);
  EXPECT_GT(seen.parts.size(), 4U);
}

TEST(Troubles, AStateThatIsLongerThanAReplicaTakesIsToldInWords) {
  auto options = small_parts();
  options.settings.most_state = 100;
  const auto world = ready_world(options);
  put(*world, 10);
  without_memory(*world, "c");
  EXPECT_TRUE(world->run_until([&] { return !world->stuck.empty(); }, 5.0));

  EXPECT_EQ(world->stuck,
            (std::vector<std::string>{"c: the state of 'a' takes 256 bytes; this one takes 100"}));
}

TEST(Troubles, ALogWithGapsIsNotTakenAndToldInWords) {
  Replica replica("c", {"a", "b", "c"}, uuid(7), uuid(1), true);
  const TimePoint now{std::chrono::hours(1)};
  for (const auto* const member : {"a", "b"})
    replica.receive(member, Message::of_recovered({.life = uuid(1), .blank = false, .promised = 1}), now);
  replica.receive("a", Message::of_prepare({.epoch = 1, .ready = true, .head = {}}), now);
  (void)replica.take();
  const auto distrusted = [&](Message message) {
    replica.receive("a", std::move(message), now);
    const auto effects = replica.take();
    EXPECT_EQ(effects.size(), 1U);
    return effects.empty() ? "" : std::get<Distrust>(effects.front()).reason;
  };
  const auto entries_of = [](std::vector<std::uint64_t> counters) {
    std::vector<Entry> entries;
    for (const auto counter : counters)
      entries.push_back({.version = {.epoch = 1, .counter = counter}, .body = {}});
    return entries;
  };

  EXPECT_EQ(
      distrusted(Message::of_sync({.epoch = 1, .after = {}, .entries = entries_of({1, 3}), .last = true})),
      "its log goes on with 3 where 2 comes next");
  EXPECT_EQ(distrusted(Message::of_restore({.epoch = 1,
                                            .instead = {},
                                            .state = {},
                                            .at = {},
                                            .clients = {},
                                            .entries = entries_of({2}),
                                            .last = true})),
            "its log goes on with 2 where 1 comes next");

  EXPECT_EQ(replica.log().head(), Head{});
  EXPECT_FALSE(replica.is_normal());
}

TEST(Troubles, WithoutSnapshotsAReplicaThatTheLogsCannotHelpStaysOutsideAndTheOthersGoOn) {
  World::Options options;
  options.settings.most_entries = 5;
  options.can_snapshot = false;
  const auto world = ready_world(options);
  world->kill("c");
  put(*world, 20);
  world->start("c");
  world->run(3.0);

  EXPECT_FALSE(world->processes.at("c")->replica.is_normal());
  EXPECT_EQ(put(*world).front().members, (std::vector<std::string>{"a", "b"}));
}

TEST(Troubles, AGroupBeginsWhenAllOfItIsThereAndNotBefore) {
  World world;
  world.kill("c");
  world.run(3.0);
  EXPECT_FALSE(world.ready());

  world.start("c");

  EXPECT_TRUE(world.run_until([&] { return world.ready(); }, 3.0)) << world.describe();
}

TEST(Troubles, WithLessThanAMajorityNoCallIsAcknowledgedAndTheLeadIsGivenUp) {
  const auto world = ready_world();
  auto& caller = world->client();
  world->kill("b");
  world->kill("c");
  world->run(0.01);
  world->call(caller, Pattern::one_hop_ack_client, Require::majority, 2.0);
  world->run(3.0);

  EXPECT_EQ(std::get<Failure>(world->results.at({caller.client(), 1})).code, Code::deadline_exceeded);
  EXPECT_FALSE(world->processes.at("a")->replica.leads());
}

TEST(Troubles, WhoHasLostTheLeadAndDoesNotKnowItGetsNoMajority) {
  const auto world = ready_world();
  auto& caller = world->client();
  world->run(0.01);
  world->partition({{"a", "b"}, {"a", "c"}, {"b", caller.client()}, {"c", caller.client()}});
  world->take_lead_away(2.0);
  world->run(1.0);
  world->call(caller, Pattern::one_hop_ack_client, Require::majority, 1.0);
  world->run(1.5);
  EXPECT_TRUE(std::holds_alternative<Failure>(world->results.at({caller.client(), 1})));

  world->heal();

  EXPECT_EQ(put(*world).front().version.epoch, 2U);
  EXPECT_TRUE(world->run_until([&] { return world->settled(); }, 20.0)) << world->describe();
}

TEST(Troubles, WhatAMajorityHasAcknowledgedWithoutTheVersioningServerSurvivesALostMemory) {
  const auto world = ready_world();
  auto& caller = world->client();
  world->run(0.01);
  world->watch = [&](const PeerId& /*from*/, const PeerId& to, const Message& message) {
    if (to == PeerId("a") && message.is_stamped()) world->partition({{"a", caller.client()}, {"a", "c"}});
  };
  const Made key(caller.client(), world->call(caller, Pattern::version_request, Require::majority, 1.0));
  ASSERT_TRUE(world->run_until([&] { return world->results.contains(key); }, 0.1));
  world->watch = nullptr;
  const auto result = std::get<Applied>(world->results.at(key));
  EXPECT_EQ(result.members, (std::vector<std::string>{"b", "c"}));

  world->kill("b");
  world->start("b");
  world->run(3.0);
  const bool served = world->processes.at("b")->replica.is_normal();
  world->heal();

  EXPECT_FALSE(served) << "it would deny that the message was ever there";
  EXPECT_EQ(held_by_all(*world), 1U);
  EXPECT_EQ(world->contents.at(result.version), key);
}

/// One machine alone, among two others that the test plays.
class Alone : public ::testing::Test {
 protected:
  Alone() {
    replica.connected(PeerId("a"), now);
    replica.connected(client, now);
    receive("a", Message::of_recovered({.life = uuid(1), .blank = false, .promised = 3}));
    receive("c", Message::of_recovered({.life = uuid(1), .blank = false, .promised = 2}));
    receive("a", Message::of_prepare({.epoch = 3, .ready = true, .head = {}}));
  }
  void receive(const std::string& from, Message message) {
    replica.receive(PeerId(from), std::move(message), now);
  }
  void become_normal() {
    receive("a", Message::of_sync({.epoch = 3, .after = {}, .entries = {}, .last = true}));
    (void)replica.take();
  }
  [[nodiscard]] Stamped stamped(std::uint64_t counter) const {
    Body body;
    body.origin = {.client = std::get<Uuid>(client), .sequence = counter, .oldest = 1};
    body.schema = uuid(7);
    body.pattern = Pattern::one_hop_ack_client;
    return {.entry = {.version = {.epoch = 3, .counter = counter}, .body = body},
            .under = 3,
            .then = {},
            .applied = {}};
  }
  /// What it asks of the servant, and sends to the client.
  [[nodiscard]] std::pair<std::vector<std::uint64_t>, std::size_t> asked() {
    std::pair<std::vector<std::uint64_t>, std::size_t> found;
    for (const auto& effect : replica.take()) {
      if (const auto* const apply = std::get_if<Apply>(&effect))
        found.first.push_back(apply->version.counter);
      if (const auto* const send = std::get_if<Send>(&effect)) found.second += send->message.is_ack() ? 1 : 0;
    }
    return found;
  }

  TimePoint now{std::chrono::hours(1)};
  PeerId client{uuid(1000)};
  Replica replica{"b", {"a", "b", "c"}, uuid(7), uuid(1), true};
};

TEST_F(Alone, WhatComesEarlyWaitsAndIsAppliedInOrder) {
  become_normal();
  receive("a", Message::of_stamped(stamped(3)));
  receive("a", Message::of_stamped(stamped(2)));
  EXPECT_TRUE(asked().first.empty());

  receive("a", Message::of_stamped(stamped(1)));

  EXPECT_EQ(asked().first, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Alone, TakesNoLogBeforeItKnowsWhatItMayHavePromised) {
  Replica other{"b", {"a", "b", "c"}, uuid(7), uuid(2), true};
  other.receive(PeerId("a"), Message::of_prepare({.epoch = 3, .ready = true, .head = {}}), now);
  other.receive(PeerId("a"), Message::of_sync({.epoch = 3, .after = {}, .entries = {}, .last = true}), now);
  EXPECT_FALSE(other.is_normal());

  become_normal();
  EXPECT_TRUE(replica.is_normal());
}

TEST_F(Alone, AcknowledgesWhenTheServantHasAppliedAndNotBefore) {
  become_normal();
  receive("a", Message::of_stamped(stamped(1)));
  EXPECT_EQ(asked().second, 0U);

  replica.done({}, now);

  EXPECT_EQ(asked().second, 1U);
}

TEST_F(Alone, WhatIsSentTwiceIsAppliedOnceAndAcknowledgedTwice) {
  become_normal();
  receive("a", Message::of_stamped(stamped(1)));
  replica.done({}, now);
  EXPECT_EQ(asked(), (std::pair(std::vector<std::uint64_t>{1}, std::size_t{1})));

  receive("a", Message::of_stamped(stamped(1)));

  EXPECT_EQ(asked(), (std::pair(std::vector<std::uint64_t>{}, std::size_t{1})));
}

TEST_F(Alone, AcknowledgesNothingOnceItHasPromisedAnotherEpoch) {
  become_normal();
  receive("a", Message::of_stamped(stamped(1)));
  receive("c", Message::of_prepare({.epoch = 4, .ready = false, .head = {}}));
  replica.done({}, now);
  receive("a", Message::of_stamped(stamped(2)));

  EXPECT_EQ(asked(), (std::pair(std::vector<std::uint64_t>{1}, std::size_t{0})));
}

TEST_F(Alone, AClientCannotSendInTheNameOfAnotherNorSayWhatMembersSay) {
  become_normal();
  const PeerId other(uuid(1001));
  replica.receive(other, Message::of_stamped(stamped(1)), now);
  replica.receive(client, Message::of_prepare({.epoch = 9, .ready = true, .head = {}}), now);
  replica.receive(
      client, Message::of_sync({.epoch = 3, .after = {}, .entries = {stamped(1).entry}, .last = true}), now);

  EXPECT_EQ(replica.log().counter(), 0U);
  EXPECT_EQ(replica.promised(), 3U);
}

TEST_F(Alone, AMessageOfASchemaThatIsNotKnownYetIsRefusedAndSentAgainUntilItIs) {
  become_normal();
  auto message = stamped(1);
  message.entry.body->schema = uuid(8);
  replica.receive(client, Message::of_stamped(message), now);

  const auto effects = replica.take();
  ASSERT_EQ(effects.size(), 1U);
  const auto& refused = std::get<Send>(effects.front()).message.refused();
  EXPECT_EQ(refused.code, static_cast<std::uint8_t>(Code::unavailable));

  Caller caller(std::get<Uuid>(client), {"a", "b", "c"}, uuid(8));
  caller.connected("b", now);
  caller.receive("b", Message::of_leading({.epoch = 3, .member = "b"}), now);
  caller.start("put", Bytes(), Pattern::version_request, Require::one, now + std::chrono::seconds(1), now);
  caller.receive("b", Message::of_refused(refused), now);
  for (const auto& effect : caller.take()) EXPECT_FALSE(std::holds_alternative<Done>(effect));

  replica.accept({uuid(7), uuid(8)});
  replica.receive(client, Message::of_stamped(message), now);
  EXPECT_EQ(asked().first, std::vector<std::uint64_t>{1});
}

TEST(Callers, AcknowledgementsOfDifferentEpochsDoNotCountTogether) {
  const TimePoint now{std::chrono::hours(1)};
  Caller caller(uuid(1000), {"a", "b", "c"}, uuid(7));
  caller.start("put", Bytes(), Pattern::one_hop_ack_client, Require::majority, now + std::chrono::seconds(1),
               now);
  const auto ack = [&](const std::string& member, std::uint64_t under) {
    caller.receive(member,
                   Message::of_ack({.client = uuid(1000),
                                    .sequence = 1,
                                    .version = {.epoch = 1, .counter = 1},
                                    .under = under,
                                    .applied = {member},
                                    .outcome = {}}),
                   now);
  };
  ack("a", 1);
  ack("b", 2);
  EXPECT_TRUE(caller.take().empty());

  ack("c", 2);

  const auto ended = caller.take();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(std::get<Applied>(std::get<Done>(ended.front()).result).members,
            (std::vector<std::string>{"b", "c"}));
}

TEST(Callers, BeyondTheWindowCallsWaitForOthersToEnd) {
  const TimePoint now{std::chrono::hours(1)};
  Caller caller(uuid(1000), {"a"}, uuid(7), 2);
  caller.connected("a", now);
  caller.receive("a", Message::of_leading({.epoch = 1, .member = "a"}), now);
  for (int i = 0; i < 4; ++i)
    caller.start("put", Bytes(), Pattern::one_hop, Require::one, now + std::chrono::seconds(1), now);
  EXPECT_EQ(caller.take().size(), 2U);

  caller.receive("a",
                 Message::of_ack({.client = uuid(1000),
                                  .sequence = 1,
                                  .version = {.epoch = 1, .counter = 1},
                                  .under = 1,
                                  .applied = {"a"},
                                  .outcome = {}}),
                 now);

  const auto effects = caller.take();
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(std::get<Done>(effects[0]).sequence, 1U);
  EXPECT_EQ(std::get<SendTo>(effects[1]).message.submit().body.origin.sequence, 3U);
}

}  // namespace
}  // namespace mf::replicated::testing::troubles_test
