// Topics through a relay: one subscription at the publisher for all equal ones, and the guarantees for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/topics.server.hpp"
#include "mf/topics/hub.hpp"
#include "relay/relayed.hpp"
#include "support/wait.hpp"
#include "topics/hand_made.hpp"

namespace mftest::topics_test {
namespace {

using mf::Code;
using mf::Overflow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

/// A process that publishes, and a relay that resolves it.
struct Behind {
  explicit Behind(mf::TopicsOptions options = {}, mf::relay::RelayOptions relayed = {})
      : topics(std::move(options)), server(mf::ServerOptions{}), relay({}, {}, std::move(relayed)) {
    server.offer(topics);
    server.start();
    relay.knows({server.address()}, "*");
  }
  [[nodiscard]] mf::Client client(mf::ClientOptions options = {}) const {
    options.log = mf::Log(mf::Level::off);
    return mf::Client(relay.address().str(), std::move(options));
  }

  mf::Topics topics;
  mf::Server server;
  Relayed relay;
};

template <class Subscriber>
mf::Error ending_of(Subscriber& subscriber) {
  try {
    for (;;) (void)subscriber.next(30s);
  } catch (const mf::Error& error) {
    return error;
  }
}

template <class Subscriber>
std::vector<std::uint64_t> next_sequences(Subscriber& subscriber, std::size_t count) {
  std::vector<std::uint64_t> all;
  while (all.size() < count) all.push_back(subscriber.next(30s).sequence());
  return all;
}

TEST(RelayedTopics, AllWhoWantTheSameShareOneSubscriptionAtThePublisher) {
  const Behind behind;
  PlacesPublisher places(behind.topics);
  auto books = places.at("eu.books");
  auto client = behind.client();
  auto other = behind.client();
  auto third = behind.client();
  PlacesSubscriber one(client, "eu.*");
  PlacesSubscriber two(other, "eu.*");
  PlacesSubscriber three(third, "eu.*");
  for (auto* each : {&one, &two, &three}) ASSERT_TRUE(each->await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 100; ++i) books.publish(place(i));
  for (auto* each : {&one, &two, &three}) {
    for (std::uint64_t i = 1; i <= 100; ++i) {
      const auto message = each->next(30s);
      ASSERT_EQ(message.sequence(), i);
      ASSERT_EQ(message->sequence, i);
      ASSERT_EQ(message.agent(), "eu.books");
      ASSERT_EQ(message.publisher(), behind.topics.hub()->publisher());
    }
  }
  const auto stats = places.stats();
  EXPECT_THAT(stats.subscriptions, SizeIs(1));
  EXPECT_EQ(stats.subscriptions.at(0).delivered, 100U);
  EXPECT_EQ(stats.encoded, 100U);
  const auto relayed = behind.relay.topics();
  ASSERT_THAT(relayed, SizeIs(1));
  EXPECT_EQ(relayed[0].topic, "test.Places");
  EXPECT_EQ(relayed[0].received, 100U);
  EXPECT_THAT(relayed[0].subscriptions, SizeIs(3));
}

TEST(RelayedTopics, SubscribersOfOneClientShareOneStreamAtTheRelayAndDecodeOnce) {
  const Behind behind;
  PlacesPublisher places(behind.topics);
  auto books = places.at("eu.books");
  auto client = behind.client();
  PlacesSubscriber one(client, "eu.*", {.overflow = Overflow::block});
  PlacesSubscriber two(client, "eu.*", {.overflow = Overflow::block});
  for (auto* each : {&one, &two}) ASSERT_TRUE(each->await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 100; ++i) {
    books.publish(place(i));
    const auto first = one.next(30s);
    const auto second = two.next(30s);
    ASSERT_EQ(first->sequence, i);
    ASSERT_EQ(&second.value(), &first.value());
  }
  EXPECT_EQ(one.stats().decoded, 100U);
  EXPECT_EQ(one.stats().copied, 0U);
  const auto relayed = behind.relay.topics();
  ASSERT_THAT(relayed, SizeIs(1));
  EXPECT_THAT(relayed[0].subscriptions, SizeIs(1));
}

TEST(RelayedTopics, AgentsAndPublishersThatComeLaterAreMatched) {
  Behind behind;
  mf::Topics more;
  mf::Server server(mf::ServerOptions{});
  server.offer(more);
  server.start();
  behind.relay.knows({behind.server.address(), server.address()}, "*");
  PlacesPublisher at_one(behind.topics);
  PlacesPublisher at_two(more);
  auto client = behind.client();
  PlacesSubscriber all(client, "*");
  ASSERT_TRUE(at_one.await_subscribers(1, 30s));
  ASSERT_TRUE(at_two.await_subscribers(1, 30s));
  std::map<mf::Uuid, std::vector<std::string>> agents;
  at_one.at("books").publish(place(1));
  at_two.at("books").publish(place(1));
  at_two.at("maps").publish(place(1));
  for (int i = 0; i < 3; ++i) {
    const auto message = all.next(30s);
    agents[message.publisher()].push_back(message.agent());
  }
  EXPECT_THAT(agents[behind.topics.hub()->publisher()], ElementsAre("books"));
  EXPECT_THAT(agents[more.hub()->publisher()], ElementsAre("books", "maps"));
}

TEST(RelayedTopics, WhoComesLateGetsWhatThePublisherKeepsNoMoreAndNoLess) {
  const Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  for (std::uint64_t i = 1; i <= 5; ++i) at.publish(place(i));
  auto client = behind.client();
  PlacesSubscriber first(client, "here");
  PlacesSubscriber first_of_one(client, "here", {.overflow = Overflow::block, .replay = 1});
  EXPECT_THAT(next_sequences(first, 3), ElementsAre(3, 4, 5));
  EXPECT_THAT(next_sequences(first_of_one, 1), ElementsAre(5));
  for (std::uint64_t i = 6; i <= 20; ++i) at.publish(place(i));
  EXPECT_THAT(next_sequences(first, 15).back(), 20U);
  PlacesSubscriber all(client, "here");
  PlacesSubscriber two(client, "here", {.replay = 2});
  PlacesSubscriber none(client, "here", {.replay = 0});
  EXPECT_THAT(next_sequences(all, 3), ElementsAre(18, 19, 20)) << "of the relay's own";
  EXPECT_THAT(next_sequences(two, 2), ElementsAre(19, 20));
  ASSERT_TRUE(none.await_publishers(1, 30s));
  at.publish(place(21));
  EXPECT_THAT(next_sequences(none, 1), ElementsAre(21));
  EXPECT_EQ(all.stats().not_kept, 0U);
  EXPECT_THAT(places.stats().subscriptions, SizeIs(2))
      << "one of the blocking subscribers, one of the others";
}

TEST(RelayedTopics, WhatARelayKeepsOfAllTopicsIsBounded) {
  mf::relay::RelayOptions options;
  options.max_kept_bytes = 500;
  const Behind behind({}, options);
  PlacesPublisher places(behind.topics);
  auto client = behind.client();
  PlacesSubscriber first(client, "*");
  for (const auto* agent : {"one", "two", "three"}) {
    auto at = places.at(agent);
    for (std::uint64_t i = 1; i <= 2; ++i) at.publish(place(i, std::string(150, 'x')));
  }
  EXPECT_THAT(next_sequences(first, 6), SizeIs(6));
  auto other = behind.client();
  PlacesSubscriber late(other, "*");
  ASSERT_TRUE(late.await_publishers(1, 30s));
  auto second = places.at("one");
  second.publish(place(3));
  std::size_t replayed = 0;
  while (late.next(30s).sequence() != 3) ++replayed;
  EXPECT_EQ(replayed, 2U) << "three of them would be more";
}

TEST(RelayedTopics, NothingOfATopicIsKeptThatSaysNothingOfReplay) {
  const Behind behind;
  TicksPublisher ticks(behind.topics);
  auto client = behind.client();
  TicksSubscriber early(client);
  ASSERT_TRUE(early.await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 5; ++i) ticks.publish(tick(i));
  EXPECT_THAT(next_sequences(early, 5).back(), 5U);
  TicksSubscriber late(client);
  ASSERT_TRUE(late.await_publishers(1, 30s));
  ticks.publish(tick(6));
  EXPECT_THAT(next_sequences(late, 1), ElementsAre(6));
}

TEST(RelayedTopics, NothingIsLostToThoseWhoBlockHoweverSlowOneOfThemIs) {
  const Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto client = behind.client({.stream_window = 4'096});
  PlacesSubscriber slow(client, "here", {.overflow = Overflow::block, .max_messages = 5});
  PlacesSubscriber quick(client, "here", {.overflow = Overflow::block, .max_messages = 500});
  ASSERT_TRUE(slow.await_publishers(1, 30s));
  ASSERT_TRUE(quick.await_publishers(1, 30s));
  constexpr std::uint64_t kCount = 5'000;
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= kCount; ++i) at.publish(place(i, std::string(100, 'x')));
  });
  std::jthread reading([&] {
    for (std::uint64_t i = 1; i <= kCount; ++i) ASSERT_EQ(quick.next(30s).sequence(), i);
  });
  for (std::uint64_t i = 1; i <= kCount; ++i) {
    const auto message = slow.next(30s);
    ASSERT_EQ(message.sequence(), i);
    ASSERT_EQ(message->sequence, i);
  }
  reading.join();
  EXPECT_EQ(places.stats().subscriptions.at(0).dropped, 0U);
}

TEST(RelayedTopics, ASlowSubscriberThatBlocksLosesNothingOfTwoPublishers) {
  mf::relay::RelayOptions options;
  options.topics.stall_timeout = 300ms;
  Behind behind({.max_messages = 10}, options);
  mf::Topics more({.max_messages = 10});
  mf::Server server(mf::ServerOptions{});
  server.offer(more);
  server.start();
  behind.relay.knows({behind.server.address(), server.address()}, "*");
  PlacesPublisher at_one(behind.topics);
  PlacesPublisher at_two(more);
  for (auto* const publisher : {&at_one, &at_two}) (void)publisher->at("here");
  auto idle = behind.client({.stream_window = 4'096});
  auto client = behind.client({.stream_window = 4'096});
  PlacesSubscriber stopped(idle, "here", {.overflow = Overflow::block, .max_messages = 5});
  PlacesSubscriber slow(client, "here", {.overflow = Overflow::block, .max_messages = 5});
  ASSERT_TRUE(stopped.await_publishers(2, 30s));
  ASSERT_TRUE(slow.await_publishers(2, 30s));
  constexpr std::uint64_t kCount = 1'000;
  std::vector<std::jthread> publishing;
  for (auto* const publisher : {&at_one, &at_two}) {
    publishing.emplace_back([at = publisher->at("here")]() mutable {
      for (std::uint64_t i = 1; i <= kCount; ++i) at.publish(place(i, std::string(100, 'x')));
    });
  }
  std::map<mf::Uuid, std::uint64_t> last;
  for (std::uint64_t i = 1; i <= 2 * kCount; ++i) {
    const auto message = slow.next(30s);
    ASSERT_EQ(message.sequence(), ++last[message.publisher()]);
    ASSERT_EQ(message.missed(), 0U);
  }
  EXPECT_EQ(last.size(), 2U);
}

TEST(RelayedTopics, APublisherWaitsForThoseWhoBlockBehindTheRelay) {
  const Behind behind({.max_messages = 10});
  TicksPublisher ticks(behind.topics);
  auto client = behind.client({.stream_window = 4'096});
  TicksSubscriber there(client, {.overflow = Overflow::block, .max_messages = 5});
  ASSERT_TRUE(there.await_publishers(1, 30s));
  std::uint64_t published = 0;
  try {
    for (;; ++published) ticks.publish(tick(published + 1), {.deadline = 300ms});
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::deadline_exceeded);
  }
  EXPECT_THAT(next_sequences(there, published).back(), published);
  EXPECT_EQ(there.stats().dropped + there.stats().not_kept + there.stats().upstream, 0U);
}

TEST(RelayedTopics, WhoTakesNothingHoldsUpNobodyAndWhatItMissesIsCountedOnBothSides) {
  for (const auto overflow : {Overflow::drop_oldest, Overflow::drop_newest}) {
    const Behind behind;
    PlacesPublisher places(behind.topics);
    auto at = places.at("here");
    auto idle = behind.client({.stream_window = 4'096});
    auto client = behind.client();
    PlacesSubscriber stopped(idle, "here", {.overflow = overflow, .max_messages = 10});
    PlacesSubscriber quick(client, "here", {.overflow = overflow, .max_messages = 0, .max_bytes = 0});
    ASSERT_TRUE(stopped.await_publishers(1, 30s));
    ASSERT_TRUE(quick.await_publishers(1, 30s));
    std::uint64_t told = 0;
    stopped.on_gap([&](const mf::Gap& gap) { told += gap.count; });
    for (std::uint64_t i = 1; i <= 3'000; ++i) at.publish(place(i, std::string(100, 'x')));
    EXPECT_THAT(next_sequences(quick, 3'000).back(), 3'000U);
    std::uint64_t received = 0;
    while (received + told < 3'000) {
      if (stopped.poll(10ms)) ++received;
    }
    EXPECT_GT(told, 0U);
    EXPECT_EQ(stopped.stats().dropped, told);
    std::uint64_t dropped = 0;
    for (const auto& upstream : behind.relay.topics()) {
      for (const auto& each : upstream.subscriptions) dropped += each.dropped;
    }
    EXPECT_EQ(dropped, told);
    EXPECT_EQ(places.stats().subscriptions.at(0).dropped, 0U) << "the relay takes all";
  }
}

TEST(RelayedTopics, WhoBlocksAndTakesNothingIsCutAtOnceAndTheOthersGoOn) {
  mf::relay::RelayOptions options;
  options.topics.stall_timeout = 300ms;
  const Behind behind({.max_messages = 10}, options);
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto idle = behind.client({.stream_window = 4'096});
  auto client = behind.client();
  PlacesSubscriber stopped(idle, "here", {.overflow = Overflow::block, .max_messages = 5});
  ASSERT_TRUE(stopped.await_publishers(1, 30s));
  PlacesSubscriber quick(client, "here", {.overflow = Overflow::block, .max_messages = 10});
  ASSERT_TRUE(quick.await_publishers(1, 30s));
  std::uint64_t told = 0;
  stopped.on_gap([&](const mf::Gap& gap) { told += gap.count; });
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= 5'000; ++i) at.publish(place(i, std::string(100, 'x')));
  });
  EXPECT_THAT(next_sequences(quick, 5'000).back(), 5'000U);
  EXPECT_THAT(behind.relay.topics().at(0).subscriptions, SizeIs(1))
      << "its place is free although it reads nothing";
  std::uint64_t received = 0;
  while (received + told < 5'000) {
    if (stopped.poll(10ms)) ++received;
  }
  EXPECT_GT(told, 0U);
  EXPECT_EQ(stopped.stats().not_kept, told) << "it has subscribed again";
}

TEST(RelayedTopics, WhoAsksToBeDisconnectedIsToldThatItWas) {
  const Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto client = behind.client({.stream_window = 4'096});
  PlacesSubscriber there(client, "here", {.overflow = Overflow::disconnect, .max_messages = 10});
  ASSERT_TRUE(there.await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 3'000; ++i) at.publish(place(i, std::string(100, 'x')));
  const auto error = ending_of(there);
  EXPECT_EQ(error.code(), Code::overloaded);
  EXPECT_THAT(error.what(), HasSubstr("its queue of 10 messages"));
}

TEST(RelayedTopics, TheLastWhoLeavesEndsTheSubscriptionAtThePublisher) {
  const Behind behind;
  TicksPublisher ticks(behind.topics);
  std::promise<void> gone;
  ticks.on_unmatched([&](const mf::SubscriptionStats& /*stats*/) { gone.set_value(); });
  auto client = behind.client();
  {
    TicksSubscriber one(client);
    const TicksSubscriber two(client);
    ASSERT_TRUE(one.await_publishers(1, 30s));
  }
  gone.get_future().get();
  EXPECT_THAT(behind.relay.topics(), IsEmpty());
}

TEST(RelayedTopics, ARelayIsAskedWhoMaySubscribeAndWhoMayPublish) {
  mf::relay::RelayOptions options;
  std::mutex mutex;
  std::vector<std::string> asked;
  options.topics.authorize = [&](const mf::TopicAccess& access) {
    const std::scoped_lock lock(mutex);
    const bool publishes = access.action == mf::TopicAction::publish;
    asked.push_back((publishes ? "publish " : "subscribe ") + std::string(access.agents) + " " +
                    std::string(reinterpret_cast<const char*>(access.authentication.data()),
                                access.authentication.size()));
    return access.agents != "secret";
  };
  const Behind behind({}, options);
  PlacesPublisher places(behind.topics);
  auto secret = places.at("secret");
  auto open = places.at("open");
  auto client = behind.client({.authentication = {std::byte{'m'}, std::byte{'e'}}});
  PlacesSubscriber refused(client, "secret");
  const auto error = ending_of(refused);
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_THAT(error.what(), HasSubstr("this peer may not subscribe to test.Places for \"secret\""));
  PlacesSubscriber all(client, "*");
  ASSERT_TRUE(all.await_publishers(1, 30s));
  secret.publish(place(1));
  open.publish(place(2));
  EXPECT_EQ(all.next(30s).agent(), "open") << "for the other agent no process may publish";
  const std::scoped_lock lock(mutex);
  EXPECT_THAT(asked, testing::UnorderedElementsAre("subscribe secret me", "subscribe * me", "publish secret ",
                                                   "publish open "));
}

/// `topic Ticks : Value;`, in two schemas that no rule joins.
struct DescribedTicks : TicksTopic {
  static constexpr mf::ServiceInfo kService{.name = "test.Ticks",
                                            .descriptor =
                                                "topic test.Ticks\n"
                                                " value test.Value\n"
                                                "type test.Value struct memcpy\n"
                                                " first u64",
                                            .fingerprint = {8},
                                            .methods = mf::topics::kMethods};
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};
struct OtherTicks : TicksTopic {
  static constexpr mf::ServiceInfo kService{.name = "test.Ticks",
                                            .descriptor =
                                                "topic test.Ticks\n"
                                                " value test.Other\n"
                                                "type test.Other struct febird\n"
                                                " first string",
                                            .fingerprint = {9},
                                            .methods = mf::topics::kMethods};
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};

TEST(RelayedTopics, APublisherOfAnotherSchemaIsRefusedInWordsThatTellTheDifference) {
  const Behind behind;
  const mf::topics::LonePublisher<DescribedTicks> ticks(behind.topics);
  auto client = behind.client();
  mf::topics::LoneSubscriber<OtherTicks> unknown(client);
  EXPECT_EQ(ending_of(unknown).code(), Code::schema_mismatch) << "the relay does not know of it before";
  auto offers = answered();
  offers.agents[""].push_back(
      {.address = behind.server.address(), .fingerprint = DescribedTicks::kService.fingerprint});
  behind.relay.resolver->set(std::move(offers));
  auto other = behind.client();
  mf::topics::LoneSubscriber<OtherTicks> there(other);
  const auto error = ending_of(there);
  EXPECT_EQ(error.code(), Code::schema_mismatch);
  EXPECT_THAT(error.what(), HasSubstr("schemas differ from"));
  EXPECT_THAT(error.what(), HasSubstr("first: string here, u64 there"));
}

TEST(RelayedTopics, SubscriptionsThatDifferAreBounded) {
  mf::relay::RelayOptions options;
  options.max_trunks = 2;
  const Behind behind({}, options);
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto client = behind.client();
  std::vector<std::unique_ptr<PlacesSubscriber>> many;
  for (const auto* agents : {"a", "here"}) {
    many.push_back(std::make_unique<PlacesSubscriber>(client, agents));
    ASSERT_TRUE(eventually([&] { return behind.relay.topics().size() == many.size(); }));
  }
  PlacesSubscriber same(client, "here");
  ASSERT_TRUE(same.await_publishers(1, 30s));
  const PlacesSubscriber more(client, "there");
  at.publish(place(1));
  EXPECT_EQ(same.next(30s).sequence(), 1U);
  EXPECT_THAT(behind.relay.topics(), SizeIs(2));
  many.clear();
  EXPECT_TRUE(eventually([&] { return behind.relay.topics().size() == 2; })) << "there is room for it now";
}

TEST(RelayedTopics, RelaysInARowHandOnAndALoopOfThemIsRefused) {
  Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  Relayed second;
  second.resolver->relays = true;
  second.knows({behind.relay.address()}, "*");
  mf::Client client(second.address().str(), {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "here");
  ASSERT_TRUE(there.await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 200; ++i) at.publish(place(i));
  EXPECT_THAT(next_sequences(there, 200).back(), 200U);
  PlacesSubscriber late(client, "here");
  EXPECT_THAT(next_sequences(late, 3), ElementsAre(198, 199, 200));

  Relayed one;
  Relayed two;
  for (auto* relay : {&one, &two}) relay->resolver->relays = true;
  one.knows({two.address()}, "*");
  two.knows({one.address()}, "*");
  mf::Client lost(one.address().str(), {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber around(lost, "here");
  const auto error = ending_of(around);
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_THAT(error.what(), HasSubstr("a loop of relays"));
}

TEST(RelayedTopics, ARelayThatComesBackGoesOnWhereItsSubscribersAre) {
  Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto relay = std::make_unique<Relayed>();
  relay->knows({behind.server.address()}, "*");
  const auto address = relay->address();
  mf::Client client(address.str(), {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "here");
  ASSERT_TRUE(there.await_publishers(1, 30s));
  at.publish(place(1));
  EXPECT_EQ(there.next(30s).sequence(), 1U);
  relay.reset();
  at.publish(place(2));
  at.publish(place(3));
  relay = std::make_unique<Relayed>(mf::ServerOptions{.listen = address.str()});
  relay->knows({behind.server.address()}, "*");
  EXPECT_THAT(next_sequences(there, 2), ElementsAre(2, 3));
  relay.reset();
  for (std::uint64_t i = 4; i <= 9; ++i) at.publish(place(i));
  relay = std::make_unique<Relayed>(mf::ServerOptions{.listen = address.str()});
  relay->knows({behind.server.address()}, "*");
  const auto behind_the_gap = there.next(30s);
  EXPECT_EQ(behind_the_gap.sequence(), 7U);
  EXPECT_EQ(behind_the_gap.missed(), 3U);
  EXPECT_THAT(next_sequences(there, 2), ElementsAre(8, 9));
  const auto stats = there.stats();
  EXPECT_EQ(stats.received + stats.not_kept + stats.upstream, 9U);
}

TEST(RelayedTopics, OfTwoRelaysOneHasTheSubscriptionAndTheOtherWhenThatIsLost) {
  Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto second = std::make_unique<Relayed>();
  second->knows({behind.server.address()}, "*");
  const auto known = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents["*"].push_back({.address = behind.server.address()});
  known->set(std::move(offers));
  mf::Client client(
      std::make_shared<mf::RelayedResolver>(known, std::vector{second->address(), behind.relay.address()}),
      {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "here");
  ASSERT_TRUE(there.await_publishers(1, 30s));
  at.publish(place(1));
  EXPECT_EQ(there.next(30s).sequence(), 1U);
  EXPECT_THAT(places.stats().subscriptions, SizeIs(1)) << "one way is enough";
  second.reset();
  at.publish(place(2));
  at.publish(place(3));
  EXPECT_THAT(next_sequences(there, 2), ElementsAre(2, 3));
  EXPECT_THAT(behind.relay.topics(), SizeIs(1));
  EXPECT_EQ(there.stats().duplicates, 0U);
}

TEST(RelayedTopics, OfTwoRelaysOneMayBeAwayFromTheBeginning) {
  Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  auto gone = std::make_unique<Relayed>();
  const auto away = gone->address();
  gone.reset();
  const auto known = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents["*"].push_back({.address = behind.server.address()});
  known->set(std::move(offers));
  const auto there = behind.relay.address();
  for (const auto& relays : {std::vector{away, there}, std::vector{there, away}}) {
    mf::Client client(std::make_shared<mf::RelayedResolver>(known, relays), {.log = mf::Log(mf::Level::off)});
    PlacesSubscriber subscriber(client, "here", {.replay = 0});
    ASSERT_TRUE(subscriber.await_publishers(1, 30s)) << relays.front().str();
    at.publish(place(1));
    EXPECT_EQ(subscriber.next(30s).value(), place(1));
  }
}

TEST(RelayedTopics, APublisherThatIsNotOfferedAnyMoreIsForgotten) {
  Behind behind;
  auto gone = std::make_unique<mf::Topics>();
  auto server = std::make_unique<mf::Server>(mf::ServerOptions{.drain_timeout = 100ms});
  server->offer(*gone);
  server->start();
  behind.relay.knows({server->address()}, "*");
  auto client = behind.client();
  PlacesSubscriber all(client, "*");
  {
    PlacesPublisher places(*gone);
    ASSERT_TRUE(places.await_subscribers(1, 30s));
    places.at("here").publish(place(1));
    EXPECT_EQ(all.next(30s).sequence(), 1U);
  }
  behind.relay.knows({behind.server.address()}, "*");
  server.reset();
  gone.reset();
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  PlacesSubscriber late(client, "*");
  ASSERT_TRUE(eventually([&] {
    // A new subscriber is replayed what the relay has: nothing of publishers that have gone.
    PlacesSubscriber fresh(client, "*");
    return !fresh.poll(20ms);
  }));
  (void)at;
}

/// Sends its messages once, and then waits for its end.
class Liar final : public mf::topics::AnyTopicServant {
 public:
  explicit Liar(std::vector<mf::topics::Delivery> lies) : lies_(std::move(lies)) {}
  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return PlacesTopic::kService; }
  [[nodiscard]] std::size_t times() const noexcept { return times_; }
  static mf::topics::Delivery source(std::uint32_t number, std::uint64_t next) {
    return mf::topics::Delivery::of_source(
        {.source = number, .publisher = {}, .agent = "here", .next = next, .live = next, .keep = 3});
  }
  static mf::topics::Delivery message(std::uint64_t sequence, std::uint32_t of = 0) {
    return mf::topics::Delivery::of_message({.source = of,
                                             .sequence = sequence,
                                             .time = {},
                                             .payload = mf::Bytes(mf::to_bytes(place(sequence)))});
  }
  static mf::topics::Delivery missed(std::uint64_t first, std::uint64_t count) {
    return mf::topics::Delivery::of_missed(
        {.first = first, .count = count, .source = 0, .why = mf::Why::dropped});
  }

 private:
  void subscribe(const mf::topics::Subscription& /*what*/,
                 mf::StreamWriter<mf::topics::Delivery>& out) override {
    ++times_;
    for (const auto& each : lies_) out.write(each);
    // a duplicate, until there is no subscriber
    while (out.write(message(1))) std::this_thread::sleep_for(20ms);
  }

  const std::vector<mf::topics::Delivery> lies_;
  std::atomic<std::size_t> times_{0};
};

TEST(RelayedTopics, APublisherThatRepeatsAndSkipsNumbersIsToldAsItIs) {
  mf::Server server(mf::ServerOptions{.drain_timeout = 10ms});
  const auto liar = std::make_shared<Liar>(std::vector{Liar::source(0, 1), Liar::message(1), Liar::message(1),
                                                       Liar::message(5), Liar::missed(6, 2),
                                                       Liar::missed(2, 3), Liar::message(8)});
  server.offer(liar);
  server.start();
  Relayed relay;
  relay.knows({server.address()}, "*");
  mf::Client client(relay.address().str(), {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "*");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  for (int i = 0; i < 3; ++i) {
    const auto message = there.next(30s);
    told.emplace_back(message.sequence(), message.missed());
  }
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_THAT(told, ElementsAre(Pair(1, 0), Pair(5, 3), Pair(8, 2)));
  EXPECT_EQ(there.stats().upstream, 5U);
  EXPECT_EQ(relay.topics().at(0).missed, 5U);
  EXPECT_TRUE(eventually([&] { return relay.topics().at(0).duplicates >= 3; }));
  there.close();
  server.stop();
}

TEST(RelayedTopics, APublisherThatBreaksTheProtocolIsCutAndTheOthersGoOn) {
  const Behind behind;
  PlacesPublisher places(behind.topics);
  auto at = places.at("here");
  mf::Server server(mf::ServerOptions{.drain_timeout = 10ms});
  const auto liar = std::make_shared<Liar>(std::vector{Liar::source(0, 1), Liar::message(1, 9)});
  server.offer(liar);
  server.start();
  Relayed relay;
  relay.knows({server.address(), behind.server.address()}, "*");
  mf::Client client(relay.address().str(), {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "*");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  EXPECT_TRUE(eventually([&] { return liar->times() >= 3; })) << "it is asked again and again, with back-off";
  for (std::uint64_t i = 1; i <= 100; ++i) at.publish(place(i));
  EXPECT_THAT(next_sequences(there, 100).back(), 100U);
  // The liar counts for a moment whenever it is asked again.
  EXPECT_TRUE(eventually([&] { return there.stats().publishers == 1U; }));
  EXPECT_GE(relay.topics().at(0).cut, 2U);
  there.close();
  server.stop();
}

}  // namespace
}  // namespace mftest::topics_test
