#include "mf/controller/controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/controller_fixture.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using namespace testing_offers;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ControllerTest, ARegistrationIsToldHowItStands) {
  const auto server = add(1, 1, {offer("Index", "books")});
  ASSERT_EQ(server->values.size(), 1U);
  EXPECT_EQ(server->values[0].lease, 30s);
  EXPECT_NE(server->values[0].run, 0U);
  EXPECT_NE(server->values[0].cluster, Uuid{});
  EXPECT_THAT(server->values[0].warnings, IsEmpty());
  EXPECT_TRUE(server->open());
  EXPECT_THAT(found("Index"), ElementsAre("books@1"));
}

TEST_F(ControllerTest, AWatcherGetsASnapshotAndThenWhatChanges) {
  add(1, 1, {offer("Index", "books")});
  const auto watcher = watch(filter("Index"));
  add(2, 2, {offer("Index", "news"), offer("Rank")});
  EXPECT_TRUE(update(who(2), {offer("Index", "maps")}, {key("Index", "news")}).ok());
  EXPECT_TRUE(deregister(who(1)).ok());
  ASSERT_EQ(watcher->values.size(), 4U);
  EXPECT_TRUE(watcher->values[0].snapshot);
  EXPECT_THAT(shown(watcher->values[0].put), ElementsAre("books@1"));
  EXPECT_THAT(shown(watcher->values[1].put), ElementsAre("news@2"));
  EXPECT_THAT(shown(watcher->values[2].put), ElementsAre("maps@2"));
  EXPECT_THAT(shown(watcher->values[2].gone), ElementsAre("news@2"));
  EXPECT_THAT(shown(watcher->values[3].gone), ElementsAre("books@1"));
}

TEST_F(ControllerTest, AChangeOfAnotherServiceWakesNobody) {
  const auto watcher = watch(filter("Index"));
  const auto prefix = watch(filter("Ra*"));
  add(1, 1, {offer("Rank")});
  EXPECT_EQ(watcher->values.size(), 1U);
  EXPECT_EQ(prefix->values.size(), 2U);
}

TEST_F(ControllerTest, WhoWasCutOffGoesOnWithoutASnapshot) {
  add(1, 1, {offer("Index", "books")});
  const auto before = watch(filter("Index"));
  before->leave();
  add(2, 2, {offer("Index", "news")});
  EXPECT_EQ(before->values.size(), 1U) << "it is gone";
  const auto again = watch(filter("Index"), before->values[0].run, before->values[0].revision);
  ASSERT_EQ(again->values.size(), 1U);
  EXPECT_FALSE(again->values[0].snapshot);
  EXPECT_THAT(shown(again->values[0].put), ElementsAre("news@2"));
}

TEST_F(ControllerTest, AWatcherThatDoesNotReadHasOneValueUnderWayWhateverChanges) {
  auto slow = std::make_shared<Caller<Change>>();
  slow->reads = false;
  watch(filter("Index"), 0, 0, 99, slow);
  for (int i = 0; i < 100; ++i) {
    const auto server = add(1, 1, {offer("Index", std::to_string(i))});
    EXPECT_EQ(slow->values.size(), 1U);
  }
  slow->read();
  ASSERT_EQ(slow->values.size(), 2U) << "all that it has missed, in one value";
  EXPECT_THAT(shown(slow->values[1].put), ElementsAre("99@1"));
}

TEST_F(ControllerTest, AServerWhoseConnectionEndsIsGoneAtOnce) {
  const auto server = add(1, 1, {offer("Index", "books")});
  const auto watcher = watch(filter("Index"));
  server->leave();
  ASSERT_EQ(watcher->values.size(), 2U);
  EXPECT_THAT(shown(watcher->values[1].gone), ElementsAre("books@1"));
  EXPECT_TRUE(log->has("server_lost"));
  EXPECT_TRUE(log->has("which=\"Index for books\" peer=tcp://peer:1"));
}

TEST_F(ControllerTest, ARegistrationThatComesAfterTheEndOfItsConnectionDoesNotCount) {
  auto late = std::make_shared<Caller<Standing>>();
  late->leave();
  over<Standing>(
      1,
      [&](StreamWriter<Standing> out, Responder<void> responder) {
        controller.register_({who(1), "p", {offer("Index", "books")}}, std::move(out), std::move(responder));
      },
      late);
  EXPECT_FALSE(late->open());
  EXPECT_THAT(found("Index"), IsEmpty());
}

// Finding 1 of the controller: registering under another process's nonce took 200 of 200 calls, its
// deregister was accepted, and any client could list nonces.
TEST_F(ControllerTest, AStrangerWhoKnowsTheNonceChangesNothingAndIsNamedInTheLog) {
  const auto server = add(1, 1, {offer("Index", "books")});
  const auto stranger = add_as(controller, 66, who(1, 9), {offer("Index", "books", "tcp://evil:1")});
  ASSERT_FALSE(stranger->open());
  EXPECT_NE(stranger->ended->error_as<NotOwner>(), nullptr);
  EXPECT_NE((*update(who(1, 9), {offer("Index", "evil")}).outcome)->error_as<NotOwner>(), nullptr);
  EXPECT_NE((*deregister(who(1, 9)).outcome)->error_as<NotOwner>(), nullptr);
  EXPECT_TRUE(server->open());
  EXPECT_THAT(found("Index"), ElementsAre("books@1"));
  EXPECT_TRUE(log->has("not_owner action=register"));
  EXPECT_TRUE(log->has("which=\"Index for books\" peer=tcp://peer:66 identity=none owner=tcp://peer:1"));
}

TEST_F(ControllerTest, NobodyElseComesBackAsAProcessWhoseConnectionEnded) {
  add(1, 1, {offer("Index", "books")})->leave();
  EXPECT_THAT(found("Index"), IsEmpty());
  const auto stranger = add_as(controller, 66, who(1, 9), {offer("Index", "books", "tcp://evil:1")});
  ASSERT_FALSE(stranger->open());
  EXPECT_NE(stranger->ended->error_as<NotOwner>(), nullptr);
  EXPECT_THAT(found("Index"), IsEmpty());
  EXPECT_TRUE(add(2, 1, {offer("Index", "books")})->open()) << "it has its secret";
  EXPECT_THAT(found("Index"), ElementsAre("books@1"));
}

TEST_F(ControllerTest, AListNamesProcessesAndPeersAndNoNonces) {
  add(1, 1, {offer("Index", "books"), offer("Rank")});
  add(2, 2, many(600, "Many"));
  const auto listing = over<Entry>(5, [&](StreamWriter<Entry> out, Responder<void> responder) {
    controller.list({}, std::move(out), std::move(responder));
  });
  ASSERT_FALSE(listing->open());
  EXPECT_TRUE(listing->ended->ok());
  ASSERT_EQ(listing->values.size(), 602U);
  EXPECT_EQ(listing->values[0].offer.key, key("Index", "books"));
  EXPECT_EQ(listing->values[0].process, "p1");
  EXPECT_EQ(listing->values[0].peer, "tcp://peer:1");
  EXPECT_TRUE(listing->values[0].verified);
  EXPECT_EQ(listing->values[0].instance.size(), 8U);
  EXPECT_NE(listing->values[0].instance.substr(0, 2), "01") << "it is no part of the nonce";
}

TEST_F(ControllerTest, AProcessThatRegistersAnewMovesToItsNewConnection) {
  const auto before = add(1, 1, {offer("Index", "books")});
  const auto watcher = watch(filter("Index"));
  const auto now = add(2, 1, {offer("Index", "books")});
  EXPECT_EQ(before->code(), Code::cancelled);
  before->leave();
  EXPECT_TRUE(now->open());
  EXPECT_THAT(found("Index"), ElementsAre("books@1"));
  EXPECT_EQ(watcher->values.size(), 1U) << "nothing has changed for its clients";
}

// Finding 2: two servers that offer the same share calls silently, without a warning.
TEST_F(ControllerTest, TwoThatOfferTheSameAreBothShownAndWarnedIfOneWantsToBeAlone) {
  const auto one = add(1, 1, {alone("Clock")});
  const auto two = add(2, 2, {offer("Clock"), offer("Index", "books")});
  EXPECT_THAT(found("Clock"), ElementsAre("@1", "@2"));
  ASSERT_EQ(two->values.size(), 1U);
  ASSERT_EQ(two->values[0].warnings.size(), 1U);
  EXPECT_EQ(two->values[0].warnings[0].key, key("Clock"));
  EXPECT_THAT(two->values[0].warnings[0].text, HasSubstr("Clock is meant to have one server"));
  EXPECT_THAT(two->values[0].warnings[0].text, HasSubstr("process \"p1\""));
  ASSERT_EQ(one->values.size(), 2U);
  EXPECT_THAT(one->values[1].warnings.at(0).text, HasSubstr("process \"p2\""));
  EXPECT_TRUE(log->has("offered_twice name=Clock"));
  const auto third = add(3, 3, {offer("Index", "books")});
  EXPECT_THAT(third->values[0].warnings, IsEmpty()) << "no process wants that alone";
}

// Finding 3: 300,000 offers of one service are accepted, watching it then gives MESSAGE_TOO_LARGE.
TEST_F(ControllerTest, AServiceWithMoreInstancesThanAMessageHoldsIsWatchedInPieces) {
  for (std::uint8_t process = 1; process <= 30; ++process) add(process, process, many(10'000));
  const auto refused = add(1, 31, many(10'000));
  EXPECT_EQ(refused->code(), Code::overloaded);
  const auto watcher = watch(filter("Index"));
  std::size_t told = 0;
  for (const Change& change : watcher->values) {
    EXPECT_LE(change.put.size(), 1'000U);
    told += change.put.size();
  }
  EXPECT_EQ(told, 300'000U);
  EXPECT_FALSE(watcher->values.back().more);
  EXPECT_EQ(found("Index").size(), 1'000U) << "find() gives a part, and says so";
}

TEST_F(ControllerTest, AServerThatShowsNoSignOfLifeLosesItsLease) {
  const auto silent = add(1, 1, {offer("Index", "books")});
  const auto lively = add(2, 2, {offer("Index", "news")});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(update(who(2), {}).ok());
    pass(10s);
  }
  ASSERT_FALSE(silent->open());
  EXPECT_EQ(silent->code(), Code::unavailable);
  EXPECT_TRUE(lively->open());
  EXPECT_THAT(found("Index"), ElementsAre("news@2"));
  EXPECT_TRUE(log->has("lease_over"));
  EXPECT_TRUE(log->has("which=\"Index for books\" peer=tcp://peer:1"));
}

TEST_F(ControllerTest, OneThatWasStoppedItselfDoesNotTellClientsThatAllServersAreGone) {
  ControllerOptions sleepy = options();
  sleepy.asleep_after = 6s;
  Controller paused(sleepy);
  const auto lost = add_as(paused, 1, who(1), {offer("Index", "books")});
  const auto back = add_as(paused, 2, who(2), {offer("Index", "news")});
  clock->advance(60s);  // nothing has run during that time, and servers have given up
  lost->leave();
  back->leave();
  paused.tick();
  EXPECT_THAT(found(paused, filter("Index")), ElementsAre("books@1", "news@2"));
  const auto again = add_as(paused, 3, who(2), {offer("Index", "news")});
  clock->advance(5s);
  paused.tick();
  clock->advance(5s);
  paused.tick();
  EXPECT_THAT(found(paused, filter("Index")), ElementsAre("news@2"))
      << "a process that does not come back is gone";
  clock->advance(1s);
  paused.tick();
  again->leave();
  EXPECT_THAT(found(paused, filter("Index")), IsEmpty()) << "while it runs it is sure";
}

TEST_F(ControllerTest, OneThatIsStoppedBeforeServersHaveComeBackForgetsNobodyOfItsStore) {
  ControllerOptions sleepy = options();
  sleepy.asleep_after = 6s;
  {
    Controller before(sleepy);
    (void)add_as(before, 1, who(1), {offer("Index", "books")});
    before.close();
  }
  Controller paused(sleepy);
  clock->advance(60s);  // nothing has run during that time, and no server could return
  paused.tick();
  EXPECT_THAT(found(paused, filter("Index")), ElementsAre("books@1"));
  for (auto passed = 0s; passed <= sleepy.lease; passed += 1s) {
    clock->advance(1s);
    paused.tick();
  }
  EXPECT_THAT(found(paused, filter("Index")), IsEmpty()) << "it has had its time";
}

TEST_F(ControllerTest, LooksForHavingSleptOftenEnoughWhileAServerIsRegistered) {
  ControllerOptions sleepy = options();
  sleepy.asleep_after = 6s;
  Controller paused(sleepy);
  EXPECT_EQ(paused.tick(), kNever) << "no process is registered";
  const auto server = add_as(paused, 1, who(1), {offer("Index")});
  EXPECT_EQ(paused.tick(), clock->now() + 1500ms);
  server->leave();
  EXPECT_EQ(controller.tick(), kNever);
  const auto other = add(1, 2, {offer("Index")});
  EXPECT_EQ(controller.tick(), clock->now() + sleepy.lease) << "this one never sleeps";
}

TEST_F(ControllerTest, WhoIsNotRegisteredIsToldToRegisterAgain) {
  EXPECT_NE((*update(who(1), {offer("Index")}).outcome)->error_as<NotRegistered>(), nullptr);
  EXPECT_NE((*deregister(who(1)).outcome)->error_as<NotRegistered>(), nullptr);
  const auto server = add(1, 1, {offer("Index")});
  EXPECT_TRUE(deregister(who(1)).ok());
  ASSERT_FALSE(server->open());
  EXPECT_TRUE(server->ended->ok());
  EXPECT_NE((*deregister(who(1)).outcome)->error_as<NotRegistered>(), nullptr);
}

TEST_F(ControllerTest, PingsWhoIsRegisteredAndMoreSeldomWhoOnlyWatches) {
  EXPECT_EQ(add(1, 1, {offer("Index")})->dead_after, 10s);
  EXPECT_EQ(watch(filter("Index"))->dead_after, 100s);
}

TEST_F(ControllerTest, OneConnectionHasSoManyStreamsAndOthersHaveTheirOwn) {
  std::vector<Stream<Change>> open;
  for (std::size_t i = 0; i < Controller::kMaxStreams; ++i) open.push_back(watch(filter("Index"), 0, 0, 1));
  const auto one_more = watch(filter("Index"), 0, 0, 1);
  ASSERT_FALSE(one_more->open());
  EXPECT_EQ(one_more->code(), Code::overloaded);
  EXPECT_EQ(one_more->ended->failure().execution, Execution::not_executed);
  EXPECT_EQ(add(1, 1, {offer("Index")})->code(), Code::overloaded);
  EXPECT_TRUE(watch(filter("Index"), 0, 0, 2)->open());
  open.front()->leave();
  EXPECT_TRUE(watch(filter("Index"), 0, 0, 1)->open());
}

TEST_F(ControllerTest, ALeadHasOneOwnerAtATimeAndItsEpochGrows) {
  const auto one = add(1, 1, {offer("Clock"), offer("Clock", "other")});
  add(2, 2, {offer("Clock")});
  const auto first = lead(1, 1, key("Clock"));
  const auto second = lead(2, 2, key("Clock"));
  ASSERT_EQ(first->values.size(), 1U);
  EXPECT_THAT(second->values, IsEmpty());
  first->leave();
  ASSERT_EQ(second->values.size(), 1U);
  EXPECT_GT(second->values[0].epoch, first->values[0].epoch);
  EXPECT_EQ(lead(1, 1, key("Clock", "other"))->values.size(), 1U);
}

TEST_F(ControllerTest, ALeadEndsWithTheRegistrationOfItsOwner) {
  const auto server = add(1, 1, {offer("Clock")});
  add(2, 2, {offer("Clock")});
  const auto first = lead(7, 1, key("Clock"));  // over another connection
  const auto also = lead(7, 1, key("Clock"));
  const auto second = lead(2, 2, key("Clock"));
  server->leave();
  ASSERT_FALSE(first->open() || also->open());
  EXPECT_EQ(first->code(), Code::unavailable);
  EXPECT_EQ(second->values.size(), 1U);
  EXPECT_THAT(also->values, IsEmpty()) << "it is not given to a process that is gone";
}

TEST_F(ControllerTest, OneProcessCannotKeepOthersFromLeading) {
  auto offers = many(Candidacies::kMostOfProcess, "Clock");
  offers.push_back(offer("Clock"));
  add(1, 1, std::move(offers));
  add(2, 2, {offer("Clock")});
  std::vector<Stream<Lead>> leads;
  for (std::size_t i = 0; i < Candidacies::kMostOfProcess; ++i)
    leads.push_back(lead(100 + i / 1'000, 1, key("Clock", std::to_string(i))));
  EXPECT_TRUE(leads.back()->open());
  const auto refused = lead(200, 1, key("Clock"));
  EXPECT_EQ(refused->code(), Code::overloaded);
  EXPECT_THAT(refused->ended->failure().message, HasSubstr("at most 1024 keys"));
  EXPECT_EQ(lead(2, 2, key("Clock"))->values.size(), 1U);
  leads.front()->leave();
  EXPECT_TRUE(lead(200, 1, key("Clock"))->open());
}

TEST_F(ControllerTest, OnlyWhoIsRegisteredMayLead) {
  EXPECT_NE(lead(1, 1, key("Clock"))->ended->error_as<NotRegistered>(), nullptr);
}

TEST_F(ControllerTest, OnlyAProcessThatOffersAServiceMayLeadIt) {
  add(1, 1, {offer("Index")});
  const auto refused = lead(1, 1, key("Clock"));
  ASSERT_FALSE(refused->open());
  EXPECT_EQ(refused->code(), Code::permission_denied);
  EXPECT_EQ(refused->ended->failure().message, "only a process that offers Clock may lead it");
  EXPECT_EQ(lead(1, 1, key("Index"))->values.size(), 1U);
}

TEST_F(ControllerTest, OnlyAProcessThatOffersAnAgentMayLeadIt) {
  add(1, 1, {offer("Index", "news")});
  const auto refused = lead(1, 1, key("Index", "books"));
  ASSERT_FALSE(refused->open());
  EXPECT_EQ(refused->ended->failure().message,
            "only a process that offers Index for agent \"books\" may lead it");
  EXPECT_FALSE(lead(1, 1, key("Index"))->open());
  EXPECT_EQ(lead(1, 1, key("Index", "news"))->values.size(), 1U);
}

TEST_F(ControllerTest, AnAddressThatIsNoneIsNotRegistered) {
  const auto refused = [this](const std::string& address) {
    const auto stream = add(1, 1, {offer("Index", "", address)});
    EXPECT_FALSE(stream->open());
    EXPECT_EQ(stream->code(), Code::invalid_argument);
    return stream->ended->failure().message;
  };
  EXPECT_THAT(refused(std::string("tls://127.0.0.1\0.example:1", 26)),
              HasSubstr("a host has only letters, digits, '.', '-' and '_'"));
  EXPECT_THAT(refused("tls://evil.example:80,tls://x.example:1"),
              HasSubstr("address 'tls://evil.example:80,tls://x.example:1': "));
  EXPECT_THAT(refused("unix:/run/search/../../tmp/evil"), HasSubstr("a part that is '.' or '..'"));
  EXPECT_TRUE(add(1, 1, {offer("Index", "", "unix:///run/search/a")})->open());
  Answer<void> answer;
  controller.update({who(1), {offer("Index", "", "tls://user@a.example:1")}, {}}, answer.responder());
  EXPECT_EQ(answer.failure().code, Code::invalid_argument);
}

TEST_F(ControllerTest, ALeadEndsWhenItsOwnerStopsOfferingTheService) {
  add(1, 1, {offer("Clock"), offer("Index")});
  const auto leader = lead(1, 1, key("Clock"));
  ASSERT_TRUE(leader->open());
  (void)update(who(1), {}, {key("Clock")});
  ASSERT_FALSE(leader->open());
  EXPECT_EQ(leader->code(), Code::unavailable);
}

struct FailingStore final : Store {
  MemoryStore memory;
  bool works = false;
  bool slow = false;  // it answers when answer() is called
  std::vector<UniqueFunction<void()>> asked;

  Stored load() override { return memory.load(); }
  void put(const Uuid& nonce, const stored::Process& process) noexcept override {
    memory.put(nonce, process);
  }
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override {
    memory.change(nonce, put, removed);
  }
  void remove(const Uuid& nonce) noexcept override { memory.remove(nonce); }
  void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept override {
    asked.push_back([this, key, at_least, done = std::move(done)]() mutable {
      works ? memory.take_lead(key, at_least, std::move(done)) : done(std::nullopt);
    });
    if (!slow) answer();
  }
  void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept override {
    asked.push_back([this, count, done = std::move(done)]() mutable {
      works ? memory.take_client_ids(count, std::move(done)) : done(std::nullopt);
    });
    if (!slow) answer();
  }
  void answer() {
    for (auto& one : std::exchange(asked, {})) one();
  }
  StoreStatus state() const override { return memory.state(); }
};

struct ControllerWithABrokenStore : ControllerTest {
  std::shared_ptr<FailingStore> failing = std::make_shared<FailingStore>();
  ControllerWithABrokenStore() { store = failing; }
};

TEST_F(ControllerWithABrokenStore, GivesNoLeadBeforeTheStoreHasItsEpoch) {
  Controller broken(options());
  const auto server = add_as(broken, 1, who(1), {offer("Clock")});
  const auto leader = over<Lead>(1, [&](StreamWriter<Lead> out, Responder<void> responder) {
    broken.lead({who(1), key("Clock")}, std::move(out), std::move(responder));
  });
  EXPECT_TRUE(leader->open());
  EXPECT_THAT(leader->values, IsEmpty());
  failing->works = true;
  clock->advance(1s);
  broken.tick();
  EXPECT_EQ(leader->values.size(), 1U);
  Answer<std::uint32_t> id;
  failing->works = false;
  broken.client_id({}, id.responder());
  EXPECT_NE(id.value(), 0U) << "clients are served all the same";
}

TEST_F(ControllerWithABrokenStore, GoesOnWhileTheStoreTakesItsTime) {
  failing->works = true;
  Controller waiting(options());
  failing->slow = true;
  const auto server = add_as(waiting, 1, who(1), {offer("Index", "books"), offer("Clock")});
  const auto lead_at = [&](std::uint8_t process) {
    return over<Lead>(process, [&](StreamWriter<Lead> out, Responder<void> responder) {
      waiting.lead({who(process), key("Clock")}, std::move(out), std::move(responder));
    });
  };
  const auto first = lead_at(1);
  const auto other = add_as(waiting, 2, who(2), {offer("Clock")});
  const auto second = lead_at(2);
  EXPECT_EQ(failing->asked.size(), 1U) << "one question for a key";
  EXPECT_THAT(found(waiting, filter("Index")), ElementsAre("books@1"));
  std::set<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < ClientIds::kBlock + 10; ++i) {
    Answer<std::uint32_t> id;
    waiting.client_id({}, id.responder());
    ids.insert(id.value());
  }
  EXPECT_EQ(ids.size(), ClientIds::kBlock + 10U) << "no process waits for a number";
  first->leave();
  failing->answer();
  EXPECT_THAT(first->values, IsEmpty());
  EXPECT_EQ(second->values.size(), 1U) << "the process that waits when the answer comes leads";
  second->leave();
  lead_at(2)->leave();
  failing->answer();
  failing->answer();
  const auto last = lead_at(2);
  failing->answer();
  ASSERT_EQ(last->values.size(), 1U);
  EXPECT_GT(last->values[0].epoch, second->values[0].epoch);
}

TEST_F(ControllerWithABrokenStore, AnAnswerThatComesAfterItsEndReachesNobody) {
  failing->works = true;
  failing->slow = false;
  {
    Controller short_lived(options());
    failing->slow = true;
    const auto server = add_as(short_lived, 1, who(1), {offer("Clock")});
    const auto leader = over<Lead>(1, [&](StreamWriter<Lead> out, Responder<void> responder) {
      short_lived.lead({who(1), key("Clock")}, std::move(out), std::move(responder));
    });
  }
  EXPECT_EQ(failing->asked.size(), 1U);
  failing->answer();
}

TEST_F(ControllerTest, ClientIdsDifferAlsoFromThoseBeforeARestart) {
  std::set<std::uint32_t> ids;
  const auto take = [&](Controller& from, int count) {
    for (int i = 0; i < count; ++i) {
      Answer<std::uint32_t> answer;
      from.client_id({}, answer.responder());
      EXPECT_NE(answer.value(), 0U);
      ids.insert(answer.value());
    }
  };
  take(controller, 5'000);
  Controller restarted(options());
  take(restarted, 5'000);
  EXPECT_EQ(ids.size(), 10'000U);
}

TEST_F(ControllerTest, NoStreamIsLeftOpenWhenItClosesAndTheStoreForgetsNothing) {
  const auto server = add(1, 1, {offer("Index", "books")});
  const auto watcher = watch(filter("Index"));
  controller.close();
  ASSERT_FALSE(server->open() || watcher->open());
  EXPECT_EQ(server->code(), Code::shutting_down);
  EXPECT_EQ(watcher->code(), Code::shutting_down);
  EXPECT_EQ(watch(filter("Index"))->code(), Code::shutting_down);
  EXPECT_EQ(add(1, 2, {})->code(), Code::shutting_down);
  EXPECT_EQ(update(who(1), {}).failure().code, Code::shutting_down);
  pass(31s);  // a lease, whose end its thread may notice while it closes
  EXPECT_EQ(store->load().processes.size(), 1U);
}

TEST_F(ControllerTest, WhatItsStoreKeptCountsUntilTheLeaseIsOver) {
  add(1, 1, {offer("Index", "books")});
  add(1, 2, {offer("Index", "news")});
  EXPECT_TRUE(update(who(2), {offer("Index", "maps")}, {key("Index", "news")}).ok());
  Controller restarted(options());
  EXPECT_THAT(found(restarted, filter("Index")), ElementsAre("books@1", "maps@2"));
  EXPECT_NE(add_as(restarted, 66, who(2, 9), {})->ended->error_as<NotOwner>(), nullptr)
      << "an entry that is not verified has an owner, too";
  const auto back = add_as(restarted, 1, who(2), {offer("Index", "maps")});
  clock->advance(20s);
  Answer<void> sign;
  restarted.update({who(2), {}, {}}, sign.responder());
  clock->advance(10s);
  restarted.tick();
  EXPECT_THAT(found(restarted, filter("Index")), ElementsAre("maps@2"));
}

TEST_F(ControllerTest, ItsLogNamesWhatAServerOffersButNotHundreds) {
  add(1, 1, {offer("Index", "books"), offer("Clock")});
  EXPECT_TRUE(log->has("process=p1 offers=2 which=\"Clock, Index for books\" peer=tcp://peer:1"));
  add(1, 2, many(9, "Rank"));
  EXPECT_TRUE(log->has("offers=9"));
  EXPECT_TRUE(log->has("Rank for 7 and others\""));
}

TEST_F(ControllerTest, HostileNamesGiveOneLineEach) {
  const std::string evil = std::string("a\nb\x1b[31m\0c\xff\xfe", 11);
  Offer hostile = alone(evil, evil);
  hostile.labels[evil] = evil;
  const auto before = log->size();
  const auto add_hostile = [&](std::uint8_t process, std::uint8_t secret) {
    return over<Standing>(1, [&](StreamWriter<Standing> out, Responder<void> responder) {
      controller.register_({who(process, secret), evil, {hostile}}, std::move(out), std::move(responder));
    });
  };
  const auto server = add_hostile(1, 0);
  EXPECT_EQ(log->size(), before + 1);
  add_hostile(1, 9);
  EXPECT_EQ(log->size(), before + 3) << "not_owner and not_registered";
  add_hostile(2, 0);
  EXPECT_EQ(log->size(), before + 5) << "offered_twice and registered";
  server->leave();
  EXPECT_EQ(log->size(), before + 6);
  for (const char* const raw : {"\n", "\x1b", "\xff"}) EXPECT_FALSE(log->has(raw));
  EXPECT_FALSE(log->has(std::string_view("\0", 1)));
  EXPECT_TRUE(log->has("a\\nb\\x1b[31m\\x00c\\xff"));
}

TEST_F(ControllerTest, SaysHowItStands) {
  add(1, 1, {offer("Index", "books"), offer("Rank")});
  const auto watcher = watch(filter("Index"));
  Answer<ControllerStatus> answer;
  controller.status({}, answer.responder());
  const ControllerStatus status = answer.value();
  EXPECT_EQ(status.processes, 1U);
  EXPECT_EQ(status.offers, 2U);
  EXPECT_EQ(status.watches, 1U);
  EXPECT_EQ(status.revision, 2U);
  EXPECT_EQ(status.store.name, "memory");
  EXPECT_TRUE(status.store.ok);
}

TEST(ControllerThread, EndsALeaseInItsOwnTime) {
  ControllerOptions options;
  options.log = Log(Level::off);
  options.lease = 20ms;
  Controller controller(options);
  const auto caller = std::make_shared<Caller<Standing>>();
  std::mutex mutex;
  std::condition_variable done;
  bool ended = false;
  controller.register_({who(1), "p", {offer("Index")}}, StreamWriter<Standing>(caller),
                       Responder<void>([&](Outcome<void>&&) {
                         const std::scoped_lock lock(mutex);
                         ended = true;
                         done.notify_all();
                       }));
  std::unique_lock lock(mutex);
  EXPECT_TRUE(done.wait_for(lock, mftest::kLong, [&] { return ended; }));
}

}  // namespace
}  // namespace mf::controller
