#include "mf/controller/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/offers.hpp"
#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using namespace testing_offers;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kStart{1h};

template <class Put>
void expect_refused(Put&& put, Code code, const std::string& words) {
  try {
    put();
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.execution(), Execution::not_executed);
    EXPECT_THAT(error.what(), testing::HasSubstr(words));
  }
}

struct RegistryTest : testing::Test {
  Registry registry{30s};

  void put(std::uint8_t process, Owner owner, std::vector<Offer> offers, TimePoint now = kStart) {
    registry.put(who(process), "p" + std::to_string(process), owner, std::move(offers), now);
  }
  [[nodiscard]] std::vector<std::string> found(const Filter& what) const {
    return testing_offers::found(registry, what);
  }
};

TEST_F(RegistryTest, KnowsManyAgentsOfAServiceAndManyServicesOfAnAgent) {
  put(1, 1, {offer("Index", "books"), offer("Rank", "books")});
  put(2, 2, {offer("Index", "news"), offer("Index", "books")});
  EXPECT_THAT(found(filter("Index")), ElementsAre("books@1", "books@2", "news@2"));
  EXPECT_THAT(found(filter("Rank")), ElementsAre("books@1"));
  EXPECT_EQ(registry.offers(), 4U);
  EXPECT_EQ(registry.processes(), 2U);
}

TEST_F(RegistryTest, TheOffersOfAHostAreLimitedOverAllItsConnections) {
  Registry small(30s, ChangeLog(), 2);
  const auto put_from = [&](std::uint8_t process, std::vector<Offer> offers, const std::string& host) {
    small.put(who(process), "p", process, std::move(offers), kStart, host);
  };
  put_from(1, {offer("Index")}, "tcp://10.0.0.1");
  put_from(2, {offer("Index")}, "tcp://10.0.0.1");
  EXPECT_THROW(put_from(3, {offer("Index")}, "tcp://10.0.0.1"), Error);
  put_from(3, {offer("Index")}, "tcp://10.0.0.2");
  put_from(2, {offer("Rank")}, "tcp://10.0.0.1");  // in the place of the other one
  EXPECT_THROW((void)small.update(who(2).nonce, {offer("Index")}, {}, kStart), Error);
  ASSERT_TRUE(small.remove(who(1).nonce));
  EXPECT_TRUE(small.update(who(2).nonce, {offer("Index")}, {}, kStart));
}

TEST_F(RegistryTest, AWeightHasAMaximum) {
  auto heavy = offer("Index");
  heavy.weight = 1'001;
  EXPECT_THROW(put(1, 1, {heavy}), Error);
  heavy.weight = 1'000;
  put(1, 1, {heavy});
  EXPECT_EQ(registry.offers(), 1U);
}

TEST_F(RegistryTest, FindsByNameAndAgentAndHowTheyBegin) {
  put(1, 1, {offer("eu.Index", "books"), offer("eu.Index", "news"), offer("eu.Rank", "books")});
  put(2, 2, {offer("eu", "books"), offer("us.Index", "books")});
  EXPECT_THAT(found(filter("eu.Index")), ElementsAre("books@1", "news@1"));
  EXPECT_THAT(found(filter("eu.*")), ElementsAre("books@1", "news@1", "books@1"));
  EXPECT_THAT(found(filter("*", "news")), ElementsAre("news@1"));
  EXPECT_THAT(found(filter("eu.Index", "b*")), ElementsAre("books@1"));
  EXPECT_THAT(found(filter("eu.Index", "books")), ElementsAre("books@1"));
  EXPECT_THAT(found(filter("eu.Index", "book")), IsEmpty());
  EXPECT_THAT(found(filter("Nothing")), IsEmpty());
  EXPECT_EQ(found(filter("*")).size(), 5U);
  Filter topics = filter("*");
  topics.kind = KeyKind::topic;
  EXPECT_THAT(found(topics), IsEmpty()) << "a topic is no service";
}

TEST_F(RegistryTest, PagesFollowEachOtherWithoutAGap) {
  put(1, 1, many(10));
  put(2, 2, {offer("Other")});
  std::vector<std::string> all;
  std::optional<Place> after;
  int pages = 0;
  do {
    const auto page = registry.page(filter("Index"), after, 4, std::size_t{1} << 20);
    for (const auto& instance : page.instances) all.push_back(instance->offer.key.agent);
    after = page.last;
    ++pages;
  } while (after);
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(all, ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
}

TEST_F(RegistryTest, RegisteringTheSameAgainChangesNothing) {
  put(1, 1, {offer("Index", "books")});
  const auto revision = registry.log().latest();
  put(1, 1, {offer("Index", "books")});
  put(1, 2, {offer("Index", "books")});
  EXPECT_EQ(registry.log().latest(), revision);
}

TEST_F(RegistryTest, ARegistrationReplacesTheOneBefore) {
  put(1, 1, {offer("Index", "books"), offer("Rank")});
  put(1, 1, {offer("Index", "books", "tcp://h:2"), offer("Index", "news")});
  const auto page = registry.page(filter("Index"), std::nullopt, 10, 10'000);
  ASSERT_EQ(page.instances.size(), 2U);
  EXPECT_THAT(page.instances[0]->offer.addresses, ElementsAre("tcp://h:2"));
  EXPECT_THAT(found(filter("Rank")), IsEmpty());
}

TEST_F(RegistryTest, AnUpdateSaysWhatChangesAndWhatItDoesNotNameStays) {
  put(1, 1, {offer("Index", "books"), offer("Index", "news"), offer("Rank")});
  EXPECT_TRUE(registry.update(nonce(1), {offer("Index", "maps")}, {key("Index", "news")}, kStart));
  EXPECT_THAT(found(filter("Index")), ElementsAre("books@1", "maps@1"));
  EXPECT_THAT(found(filter("Rank")), ElementsAre("@1"));
  EXPECT_FALSE(registry.update(nonce(1), {offer("Index", "maps")}, {key("Index", "nobody")}, kStart))
      << "nothing is another one now";
  EXPECT_TRUE(registry.update(nonce(1), {offer("Rank", "", "tcp://h:2")}, {key("Rank")}, kStart))
      << "what is removed and put is replaced";
  EXPECT_THAT(found(filter("Rank")), ElementsAre("@1"));
}

TEST_F(RegistryTest, EveryChangeHasARevisionOfItsOwn) {
  put(1, 1, {offer("Index", "books"), offer("Rank")});
  EXPECT_EQ(registry.log().latest(), 2U);
  EXPECT_TRUE(registry.remove(nonce(1)));
  EXPECT_EQ(registry.log().latest(), 4U);
  EXPECT_EQ(registry.log().at(1).place, (Place{key("Index", "books"), nonce(1)}));
  EXPECT_EQ(registry.log().at(2).what, ChangeLog::What::came);
  EXPECT_EQ(registry.log().at(3).place, (Place{key("Index", "books"), nonce(1)}));
  EXPECT_EQ(registry.log().at(3).what, ChangeLog::What::left);
}

TEST_F(RegistryTest, AProcessBelongsToWhoKnowsItsSecret) {
  EXPECT_EQ(registry.standing(who(1)), Registry::Standing::unknown);
  put(1, 1, {offer("Index", "books")});
  EXPECT_EQ(registry.standing(who(1)), Registry::Standing::own);
  EXPECT_EQ(registry.standing(who(1, 7)), Registry::Standing::stranger);
}

TEST_F(RegistryTest, ALeaseThatIsNotRenewedIsOver) {
  put(1, 1, {offer("Index", "books")});
  put(2, 2, {offer("Index", "news")});
  EXPECT_FALSE(registry.update(nonce(2), {}, {}, kStart + 20s)) << "a sign of life";
  EXPECT_EQ(registry.next_expiry(), kStart + 30s);
  EXPECT_THAT(registry.expired(kStart + 29s), IsEmpty());
  EXPECT_THAT(registry.expired(kStart + 30s), ElementsAre(nonce(1)));
  EXPECT_TRUE(registry.remove(nonce(1)));
  EXPECT_EQ(registry.next_expiry(), kStart + 50s);
}

TEST_F(RegistryTest, WhatAStoreKeptIsNotVerifiedUntilItRegisters) {
  put(1, 1, {offer("Index", "books")});
  Registry restarted(30s);
  restarted.load(nonce(1), registry.stored(nonce(1)), kStart);
  const auto verified = [&] {
    return restarted.page(filter("Index"), std::nullopt, 1, 10'000).instances.at(0)->verified;
  };
  EXPECT_FALSE(verified());
  EXPECT_EQ(restarted.standing(who(1)), Registry::Standing::own);
  EXPECT_EQ(restarted.standing(who(1, 7)), Registry::Standing::stranger) << "no process takes it meanwhile";
  restarted.put(who(1), "p1", 1, {offer("Index", "books")}, kStart);
  EXPECT_TRUE(verified());
}

TEST_F(RegistryTest, RemovingWhatIsNotThereSaysSo) {
  EXPECT_FALSE(registry.remove(nonce(9)));
  put(9, 1, {});
  EXPECT_TRUE(registry.remove(nonce(9)));
}

TEST_F(RegistryTest, NamesWhoElseOffersAKeyThatOneWantsAlone) {
  put(1, 1, {offer("Index", "books"), alone("Clock")});
  put(2, 2, {offer("Index", "books")});
  EXPECT_THAT(registry.shared(nonce(2)), IsEmpty()) << "no process has asked for that";
  put(3, 3, {offer("Clock"), alone("Index", "books")});
  const auto shared = registry.shared(nonce(3));
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_EQ(shared[0].key, key("Clock"));
  EXPECT_EQ(shared[0].other, nonce(1));
  EXPECT_EQ(shared[1].key, key("Index", "books"));
  EXPECT_EQ(registry.shared(nonce(1)).size(), 2U);
  EXPECT_TRUE(registry.remove(nonce(3)));
  EXPECT_THAT(registry.shared(nonce(1)), IsEmpty());
}

TEST_F(RegistryTest, OneKeyTwiceIsRefused) {
  expect_refused([&] { put(1, 1, {offer("Index", "books"), offer("Index", "books")}); },
                 Code::invalid_argument, "twice");
  EXPECT_EQ(registry.processes(), 0U);
}

TEST_F(RegistryTest, TooManyOffersAreRefusedAndNothingIsChanged) {
  put(1, 1, {offer("Index", "books")});
  const auto too_many = many(Registry::kMaxOffersOfOwner + 1);
  const auto words = "the controller takes at most 10000 offers from one connection";
  expect_refused([&] { put(1, 1, too_many); }, Code::overloaded, words);
  expect_refused([&] { (void)registry.update(nonce(1), too_many, {}, kStart); }, Code::overloaded, words);
  expect_refused([&] { put(2, 1, too_many); }, Code::overloaded, words);
  EXPECT_THAT(found(filter("Index")), ElementsAre("books@1"));
  EXPECT_EQ(registry.processes(), 1U);
}

TEST_F(RegistryTest, AConnectionThatNamesMoreAndMoreProcessesMeetsTheSameBound) {
  const auto half = many(Registry::kMaxOffersOfOwner / 2);
  const auto none = [&](std::uint8_t process, Owner owner) {
    expect_refused([&] { put(process, owner, {}); }, Code::overloaded, "offers from one connection");
  };
  put(1, 1, half);
  put(2, 1, half);
  put(2, 1, half);  // counts once
  none(3, 1);
  put(2, 2, half);  // it has moved
  put(4, 1, half);
  none(5, 1);
  EXPECT_TRUE(registry.remove(nonce(1)));
  put(5, 1, half);
  none(6, 1);
  std::vector<Key> keys;
  for (const auto& one : half) keys.push_back(one.key);
  EXPECT_TRUE(registry.update(nonce(5), {}, keys, kStart));  // now it counts as one
  put(6, 1, many(half.size() - 1));
  none(7, 1);
}

TEST_F(RegistryTest, ThreeHundredThousandOffersAreTakenFoundByPagesAndGoneWithTheirProcesses) {
  constexpr std::uint8_t kProcesses = 30;
  for (std::uint8_t process = 1; process <= kProcesses; ++process)
    put(process, process, many(Registry::kMaxOffersOfOwner, "Index" + std::to_string(process % 3)));
  EXPECT_EQ(registry.offers(), 300'000U);
  EXPECT_EQ(registry.processes(), std::size_t{kProcesses});
  EXPECT_EQ(found(filter("Index1", "9999")).size(), 10U);
  EXPECT_THAT(found(filter("Index3")), IsEmpty());
  std::size_t shown = 0;
  std::optional<Place> after;
  for (;;) {
    const auto page = registry.page(after, 1'000);
    shown += page.instances.size();
    if (!page.last) break;
    after = page.last;
  }
  EXPECT_EQ(shown, 300'000U);
  for (std::uint8_t process = 1; process <= kProcesses; ++process)
    EXPECT_TRUE(registry.remove(who(process).nonce));
  EXPECT_EQ(registry.offers(), 0U);
}

TEST_F(RegistryTest, LongNamesMeetABoundOfBytes) {
  const std::string name(Registry::kMaxBytesOfOwner / 2, 'x');
  put(1, 1, {offer(name)});
  expect_refused([&] { put(2, 1, {offer(name)}); }, Code::overloaded, "at most 16 MiB");
  Offer labelled = offer("Index");
  labelled.labels["a"] = name;
  expect_refused([&] { put(2, 1, {labelled}); }, Code::overloaded, "at most 16 MiB");
  put(1, 1, {offer("Index", "books")});
  put(2, 1, {offer(name)});
}

}  // namespace
}  // namespace mf::controller
