#include "mf/controller/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mf/controller/store.hpp"
#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kStart{1h};

Uuid nonce(std::uint8_t number) {
  Uuid nonce;
  nonce.bytes[0] = number;
  return nonce;
}

Instance offer(std::string service, std::string agent, std::string address = "tcp://h:1") {
  Instance instance;
  instance.service = std::move(service);
  instance.agent = std::move(agent);
  instance.addresses = {std::move(address)};
  return instance;
}

std::vector<std::string> agents(const View& view) {
  std::vector<std::string> names;
  for (const Instance& instance : view.instances) names.push_back(instance.agent);
  return names;
}

template <class Put>
void expect_refused(Put&& put, const std::string& words) {
  try {
    put();
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::overloaded);
    EXPECT_EQ(error.execution(), Execution::not_executed);
    EXPECT_THAT(error.what(), testing::HasSubstr(words));
  }
}

struct RegistryTest : testing::Test {
  Registry registry{77, 30s};
};

TEST_F(RegistryTest, KnowsManyAgentsOfAServiceAndManyServicesOfAnAgent) {
  EXPECT_THAT(registry.put(nonce(1), 1, {offer("Index", "books"), offer("Rank", "books")}, kStart),
              ElementsAre("Index", "Rank"));
  EXPECT_THAT(registry.put(nonce(2), 2, {offer("Index", "news"), offer("Index", "books")}, kStart),
              ElementsAre("Index"));
  EXPECT_THAT(agents(registry.view("Index")), ElementsAre("books", "books", "news"));
  EXPECT_THAT(agents(registry.view("Rank")), ElementsAre("books"));
  EXPECT_EQ(registry.all().size(), 4U);
  EXPECT_EQ(registry.view("Index").instances[1].nonce, nonce(2));
}

TEST_F(RegistryTest, AServiceThatNobodyOffersIsEmptyAndNoError) {
  const View view = registry.view("Nothing");
  EXPECT_EQ(view.epoch, 77U);
  EXPECT_EQ(view.revision, 0U);
  EXPECT_THAT(view.instances, IsEmpty());
}

TEST_F(RegistryTest, RegisteringTheSameAgainChangesNothing) {
  registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
  const auto revision = registry.revision("Index");
  EXPECT_THAT(registry.put(nonce(1), 1, {offer("Index", "books")}, kStart), IsEmpty());
  EXPECT_EQ(registry.revision("Index"), revision);
}

TEST_F(RegistryTest, ARegistrationReplacesTheOneBefore) {
  registry.put(nonce(1), 1, {offer("Index", "books"), offer("Rank", "")}, kStart);
  EXPECT_THAT(
      registry.put(nonce(1), 1, {offer("Index", "books", "tcp://h:2"), offer("Index", "news")}, kStart),
      ElementsAre("Index", "Rank"));
  const View view = registry.view("Index");
  ASSERT_EQ(view.instances.size(), 2U);
  EXPECT_THAT(view.instances[0].addresses, ElementsAre("tcp://h:2"));
  EXPECT_THAT(registry.view("Rank").instances, IsEmpty());
}

TEST_F(RegistryTest, NoRevisionIsGivenTwice) {
  std::set<std::uint64_t> seen;
  for (std::uint8_t i = 0; i < 20; ++i) {
    registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
    EXPECT_TRUE(seen.insert(registry.revision("Index")).second);
    registry.remove(nonce(1));
    EXPECT_EQ(registry.revision("Index"), 0U);
  }
}

TEST_F(RegistryTest, ALostConnectionTakesItsProcessesAlong) {
  registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
  registry.put(nonce(2), 2, {offer("Index", "news")}, kStart);
  std::vector<Uuid> gone;
  EXPECT_THAT(registry.drop(1, gone), ElementsAre("Index"));
  EXPECT_THAT(gone, ElementsAre(nonce(1)));
  EXPECT_THAT(agents(registry.view("Index")), ElementsAre("news"));
}

TEST_F(RegistryTest, AProcessThatCameBackIsNotHurtByTheEndOfItsOldConnection) {
  registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
  registry.put(nonce(1), 2, {offer("Index", "books")}, kStart);
  std::vector<Uuid> gone;
  EXPECT_THAT(registry.drop(1, gone), IsEmpty());
  EXPECT_THAT(agents(registry.view("Index")), ElementsAre("books"));
}

TEST_F(RegistryTest, ALeaseThatIsNotRenewedEnds) {
  registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
  registry.put(nonce(2), 2, {offer("Index", "news")}, kStart);
  EXPECT_TRUE(registry.touch(nonce(2), 2, kStart + 20s));
  EXPECT_FALSE(registry.touch(nonce(2), 1, kStart + 29s)) << "not over that connection";
  EXPECT_EQ(registry.next_expiry(), kStart + 30s);
  std::vector<Uuid> gone;
  EXPECT_THAT(registry.expire(kStart + 29s, gone), IsEmpty());
  EXPECT_THAT(registry.expire(kStart + 30s, gone), ElementsAre("Index"));
  EXPECT_THAT(agents(registry.view("Index")), ElementsAre("news"));
}

TEST_F(RegistryTest, RemovingWhatIsNotThereSaysSo) {
  EXPECT_FALSE(registry.remove(nonce(9)).has_value());
  registry.put(nonce(9), 1, {}, kStart);
  EXPECT_TRUE(registry.remove(nonce(9)).has_value());
}

TEST_F(RegistryTest, TooManyOffersAreRefusedAndNothingIsChanged) {
  registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
  std::vector<Instance> many;
  for (std::size_t i = 0; i <= Registry::kMaxOffersOfOwner; ++i)
    many.push_back(offer("Index", std::to_string(i)));
  expect_refused([&] { registry.put(nonce(1), 1, many, kStart); },
                 "the controller takes at most 10000 offers from one connection");
  EXPECT_THAT(agents(registry.view("Index")), ElementsAre("books"));
}

TEST_F(RegistryTest, AConnectionThatNamesMoreAndMoreProcessesMeetsTheSameBound) {
  std::vector<Instance> half;
  for (std::size_t i = 0; i < Registry::kMaxOffersOfOwner / 2; ++i)
    half.push_back(offer("Index", std::to_string(i)));
  registry.put(nonce(1), 1, half, kStart);
  registry.put(nonce(2), 1, half, kStart);
  registry.put(nonce(2), 1, half, kStart);  // counts once
  expect_refused([&] { registry.put(nonce(3), 1, {}, kStart); }, "offers from one connection");
  registry.put(nonce(3), 2, half, kStart);
  registry.put(nonce(2), 2, half, kStart);  // it has moved
  registry.put(nonce(4), 1, half, kStart);
  registry.remove(nonce(1));
  registry.put(nonce(5), 1, half, kStart);
  std::vector<Uuid> gone;
  registry.drop(1, gone);
  registry.put(nonce(6), 1, half, kStart);
  EXPECT_EQ(registry.all().size(), 3 * half.size());
}

TEST_F(RegistryTest, LongNamesMeetABoundOfBytes) {
  const std::string name(Registry::kMaxBytesOfOwner / 2, 'x');
  registry.put(nonce(1), 1, {offer(name, "")}, kStart);
  expect_refused([&] { registry.put(nonce(2), 1, {offer(name, "")}, kStart); }, "at most 16 MiB");
  registry.put(nonce(1), 1, {offer("Index", "books")}, kStart);
  registry.put(nonce(2), 1, {offer(name, "")}, kStart);
}

TEST_F(RegistryTest, AProcessIsWhatItsRegistrationSaysAndNotItsEntries) {
  Instance forged = offer("Index", "books");
  forged.nonce = nonce(5);
  registry.put(nonce(1), 1, {forged}, kStart);
  EXPECT_EQ(registry.view("Index").instances.at(0).nonce, nonce(1));
}

TEST(MemoryStore, GivesBackWhatItWasGiven) {
  MemoryStore store;
  store.put(nonce(1), {offer("Index", "books")});
  store.put(nonce(2), {offer("Index", "news")});
  store.put(nonce(1), {offer("Rank", "")});
  store.remove(nonce(2));
  ASSERT_EQ(store.load().size(), 1U);
  EXPECT_EQ(store.load().at(nonce(1)), std::vector{offer("Rank", "")});
}

}  // namespace
}  // namespace mf::controller
