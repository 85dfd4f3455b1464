// Subscribers of one client that want the same share a stream and what comes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "support/wait.hpp"
#include "topics/hand_made.hpp"
#include "topics/publishing.hpp"

namespace mftest::shared_test {
namespace {

using mf::Code;
using mf::Overflow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

// a window, so that a subscriber that takes nothing has an effect soon
constexpr std::uint32_t kSmall = 4'096;

/// A message that no small window takes many of.
mf::topics::Position wide(std::uint64_t sequence) {
  return place(sequence, std::string(100, 'x'));
}

/// Takes until `count` messages have come or are missed; returns how many have come, which it checks.
std::uint64_t take_all(PlacesSubscriber& subscriber, std::uint64_t count) {
  std::uint64_t missed = 0;
  std::uint64_t received = 0;
  subscriber.on_gap([&](const mf::Gap& gap) { missed += gap.count; });
  for (int looks = 0; received + missed < count && looks < 3'000; ++looks) {
    const auto message = subscriber.poll(10ms);
    if (!message) continue;
    ++received;
    EXPECT_EQ(message->sequence(), received + missed);
    looks = 0;
  }
  subscriber.on_gap(nullptr);
  EXPECT_EQ(received + missed, count);
  return received;
}

TEST(SharedTopics, SubscribersOfOneClientHaveOneStreamAndOneValueThatIsDecodedOnce) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url);
  PlacesSubscriber one(client, "here", {.overflow = Overflow::block});
  PlacesSubscriber two(client, "here", {.overflow = Overflow::block});
  ASSERT_TRUE(one.await_publishers(1, 30s));
  ASSERT_TRUE(two.await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 200; ++i) at.publish(place(i));
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const auto first = one.next(30s);
    const auto second = two.next(30s);
    ASSERT_EQ(first.value(), place(i));
    ASSERT_EQ(&second.value(), &first.value());
    ASSERT_EQ(second.share(), first.share());
  }
  for (auto* each : {&one, &two}) {
    EXPECT_EQ(each->stats().received, 200U);
    EXPECT_EQ(each->stats().decoded, 200U) << "for both of them";
    EXPECT_EQ(each->stats().copied, 0U);
  }
  const auto stats = places.stats();
  ASSERT_THAT(stats.subscriptions, SizeIs(1));
  EXPECT_EQ(stats.subscriptions[0].delivered, 200U);
}

TEST(SharedTopics, WhoeverLooksFirstDecodesAndTheOtherWaitsForIt) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber one(client, {.overflow = Overflow::block});
  TicksSubscriber two(client, {.overflow = Overflow::block});
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  const auto look = [](TicksSubscriber& subscriber) {
    for (std::uint64_t i = 1; i <= 2'000; ++i) {
      if (subscriber.next(30s)->first != i) return false;
    }
    return true;
  };
  auto first = std::async(std::launch::async, [&] { return look(one); });
  auto second = std::async(std::launch::async, [&] { return look(two); });
  for (std::uint64_t i = 1; i <= 2'000; ++i) ticks.publish(tick(i));
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  EXPECT_EQ(one.stats().decoded, 2'000U);
}

TEST(SharedTopics, WhoChangesAValueGetsACopyWhileTheOtherHasIt) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber one(client);
  TicksSubscriber two(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(7));
  auto first = one.next(30s);
  first.mutate().first = 8;
  auto second = two.next(30s);
  EXPECT_EQ(second->first, 7U);
  EXPECT_EQ(one.stats().copied, 1U);
  second.mutate().first = 9;
  EXPECT_EQ(first->first, 8U);
  EXPECT_EQ(two.stats().copied, 1U) << "it was the last that had it";
}

TEST(SharedTopics, OtherOptionsAndOtherAgentsAreOtherStreams) {
  Publishing here;
  PlacesPublisher places(here.topics);
  mf::Client client(here.url);
  PlacesSubscriber one(client, "here");
  PlacesSubscriber blocks(client, "here", {.overflow = Overflow::block});
  PlacesSubscriber small(client, "here", {.max_messages = 3});
  PlacesSubscriber late(client, "here", {.replay = 0});
  PlacesSubscriber all(client, "*");
  ASSERT_TRUE(places.await_subscribers(5, 30s));
}

TEST(SharedTopics, WhoComesLaterGetsWhatIsPublishedFromThenOn) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber early(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  for (std::uint64_t i = 1; i <= 5; ++i) ticks.publish(tick(i));
  EXPECT_EQ(next_sequences(early, 5).back(), 5U);
  TicksSubscriber late(client);
  ASSERT_TRUE(late.await_publishers(1, 30s));
  ticks.publish(tick(6));
  const auto message = late.next(30s);
  EXPECT_EQ(message.sequence(), 6U);
  EXPECT_EQ(message.missed(), 0U);
  EXPECT_EQ(late.stats().not_kept + late.stats().upstream + late.stats().dropped, 0U);
  EXPECT_EQ(early.next(30s).sequence(), 6U);
  EXPECT_THAT(ticks.stats().subscriptions, SizeIs(1));
}

TEST(SharedTopics, WhoComesLaterGetsWhatItsPublisherKeepsWithoutAskingItAgain) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url);
  PlacesSubscriber early(client, "here");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  for (std::uint64_t i = 1; i <= 9; ++i) at.publish(place(i));
  EXPECT_EQ(next_sequences(early, 9).back(), 9U);
  PlacesSubscriber late(client, "here");
  EXPECT_THAT(next_sequences(late, 3), ElementsAre(7, 8, 9));
  EXPECT_THAT(places.stats().subscriptions, SizeIs(1));
  EXPECT_EQ(places.stats().subscriptions[0].delivered, 9U);
}

TEST(SharedTopics, WhoTakesNothingAndDropsHoldsUpNobodyAndLearnsWhatItMissed) {
  for (const auto overflow : {Overflow::drop_oldest, Overflow::drop_newest}) {
    Publishing here;
    PlacesPublisher places(here.topics);
    auto at = places.at("here");
    mf::Client client(here.url, {.stream_window = kSmall});
    const mf::SubscribeOptions options{.overflow = overflow, .max_messages = 100};
    PlacesSubscriber slow(client, "here", options);
    PlacesSubscriber quick(client, "here", options);
    ASSERT_TRUE(quick.await_publishers(1, 30s));
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
      at.publish(wide(i));
      ASSERT_EQ(quick.next(30s).sequence(), i);
    }
    const auto received = take_all(slow, 1'000);
    EXPECT_EQ(received, 100U);
    EXPECT_EQ(slow.stats().dropped, 900U);
    EXPECT_EQ(quick.stats().dropped, 0U);
    EXPECT_EQ(places.stats().subscriptions.at(0).dropped, 0U) << "its stream did not drop for the other";
  }
}

TEST(SharedTopics, WhoIsAloneAndFullIsNotWaitedForAnyMoreWhenAnotherComes) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = kSmall});
  PlacesSubscriber slow(client, "here", {.max_messages = 10, .replay = 0});
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  for (std::uint64_t i = 1; i <= 2'000; ++i) at.publish(wide(i));
  ASSERT_GT(places.stats().subscriptions.at(0).dropped, 0U) << "its publisher drops for the only subscriber";
  PlacesSubscriber quick(client, "here", {.max_messages = 10, .replay = 0});
  std::uint64_t last = 2'000;
  at.publish(wide(++last));
  while (quick.next(30s).sequence() < last) continue;
  EXPECT_LE(take_all(slow, last), last);
}

TEST(SharedTopics, NothingIsLostToThoseWhoBlockHoweverSlowOneOfThemIs) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = kSmall});
  const mf::SubscribeOptions options{.overflow = Overflow::block, .max_messages = 5};
  PlacesSubscriber one(client, "here", options);
  PlacesSubscriber two(client, "here", options);
  ASSERT_TRUE(two.await_publishers(1, 30s));
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= 3'000; ++i) at.publish(wide(i));
  });
  std::jthread taking([&] { EXPECT_EQ(take_all(one, 3'000), 3'000U); });
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    if (i % 100 == 0) std::this_thread::yield();
    ASSERT_EQ(two.next(30s).sequence(), i);
  }
}

TEST(SharedTopics, WhoBlocksAndTakesNothingMissesWhatComesOnceItHasStalledTheOthers) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = kSmall, .log = mf::Log(mf::Level::off)});
  const mf::SubscribeOptions options{.overflow = Overflow::block, .max_messages = 50, .stall_timeout = 20ms};
  PlacesSubscriber stalled(client, "here", options);
  PlacesSubscriber other(client, "here", options);
  ASSERT_TRUE(other.await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    at.publish(wide(i));
    ASSERT_EQ(other.next(30s).sequence(), i);
  }
  const auto received = take_all(stalled, 2'000);
  EXPECT_EQ(received, 50U);
  EXPECT_EQ(stalled.stats().dropped, 1'950U);
  EXPECT_EQ(places.stats().cut, 0U);
  at.publish(wide(2'001));
  EXPECT_EQ(stalled.next(30s).sequence(), 2'001U) << "it is waited for again";
}

TEST(SharedTopics, WhoAsksToBeDisconnectedEndsAloneWhenItsQueueIsFull) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url);
  const mf::SubscribeOptions options{.overflow = Overflow::disconnect, .max_messages = 10};
  PlacesSubscriber slow(client, "here", options);
  PlacesSubscriber quick(client, "here", options);
  ASSERT_TRUE(quick.await_publishers(1, 30s));
  for (std::uint64_t i = 1; i <= 50; ++i) {
    at.publish(place(i));
    ASSERT_EQ(quick.next(30s).sequence(), i);
  }
  EXPECT_EQ(next_sequences(slow, 10).back(), 10U);
  try {
    (void)slow.next(30s);
    ADD_FAILURE() << "it goes on";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::overloaded);
    EXPECT_THAT(error.what(), HasSubstr("its queue of 10 messages"));
  }
}

TEST(SharedTopics, AStreamEndsWithTheLastOfItsSubscribers) {
  std::atomic<int> gone{0};
  Publishing here;
  TicksPublisher ticks(here.topics);
  ticks.on_unmatched([&](const mf::SubscriptionStats& /*stats*/) { ++gone; });
  mf::Client client(here.url);
  std::optional<TicksSubscriber> one(client);
  std::optional<TicksSubscriber> two(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(1));
  EXPECT_EQ(one->next(30s).sequence(), 1U);
  one.reset();
  ticks.publish(tick(2));
  EXPECT_THAT(next_sequences(*two, 2), ElementsAre(1, 2));
  two.reset();
  EXPECT_TRUE(eventually([&] { return gone == 1; }));
  EXPECT_TRUE(ticks.stats().subscriptions.empty());
  TicksSubscriber again(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(3));
  EXPECT_EQ(again.next(30s).sequence(), 3U);
}

TEST(SharedTopics, WhoLeavesWhileTheOthersWaitForItLetsThemGoOn) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = kSmall});
  const mf::SubscribeOptions options{.overflow = Overflow::block, .max_messages = 5};
  std::optional<PlacesSubscriber> leaves(std::in_place, client, "here", options);
  PlacesSubscriber stays(client, "here", options);
  ASSERT_TRUE(stays.await_publishers(1, 30s));
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= 1'000; ++i) at.publish(wide(i));
  });
  EXPECT_EQ(next_sequences(stays, 5).back(), 5U);
  leaves.reset();
  EXPECT_EQ(next_sequences(stays, 995).back(), 1'000U);
}

TEST(SharedTopics, WhoComesLaterIsToldOfThePublishersThatThereAre) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber early(client);
  ASSERT_TRUE(early.await_publishers(1, 30s));
  TicksSubscriber late(client);
  EXPECT_EQ(late.stats().publishers, 1U);
  std::promise<std::size_t> matched;
  late.on_matched([&](std::size_t publishers) { matched.set_value(publishers); });
  EXPECT_EQ(matched.get_future().get(), 1U);
}

TEST(SharedTopics, EachIsToldOfPublishersThatAreLost) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url, {.log = mf::Log(mf::Level::off)});
  TicksSubscriber one(client);
  TicksSubscriber two(client);
  std::promise<std::size_t> of_one;
  std::promise<std::size_t> of_two;
  one.on_unmatched([&](std::size_t publishers) { of_one.set_value(publishers); });
  two.on_unmatched([&](std::size_t publishers) { of_two.set_value(publishers); });
  ASSERT_TRUE(one.await_publishers(1, 30s));
  here.server.reset();
  EXPECT_EQ(of_one.get_future().get(), 0U);
  EXPECT_EQ(of_two.get_future().get(), 0U);
}

TEST(SharedTopics, AFailureEndsAllAndTheNextBeginsAnew) {
  std::atomic<bool> allowed{false};
  Publishing here(
      {.authorize = [&](const mf::TopicAccess& access) { return allowed || access.peer.empty(); }});
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber one(client);
  TicksSubscriber two(client);
  for (auto* each : {&one, &two}) {
    try {
      (void)each->next(30s);
      ADD_FAILURE() << "it goes on";
    } catch (const mf::Error& error) {
      EXPECT_EQ(error.code(), Code::permission_denied);
    }
  }
  allowed = true;
  TicksSubscriber again(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(1));
  EXPECT_EQ(again.next(30s).sequence(), 1U);
}

}  // namespace
}  // namespace mftest::shared_test
