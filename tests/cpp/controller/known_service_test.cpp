#include "mf/controller/known_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mf::controller::known_service_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kStart{1h};

Instance at(std::uint8_t process, std::string agent, std::vector<std::string> addresses) {
  Instance instance;
  instance.instance.bytes[0] = process;
  instance.offer.key.agent = std::move(agent);
  instance.offer.addresses = std::move(addresses);
  instance.verified = true;
  return instance;
}

Change snapshot(std::uint64_t run, std::vector<Instance> instances, bool more = false) {
  Change change;
  change.run = run;
  change.snapshot = true;
  change.more = more;
  change.put = std::move(instances);
  return change;
}

Change delta(std::uint64_t run, std::uint64_t revision, std::vector<Instance> put,
             std::vector<Instance> gone = {}) {
  Change change;
  change.run = run;
  change.revision = revision;
  change.put = std::move(put);
  for (const Instance& instance : gone) {
    change.gone.emplace_back();
    change.gone.back().key = instance.offer.key;
    change.gone.back().instance = instance.instance;
  }
  return change;
}

std::vector<std::string> addresses(const Offers& offers, const std::string& agent) {
  std::vector<std::string> texts;
  for (const mf::Instance& instance : offers.agents.at(agent)) texts.push_back(instance.address.str());
  return texts;
}

TEST(KnownService, SaysThatItKnowsNothingUntilTheControllerHasAnswered) {
  KnownService known;
  EXPECT_FALSE(known.offers().answered);
  known.apply(snapshot(7, {}), kStart);
  EXPECT_TRUE(known.offers().answered);
  EXPECT_THAT(known.offers().agents, IsEmpty());
}

TEST(KnownService, GivesInstancesByAgent) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"}), at(2, "books", {"tcp://h:2"}),
                           at(2, "news", {"tcp://h:2"})}),
              kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1", "tcp://h:2"));
  EXPECT_THAT(addresses(known.offers(), "news"), ElementsAre("tcp://h:2"));
}

TEST(KnownService, TakesInWhatChanges) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.apply(delta(7, 5, {at(2, "books", {"tcp://h:2"})}), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1", "tcp://h:2"));
  known.apply(delta(7, 6, {at(2, "books", {"tcp://h:3"})}, {at(1, "books", {})}), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:3"));
  EXPECT_EQ(known.run(), 7U);
  EXPECT_EQ(known.revision(), 6U);
}

TEST(KnownService, KeepsWhatItKnewUntilASnapshotIsComplete) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.apply(snapshot(7, {at(2, "books", {"tcp://h:2"})}, true), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1"));
  known.apply(delta(7, 9, {at(3, "books", {"tcp://h:3"})}), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:2", "tcp://h:3"));
  EXPECT_EQ(known.revision(), 9U);
}

TEST(KnownService, ForgetsTheSnapshotThatWasCutOff) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.apply(snapshot(7, {at(2, "books", {"tcp://h:2"})}, true), kStart);
  known.begin();
  known.apply(delta(7, 9, {at(3, "books", {"tcp://h:3"})}), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1", "tcp://h:3"));
}

TEST(KnownService, TakesTheFirstAddressThatThisRuntimeCanConnectTo) {
  KnownService known;
  known.apply(
      snapshot(7, {at(1, "books", {"tls://h:1", "tcp://h:2"}), at(2, "books", {"tcp://h:3", "tls://h:4"}),
                   at(3, "books", {"carrier-pigeon://h:5", "tls://h:6"})}),
      kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tls://h:1", "tcp://h:3", "tls://h:6"));
}

TEST(KnownService, UsesNeitherAddressesInClearNorPathsOverTls) {
  KnownService known(true);
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1", "tls://h:2", "unix:/s"}),
                           at(2, "books", {"tcp://h:3"}), at(3, "books", {"unix:/t"})}),
              kStart);
  const auto offers = known.offers();
  EXPECT_THAT(addresses(offers, "books"), ElementsAre("tls://h:2"));
  EXPECT_EQ(offers.agents.at("books")[0].local, Address());
  EXPECT_THAT(known.skipped(), ElementsAre("tcp://h:3", "unix:/t"));
  EXPECT_THAT(offers.note, testing::HasSubstr("uses no address in clear: tcp://h:3 and 1 more"));
}

TEST(KnownService, BoundsTheWeight) {
  KnownService known;
  auto heavy = at(1, "books", {"tcp://h:1"});
  heavy.offer.weight = 4'000'000'000;
  known.apply(snapshot(7, {heavy}), kStart);
  EXPECT_EQ(known.offers().agents.at("books")[0].weight, 1'000U);
}

TEST(KnownService, AnAgentThatLostItsInstancesStaysWithNone) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.apply(delta(7, 2, {}, {at(1, "books", {})}), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), IsEmpty());
}

TEST(KnownService, TakesTheFirstAddressThatItCanUse) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "", {"quic://h:1", "nonsense", "tcp://h:3"}), at(2, "", {"nonsense"}),
                           at(3, "", {})}),
              kStart);
  EXPECT_THAT(addresses(known.offers(), ""), ElementsAre("tcp://h:3"));
}

TEST(KnownService, NamesTheAddressesThatCannotBeRead) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "", {"tcp://h\n:1", "quic://h:2"}), at(2, "", {"tcp://h:3"})}), kStart);
  const auto unreadable = known.take_unreadable();
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable.begin()->first, "tcp://h\n:1");
  EXPECT_THAT(unreadable.begin()->second, testing::HasSubstr("a host has only letters"));
  EXPECT_THAT(known.take_unreadable(), IsEmpty());
}

TEST(KnownService, OfTwoAtOneAddressTheOneThatWasHeardOfCounts) {
  KnownService known;
  auto before = at(1, "", {"tcp://h:1"});
  before.verified = false;
  known.apply(snapshot(7, {before, at(2, "", {"tcp://h:1"})}), kStart);
  const auto offers = known.offers();
  ASSERT_EQ(offers.agents.at("").size(), 1U);
  EXPECT_EQ(offers.agents.at("")[0].nonce[0], std::byte{2});
}

TEST(KnownService, KeepsWhatItKnewWhileServersRegisterAtANewController) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"}), at(2, "books", {"tcp://h:2"})}), kStart);
  known.apply(snapshot(8, {}), kStart + 1s);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1", "tcp://h:2"));
  known.apply(delta(8, 1, {at(2, "books", {"tcp://h:2"})}), kStart + 2s);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:2", "tcp://h:1"));
  EXPECT_EQ(known.next_tidy(), kStart + 11s);
  known.tidy(kStart + 11s);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:2"));
  EXPECT_EQ(known.next_tidy(), kNever);
}

TEST(KnownService, AServerThatRegisteredAtTheNewControllerAndLeftIsGone) {
  KnownService known;
  known.apply(snapshot(7, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.apply(snapshot(8, {}), kStart + 1s);
  known.apply(delta(8, 1, {at(1, "books", {"tcp://h:1"})}), kStart + 2s);
  known.apply(delta(8, 2, {}, {at(1, "books", {})}), kStart + 3s);
  EXPECT_THAT(addresses(known.offers(), "books"), IsEmpty());
}

}  // namespace
}  // namespace mf::controller::known_service_test
