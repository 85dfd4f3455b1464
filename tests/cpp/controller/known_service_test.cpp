#include "mf/controller/known_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kStart{1h};

Instance at(std::uint8_t process, std::string agent, std::vector<std::string> addresses) {
  Instance instance;
  instance.nonce.bytes[0] = process;
  instance.agent = std::move(agent);
  instance.addresses = std::move(addresses);
  return instance;
}

View view(std::uint64_t epoch, std::uint64_t revision, std::vector<Instance> instances) {
  View view;
  view.epoch = epoch;
  view.revision = revision;
  view.instances = std::move(instances);
  return view;
}

std::vector<std::string> addresses(const Offers& offers, const std::string& agent) {
  std::vector<std::string> texts;
  for (const mf::Instance& instance : offers.agents.at(agent)) texts.push_back(instance.address.str());
  return texts;
}

TEST(KnownService, SaysThatItKnowsNothingUntilTheControllerHasAnswered) {
  KnownService known;
  EXPECT_FALSE(known.offers().answered);
  known.update(view(7, 0, {}), kStart);
  EXPECT_TRUE(known.offers().answered);
  EXPECT_THAT(known.offers().agents, IsEmpty());
}

TEST(KnownService, GivesInstancesByAgent) {
  KnownService known;
  known.update(
      view(7, 1,
           {at(1, "books", {"tcp://h:1"}), at(2, "books", {"tcp://h:2"}), at(2, "news", {"tcp://h:2"})}),
      kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1", "tcp://h:2"));
  EXPECT_THAT(addresses(known.offers(), "news"), ElementsAre("tcp://h:2"));
}

TEST(KnownService, TakesTheFirstAddressThatThisRuntimeCanConnectTo) {
  KnownService known;
  known.update(view(7, 1,
                    {at(1, "books", {"tls://h:1", "tcp://h:2"}), at(2, "books", {"tcp://h:3", "tls://h:4"}),
                     at(3, "books", {"carrier-pigeon://h:5", "tls://h:6"})}),
               kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tls://h:1", "tcp://h:3", "tls://h:6"));
}

TEST(KnownService, AnAgentThatLostItsInstancesStaysWithNone) {
  KnownService known;
  known.update(view(7, 1, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.update(view(7, 2, {}), kStart);
  EXPECT_THAT(addresses(known.offers(), "books"), IsEmpty());
}

TEST(KnownService, TakesTheFirstAddressThatItCanUse) {
  KnownService known;
  known.update(
      view(7, 1,
           {at(1, "", {"quic://h:1", "nonsense", "tcp://h:3"}), at(2, "", {"nonsense"}), at(3, "", {})}),
      kStart);
  EXPECT_THAT(addresses(known.offers(), ""), ElementsAre("tcp://h:3"));
}

TEST(KnownService, KeepsWhatItKnewWhileServersRegisterAtANewController) {
  KnownService known;
  known.update(view(7, 1, {at(1, "books", {"tcp://h:1"}), at(2, "books", {"tcp://h:2"})}), kStart);
  known.update(view(8, 0, {}), kStart + 1s);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:1", "tcp://h:2"));
  known.update(view(8, 1, {at(2, "books", {"tcp://h:2"})}), kStart + 2s);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:2", "tcp://h:1"));
  EXPECT_EQ(known.next_tidy(), kStart + 11s);
  known.tidy(kStart + 11s);
  EXPECT_THAT(addresses(known.offers(), "books"), ElementsAre("tcp://h:2"));
  EXPECT_EQ(known.next_tidy(), kNever);
}

TEST(KnownService, AServerThatRegisteredAtTheNewControllerAndLeftIsGone) {
  KnownService known;
  known.update(view(7, 1, {at(1, "books", {"tcp://h:1"})}), kStart);
  known.update(view(8, 0, {}), kStart + 1s);
  known.update(view(8, 1, {at(1, "books", {"tcp://h:1"})}), kStart + 2s);
  known.update(view(8, 0, {}), kStart + 3s);
  EXPECT_THAT(addresses(known.offers(), "books"), IsEmpty());
}

}  // namespace
}  // namespace mf::controller
