// The contract that every store keeps, whatever it keeps it in: a suite for kinds of stores. A kind has
//
//     Store& first();  Store& next();  a store, and the same again for the next controller
//     kShared          whether controllers before that live on, and what they have put with them
#pragma once

#include "mf/controller/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/promises.hpp"

namespace mf::controller::store_contract {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using testing_promises::client_ids;
using testing_promises::lead;

inline Uuid nonce(std::uint32_t number) {
  Uuid nonce;
  for (std::size_t i = 0; i < 4; ++i) nonce.bytes[i] = static_cast<std::uint8_t>(number >> 8 * i & 0xff);
  return nonce;
}

inline Key key_of(std::string name, std::string agent = "") {
  return {.kind = KeyKind::service, .name = std::move(name), .agent = std::move(agent)};
}

inline stored::Process process(std::string name, std::vector<Key> keys) {
  stored::Process process{.secret_hash = Bytes(32, std::byte{7}), .name = std::move(name)};
  for (Key& key : keys) {
    Offer offer;
    offer.key = std::move(key);
    offer.addresses = {"tcp://10.0.0.7:7401", "unix:/run/x"};
    offer.fingerprint = nonce(99);
    offer.weight = 3;
    offer.labels = {{"zone", "eu"}};
    offer.alone = true;
    process.offers.push_back(std::move(offer));
  }
  std::ranges::sort(process.offers, {}, [](const Offer& each) { return each.key; });
  return process;
}

/// The content of a store, with the offers of each process in the order of their keys.
inline Stored load(Store& store) {
  Stored stored = store.load();
  for (auto& [nonce, process] : stored.processes)
    std::ranges::sort(process.offers, {}, [](const Offer& offer) { return offer.key; });
  return stored;
}

template <class Kind>
struct StoreTest : testing::Test {
  Kind kind;
};
TYPED_TEST_SUITE_P(StoreTest);

TYPED_TEST_P(StoreTest, IsEmptyAtFirstAndHasAClusterThatStays) {
  const Stored stored = load(this->kind.first());
  EXPECT_THAT(stored.processes, IsEmpty());
  EXPECT_EQ(stored.epoch, 0U);
  EXPECT_EQ(stored.next_client_id, 0U);
  EXPECT_NE(stored.cluster, Uuid());
  EXPECT_EQ(load(this->kind.next()).cluster, stored.cluster);
  EXPECT_EQ(load(this->kind.next()).cluster, stored.cluster);
}

TYPED_TEST_P(StoreTest, GivesBackEveryFieldOfWhatWasPut) {
  const auto put = process("books on host 3", {key_of("demo.Echo", "red"), key_of("demo.Clock")});
  Store& store = this->kind.first();
  (void)load(store);
  store.put(nonce(1), put);
  EXPECT_THAT(load(this->kind.next()).processes, UnorderedElementsAre(Pair(nonce(1), put)));
}

TYPED_TEST_P(StoreTest, AProcessHasWhatWasPutLast) {
  const auto last = process("b", {key_of("demo.Clock")});
  Store& store = this->kind.first();
  (void)load(store);
  store.put(nonce(1), process("a", {key_of("demo.Echo", "red"), key_of("demo.Echo", "blue")}));
  store.put(nonce(2), process("c", {}));
  store.put(nonce(1), last);
  EXPECT_THAT(load(this->kind.next()).processes,
              UnorderedElementsAre(Pair(nonce(1), last), Pair(nonce(2), process("c", {}))));
}

TYPED_TEST_P(StoreTest, AChangeRemovesFirstAndThenAddsAndReplaces) {
  Store& store = this->kind.first();
  (void)load(store);
  store.put(nonce(1),
            process("a", {key_of("demo.Echo", "red"), key_of("demo.Echo", "blue"), key_of("demo.Clock")}));
  auto moved = process("a", {key_of("demo.Echo", "red"), key_of("demo.Echo", "green")}).offers;
  moved[1].weight = 9;
  store.change(nonce(1), moved,
               {key_of("demo.Echo", "blue"), key_of("demo.Echo", "red"), key_of("demo.None")});
  auto expected =
      process("a", {key_of("demo.Echo", "red"), key_of("demo.Echo", "green"), key_of("demo.Clock")});
  for (Offer& offer : expected.offers)
    if (offer.key.agent == "red") offer.weight = 9;
  EXPECT_THAT(load(this->kind.next()).processes, UnorderedElementsAre(Pair(nonce(1), expected)));
}

TYPED_TEST_P(StoreTest, WhatWasRemovedIsGoneAndTheRestIsThere) {
  Store& store = this->kind.first();
  (void)load(store);
  store.put(nonce(1), process("a", {key_of("demo.Echo")}));
  store.put(nonce(2), process("b", {key_of("demo.Echo")}));
  store.remove(nonce(1));
  store.remove(nonce(3));  // never existed
  Store& next = this->kind.next();
  EXPECT_THAT(load(next).processes,
              UnorderedElementsAre(Pair(nonce(2), process("b", {key_of("demo.Echo")}))));
  if (TypeParam::kShared) return;
  next.remove(nonce(2));
  EXPECT_THAT(load(this->kind.next()).processes, IsEmpty());
}

TYPED_TEST_P(StoreTest, AnEpochIsNeverGivenTwiceWhateverItIsForAndWhateverIsAskedFor) {
  Store& store = this->kind.first();
  (void)load(store);
  EXPECT_EQ(lead(store, key_of("demo.Echo"), 10), 10U);
  EXPECT_EQ(lead(store, key_of("\n\x1b/%", std::string("\0\xc3\xa9", 3)), 10), 11U);
  Store& next = this->kind.next();
  EXPECT_EQ(load(next).epoch, 11U);
  EXPECT_EQ(lead(next, key_of("demo.Clock", "/"), 10), 12U);
  EXPECT_EQ(lead(next, key_of("demo.Clock", "%2F"), ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(load(this->kind.next()).epoch, ~std::uint64_t{0});
}

TYPED_TEST_P(StoreTest, ClientIdsAreReservedInBlocksAndNeverTwice) {
  Store& store = this->kind.first();
  (void)load(store);
  const auto first = client_ids(store, 4096);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(client_ids(store, 4096), *first + 4096);
  Store& next = this->kind.next();
  (void)load(next);
  EXPECT_EQ(client_ids(next, 10), *first + 2 * 4096);
  EXPECT_EQ(client_ids(next, 10), *first + 2 * 4096 + 10);
}

TYPED_TEST_P(StoreTest, HoldsAProcessOfTheMostOffersAndTenThousandOfFew) {
  Store& store = this->kind.first();
  (void)load(store);
  std::vector<Key> keys;
  for (int i = 0; i < 10'000; ++i)
    keys.push_back(key_of("demo.Echo", std::string(200, 'a') + std::to_string(i)));
  const auto large = process("large", keys);
  store.put(nonce(0), large);
  for (std::uint32_t i = 1; i <= 10'000; ++i) store.put(nonce(i), process("p", {keys[i - 1]}));
  const Stored stored = load(this->kind.next());
  EXPECT_EQ(stored.processes.size(), 10'001U);
  EXPECT_EQ(stored.processes.at(nonce(0)), large);
  EXPECT_EQ(stored.processes.at(nonce(10'000)), process("p", {keys[9'999]}));
}

TYPED_TEST_P(StoreTest, SaysThatItIsWell) {
  Store& store = this->kind.first();
  (void)load(store);
  const StoreStatus status = store.state();
  EXPECT_TRUE(status.ok);
  EXPECT_NE(status.name, "");
  EXPECT_NE(status.since, Timestamp());
}

REGISTER_TYPED_TEST_SUITE_P(StoreTest, IsEmptyAtFirstAndHasAClusterThatStays, GivesBackEveryFieldOfWhatWasPut,
                            AProcessHasWhatWasPutLast, AChangeRemovesFirstAndThenAddsAndReplaces,
                            WhatWasRemovedIsGoneAndTheRestIsThere,
                            AnEpochIsNeverGivenTwiceWhateverItIsForAndWhateverIsAskedFor,
                            ClientIdsAreReservedInBlocksAndNeverTwice,
                            HoldsAProcessOfTheMostOffersAndTenThousandOfFew, SaysThatItIsWell);

}  // namespace mf::controller::store_contract
