// How a controller uses a store that it shares with others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/controller_fixture.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct SharedStore final : Store {
  MemoryStore memory;
  std::map<Uuid, stored::Process> others;
  StoreStatus status{.name = "shared", .ok = true};
  std::shared_ptr<StoreListener> listener;
  std::vector<std::pair<Key, std::uint64_t>> given_up;

  Stored load() override {
    Stored stored = memory.load();
    stored.processes = others;
    return stored;
  }
  void listen(std::shared_ptr<StoreListener> to) override { listener = std::move(to); }
  std::optional<stored::Process> elsewhere(const Uuid& nonce) const override {
    const auto found = others.find(nonce);
    return found == others.end() ? std::nullopt : std::optional(found->second);
  }
  void put(const Uuid& nonce, const stored::Process& process) noexcept override {
    memory.put(nonce, process);
  }
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override {
    memory.change(nonce, put, removed);
  }
  void remove(const Uuid& nonce) noexcept override { memory.remove(nonce); }
  void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept override {
    if (status.ok)
      memory.take_lead(key, at_least, std::move(done));
    else
      done(std::nullopt);
  }
  void give_up_lead(const Key& key, std::uint64_t epoch) noexcept override {
    given_up.emplace_back(key, epoch);
  }
  void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept override {
    memory.take_client_ids(count, std::move(done));
  }
  StoreStatus state() const override { return status; }

  /// Another controller has the process now, or not any more.
  void set(const Uuid& nonce, std::optional<stored::Process> process) {
    if (process)
      others[nonce] = *process;
    else
      others.erase(nonce);
    listener->changed({nonce});
  }
};

stored::Process process_of(std::uint8_t number, std::vector<Offer> offers) {
  return {.secret_hash = hash_of(who(number).secret),
          .name = "p" + std::to_string(number),
          .offers = std::move(offers)};
}

struct ControllersOfOneStore : ControllerTest {
  std::shared_ptr<SharedStore> shared = std::make_shared<SharedStore>();
  ControllersOfOneStore() { store = shared; }
};

TEST_F(ControllersOfOneStore, WhatAnotherOneHasIsThereAsIfItWereRegisteredHere) {
  shared->others[nonce(1)] = process_of(1, {offer("Index", "books")});
  Controller one(options());
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1")) << "known from the start";
  const auto watcher = watch_at(one, filter("Index"));
  shared->set(nonce(2), process_of(2, {offer("Index", "news")}));
  ASSERT_EQ(watcher->values.size(), 2U) << "pushed";
  EXPECT_THAT(shown(watcher->values[1].put), ElementsAre("news@2"));
  EXPECT_TRUE(watcher->values[1].put[0].verified);
  shared->set(nonce(2), process_of(2, {offer("Index", "maps")}));
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1", "maps@2"));
  clock->advance(10min);
  one.tick();
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1", "maps@2")) << "its lease is not ours";
  shared->set(nonce(1), std::nullopt);
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("maps@2"));
}

TEST_F(ControllersOfOneStore, AnEntryBelongsToItsSecretWhereverItIsRegistered) {
  Controller one(options());
  shared->set(nonce(1), process_of(1, {offer("Index", "books")}));
  EXPECT_NE(add_as(one, 66, who(1, 9), {})->ended->error_as<NotOwner>(), nullptr);
  EXPECT_TRUE(add_as(one, 1, who(1), {offer("Index", "books")})->open());
}

TEST_F(ControllersOfOneStore, AServerThatIsLostHereStaysWhileAnotherOneHasIt) {
  Controller one(options());
  const auto server = add_as(one, 1, who(1), {offer("Index", "books")});
  shared->set(nonce(1), process_of(1, {offer("Index", "books")}));
  const auto watcher = watch_at(one, filter("Index"));
  server->leave();
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1"));
  EXPECT_THAT(shared->memory.load().processes, IsEmpty()) << "it is not registered here any more";
  EXPECT_EQ(watcher->values.size(), 1U) << "nothing has changed for clients";
  shared->set(nonce(1), std::nullopt);
  EXPECT_THAT(found(one, filter("Index")), IsEmpty());
}

TEST_F(ControllersOfOneStore, WhatIsRegisteredHereDoesNotGoWithAnotherOne) {
  Controller one(options());
  const auto server = add_as(one, 1, who(1), {offer("Index", "books")});
  shared->set(nonce(1), process_of(1, {offer("Index", "maps")}));
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1"));
  shared->set(nonce(1), std::nullopt);
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1"));
}

TEST_F(ControllersOfOneStore, WithoutTheStoreItBelievesItsOwnEyes) {
  Controller one(options());
  const auto server = add_as(one, 1, who(1), {offer("Index", "books")});
  shared->set(nonce(1), process_of(1, {offer("Index", "books")}));
  shared->set(nonce(2), process_of(2, {offer("Index", "news")}));
  shared->status.ok = false;
  server->leave();
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("news@2"));
  shared->set(nonce(3), process_of(3, {offer("Index", "maps")}));
  shared->listener->changed({nonce(1)});
  EXPECT_THAT(found(one, filter("Index")), ElementsAre("books@1", "maps@3", "news@2"))
      << "it has what the store sends";
}

TEST_F(ControllersOfOneStore, LeadsEndWhenTheStoreIsNotSureOfThemAndAreGivenAgainWhenItIs) {
  Controller one(options());
  const auto server = add_as(one, 1, who(1), {offer("Clock")});
  const auto lead = [&] {
    return over<Lead>(1, [&](StreamWriter<Lead> out, Responder<void> responder) {
      one.lead({who(1), key("Clock")}, std::move(out), std::move(responder));
    });
  };
  const auto first = lead();
  ASSERT_EQ(first->values.size(), 1U);
  shared->status.ok = false;
  shared->listener->leads_lost();
  ASSERT_FALSE(first->open());
  EXPECT_EQ(first->code(), Code::unavailable);
  const auto second = lead();
  EXPECT_THAT(second->values, IsEmpty());
  shared->status.ok = true;
  shared->listener->leads_may_be_had();
  ASSERT_EQ(second->values.size(), 1U);
  EXPECT_GT(second->values[0].epoch, first->values[0].epoch);
  second->leave();
  EXPECT_THAT(shared->given_up, ElementsAre(std::pair(key("Clock"), first->values[0].epoch),
                                            std::pair(key("Clock"), second->values[0].epoch)));
}

TEST_F(ControllersOfOneStore, LeadsAreGivenUpWhenItStops) {
  Controller one(options());
  const auto server = add_as(one, 1, who(1), {offer("Clock")});
  const auto leader = over<Lead>(1, [&](StreamWriter<Lead> out, Responder<void> responder) {
    one.lead({who(1), key("Clock")}, std::move(out), std::move(responder));
  });
  ASSERT_EQ(leader->values.size(), 1U);
  one.close();
  EXPECT_THAT(shared->given_up, ElementsAre(std::pair(key("Clock"), leader->values[0].epoch)));
}

TEST_F(ControllersOfOneStore, ItsClusterMayBeKnownLater) {
  Controller one(options());
  shared->listener->cluster_is(nonce(77));
  const auto server = add_as(one, 1, who(1), {offer("Clock")});
  EXPECT_EQ(server->values.at(0).cluster, nonce(77));
}

TEST_F(ControllersOfOneStore, NothingReachesAControllerThatHasEnded) {
  std::shared_ptr<StoreListener> listener;
  {
    Controller one(options());
    listener = shared->listener;
  }
  EXPECT_EQ(shared->listener, nullptr);
  listener->changed({nonce(1)});
  listener->leads_lost();
}

}  // namespace
}  // namespace mf::controller
