// Topics within a process: sharing, order, the four policies, replay, figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <ranges>
#include <span>
#include <thread>
#include <vector>

#include "mf/testing/clock.hpp"
#include "topics/hand_made.hpp"

namespace mftest::local_test {
namespace {

using mf::Code;
using mf::Overflow;
using mf::SubscribeOptions;
using mf::Topics;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

template <class Action>
mf::Error error_of(Action&& action) {
  try {
    action();
  } catch (const mf::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {Code::ok, mf::Execution::unknown, ""};
}

struct Careful : TicksTopic {
  static constexpr mf::topics::TopicInfo kTopic{
      .service = kService,
      .overflow = mf::topics::any_of({Overflow::drop_newest, Overflow::disconnect}),
      .default_overflow = Overflow::drop_newest};
};

struct Other : TicksTopic {
  static constexpr mf::ServiceInfo kService = topic_service("test.Ticks", 3);
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};

TEST(LocalTopics, ANullPointerIsNoValueToPublish) {
  Topics topics;
  TicksPublisher ticks(topics);
  const auto error = error_of([&] { ticks.publish(std::shared_ptr<const mf::topics::Missed>()); });
  EXPECT_EQ(error.code(), Code::invalid_argument);
  EXPECT_EQ(error.execution(), mf::Execution::not_executed);
  EXPECT_THAT(error.what(), HasSubstr("a value to publish of test.Ticks is a null pointer"));
  const std::vector<std::shared_ptr<const mf::topics::Missed>> values{
      std::make_shared<const mf::topics::Missed>(tick(1)), nullptr};
  EXPECT_EQ(error_of([&] { ticks.publish_all(values); }).code(), Code::invalid_argument);
  EXPECT_EQ(ticks.stats().agents.at(0).published, 1U) << "of many those before it are published";
  ticks.publish(std::make_shared<const mf::topics::Missed>(tick(2)));
  EXPECT_EQ(ticks.stats().agents.at(0).published, 2U);
}

TEST(LocalTopics, ASubscriberGetsWhatWasPublishedSinceItCame) {
  Topics topics;
  TicksPublisher ticks(topics);
  ticks.publish(tick(1));
  TicksSubscriber here(topics);
  ticks.publish(tick(2));
  const auto message = here.next();
  EXPECT_EQ(message.value(), tick(2));
  EXPECT_EQ(message->first, 2U);
  EXPECT_EQ(message.sequence(), 2U);
  EXPECT_EQ(message.topic(), "test.Ticks");
  EXPECT_EQ(message.agent(), "");
  EXPECT_EQ(message.missed(), 0U);
  EXPECT_EQ(message.publisher(), topics.hub()->publisher());
  EXPECT_NE(message.time(), mf::Timestamp{});
  EXPECT_EQ(here.poll(), std::nullopt);
}

TEST(LocalTopics, AllSubscribersSeeTheOneValueThatWasPublishedAndNothingIsEncoded) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber first(topics);
  TicksSubscriber second(topics);
  const auto value = std::make_shared<const mf::topics::Missed>(tick(7));
  ticks.publish(value);
  const auto at_first = first.next();
  const auto at_second = second.next();
  EXPECT_EQ(&at_first.value(), value.get());
  EXPECT_EQ(at_second.share(), value);
  EXPECT_EQ(ticks.stats().encoded, 0U);
  EXPECT_EQ(first.stats().decoded, 0U);
  EXPECT_EQ(first.stats().copied, 0U);
}

TEST(LocalTopics, WhoChangesAMessageCopiesItOnlyWhileOthersMaySeeIt) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber first(topics);
  TicksSubscriber second(topics);
  ticks.publish(tick(7));
  auto at_first = first.next();
  auto at_second = second.next();
  at_first.mutate().first = 8;
  EXPECT_EQ(at_second->first, 7U);
  EXPECT_EQ(at_first->first, 8U);
  EXPECT_EQ(first.stats().copied, 1U);
  const auto* const before = &at_second.value();
  at_second.mutate().first = 9;
  EXPECT_EQ(&at_second.value(), before) << "it was the last reference";
  EXPECT_EQ(first.stats().copied, 1U);
}

TEST(LocalTopics, AValueThatSomebodyElseHasIsCopiedBeforeItIsChanged) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics);
  const auto value = std::make_shared<const mf::topics::Missed>(tick(7));
  ticks.publish(value);
  auto message = here.next();
  message.mutate().first = 8;
  EXPECT_EQ(value->first, 7U);
  ticks.publish(tick(1));
  auto shared = here.next();
  const auto kept = shared.share();
  shared.mutate().first = 2;
  EXPECT_EQ(kept->first, 1U);
  auto again = shared;
  again.mutate().first = 3;
  EXPECT_EQ(shared->first, 2U);
}

TEST(LocalTopics, ASharedValueOutlivesItsMessageAndIsChangedInPlaceOnceNobodyElseHasIt) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics);
  ticks.publish(tick(1));
  auto kept = here.next().share();
  EXPECT_EQ(kept->first, 1U);
  ticks.publish(tick(2));
  auto message = here.next();
  kept = message.share();
  EXPECT_EQ(kept.get(), &message.value());
  kept.reset();
  message.mutate().first = 3;
  EXPECT_EQ(message->first, 3U);
  EXPECT_EQ(here.stats().copied, 0U);
}

TEST(LocalTopics, EachAgentHasNumbersOfItsOwnAndGoesToThoseWhoAskedForIt) {
  Topics topics;
  PlacesPublisher places(topics);
  PlacesSubscriber one(topics, "eu.north");
  PlacesSubscriber some(topics, "eu.*");
  auto north = places.at("eu.north");
  auto south = places.at("eu.south");
  auto other = places.at("us.north");
  north.publish(place(1));
  south.publish(place(2));
  north.publish(place(3));
  other.publish(place(4));
  EXPECT_THAT(sequences(one), ElementsAre(1, 2));
  const auto first = some.next();
  EXPECT_EQ(first.agent(), "eu.north");
  const auto second = some.next();
  EXPECT_EQ(second.agent(), "eu.south");
  EXPECT_EQ(second.sequence(), 1U);
  EXPECT_EQ(some.next().sequence(), 2U);
  EXPECT_EQ(some.poll(), std::nullopt);
}

TEST(LocalTopics, ManyValuesAreMovedOutOfATemporaryAndSharedAsTheyAre) {
  mf::Topics topics;
  PlacesPublisher places(topics);
  PlacesSubscriber here(topics, "a");
  const std::string agent(50, 'x');
  std::vector<mf::topics::Position> values{place(1, agent), place(2, agent)};
  places.at("a").publish_all(values);
  EXPECT_EQ(values[0].agent, agent);
  const auto* const characters = values[1].agent.data();
  places.at("a").publish_all(std::span(values));
  EXPECT_EQ(values[1].agent, agent) << "a view does not own what it shows";
  places.at("a").publish_all(std::move(values));
  const std::vector<std::shared_ptr<const mf::topics::Position>> shared{
      std::make_shared<mf::topics::Position>(place(3))};
  places.at("a").publish_all(shared);
  places.at("a").publish_all(std::views::iota(4, 6) | std::views::transform([](int i) {
                               return place(static_cast<std::uint64_t>(i));
                             }));
  for (int i = 0; i < 5; ++i) (void)here.next();
  EXPECT_EQ(here.next()->agent.data(), characters);
  EXPECT_EQ(&*here.next(), shared[0].get());
  EXPECT_THAT(sequences(here), testing::ElementsAre(8, 9));
}

TEST(LocalTopics, AnAgentThatComesLaterIsMatched) {
  Topics topics;
  PlacesSubscriber all(topics, "*");
  PlacesPublisher places(topics);
  places.at("a.b.c").publish(place(1));
  EXPECT_EQ(all.next().agent(), "a.b.c");
}

TEST(LocalTopics, APatternOrAgentThatCannotBeIsRefusedInWords) {
  Topics topics;
  PlacesPublisher places(topics);
  EXPECT_THAT(error_of([&] { PlacesSubscriber(topics, "eu.n*"); }).what(),
              HasSubstr("INVALID_ARGUMENT: '*' matches a whole segment between dots, not a part of one: "
                        "\"n*\""));
  EXPECT_THAT(error_of([&] { PlacesSubscriber(topics, ""); }).what(),
              HasSubstr("topic test.Places has agents: say which, \"*\" for all"));
  EXPECT_THAT(error_of([&] { (void)places.at(""); }).what(), HasSubstr("say of which a message is"));
  EXPECT_THAT(error_of([&] { (void)places.at("a.*"); }).what(), HasSubstr("has no '*'"));
  EXPECT_THAT(error_of([&] { (void)places.at(std::string(1025, 'a')); }).what(),
              HasSubstr("an agent has at most 1024 bytes, not 1025"));
  EXPECT_EQ(places.stats().refused, 2U);
}

TEST(LocalTopics, DroppingTheOldestKeepsTheLatestAndTellsHowManyAreMissing) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::drop_oldest, .max_messages = 3});
  std::vector<mf::Gap> gaps;
  here.on_gap([&](const mf::Gap& gap) { gaps.push_back(gap); });
  for (std::uint64_t i = 1; i <= 10; ++i) ticks.publish(tick(i));
  const auto first = here.next();
  EXPECT_EQ(first.sequence(), 8U);
  EXPECT_EQ(first.missed(), 7U);
  EXPECT_THAT(sequences(here), ElementsAre(9, 10));
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].first, 1U);
  EXPECT_EQ(gaps[0].count, 7U);
  EXPECT_EQ(gaps[0].why, mf::Why::dropped);
  const auto stats = here.stats();
  EXPECT_EQ(stats.received, 3U);
  EXPECT_EQ(stats.dropped, 7U);
  const auto publisher = ticks.stats();
  ASSERT_EQ(publisher.subscriptions.size(), 1U);
  EXPECT_EQ(publisher.subscriptions[0].delivered, 3U);
  EXPECT_EQ(publisher.subscriptions[0].dropped, 7U);
  EXPECT_EQ(publisher.agents[0].published, 10U);
}

TEST(LocalTopics, DroppingTheNewestKeepsTheOldestAndTellsOfTheGapOnceThereIsRoom) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::drop_newest, .max_messages = 3});
  std::vector<mf::Gap> gaps;
  here.on_gap([&](const mf::Gap& gap) { gaps.push_back(gap); });
  for (std::uint64_t i = 1; i <= 5; ++i) ticks.publish(tick(i));
  EXPECT_EQ(here.next().sequence(), 1U);
  EXPECT_THAT(gaps, IsEmpty());
  ticks.publish(tick(6));
  EXPECT_EQ(here.next().sequence(), 2U);
  EXPECT_EQ(here.next().sequence(), 3U);
  const auto behind = here.next();
  EXPECT_EQ(behind.sequence(), 6U);
  EXPECT_EQ(behind.missed(), 2U);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].first, 4U);
  EXPECT_EQ(gaps[0].count, 2U);
}

TEST(LocalTopics, WhatIsMissedIsToldAlsoWhenNoMessageFollows) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::drop_newest, .max_messages = 2});
  for (std::uint64_t i = 1; i <= 5; ++i) ticks.publish(tick(i));
  EXPECT_THAT(sequences(here), ElementsAre(1, 2));
  EXPECT_EQ(here.stats().dropped, 3U);
}

TEST(LocalTopics, WhoKeepsToNoBoundIsDisconnectedBehindWhatWaits) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::disconnect, .max_messages = 2});
  for (std::uint64_t i = 1; i <= 4; ++i) ticks.publish(tick(i));
  EXPECT_EQ(here.next().sequence(), 1U);
  EXPECT_EQ(here.next().sequence(), 2U);
  const auto error = error_of([&] { (void)here.next(); });
  EXPECT_EQ(error.code(), Code::overloaded);
  EXPECT_THAT(error.what(), HasSubstr("its queue of 2 messages"));
  EXPECT_EQ(ticks.stats().subscriptions.at(0).dropped, 0U) << "it had ended before the third message";
  EXPECT_EQ(here.stats().dropped, 0U);
  here.close();
  EXPECT_EQ(ticks.stats().cut, 1U);
  EXPECT_THAT(ticks.stats().subscriptions, IsEmpty());
}

TEST(LocalTopics, WhatWaitsWhenASubscriptionEndsIsDroppedAndThePublisherKeepsTheSums) {
  Topics topics;
  TicksPublisher ticks(topics);
  std::vector<mf::SubscriptionStats> last;
  std::promise<void> both;
  ticks.on_unmatched([&](const mf::SubscriptionStats& stats) {
    last.push_back(stats);
    if (last.size() == 2) both.set_value();
  });
  for (const std::uint64_t count : {5U, 3U}) {
    TicksSubscriber here(topics);
    for (std::uint64_t i = 1; i <= count; ++i) ticks.publish(tick(i));
    for (int i = 0; i < 2; ++i) (void)here.next();
  }
  both.get_future().get();
  EXPECT_EQ(last[0].delivered, 2U);
  EXPECT_EQ(last[0].dropped, 3U);
  EXPECT_EQ(last[0].queued, 0U);
  EXPECT_EQ(last[1].dropped, 1U);
  const auto ended = ticks.stats().ended;
  EXPECT_EQ(ended.subscriptions, 2U);
  EXPECT_EQ(ended.delivered, 4U);
  EXPECT_EQ(ended.dropped, 4U);
  EXPECT_EQ(ended.not_kept, 0U);
}

TEST(LocalTopics, APublisherWaitsForASubscriberThatBlocksAndLosesNothing) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::block, .max_messages = 2});
  TicksSubscriber other(topics, {.max_messages = 1'000});
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= 500; ++i) ticks.publish(tick(i));
  });
  for (std::uint64_t i = 1; i <= 500; ++i) {
    const auto message = here.next();
    ASSERT_EQ(message.sequence(), i);
    ASSERT_EQ(message.missed(), 0U);
  }
  EXPECT_EQ(here.stats().dropped, 0U);
}

TEST(LocalTopics, AMessageForWhichThereIsNoRoomUntilItsDeadlineGoesToNobody) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber blocks(topics, {.overflow = Overflow::block, .max_messages = 1});
  TicksSubscriber other(topics);
  ticks.publish(tick(1));
  const auto error = error_of([&] { ticks.publish(tick(2), {.deadline = 1ms}); });
  EXPECT_EQ(error.code(), Code::deadline_exceeded);
  EXPECT_EQ(error.execution(), mf::Execution::not_executed);
  EXPECT_THAT(sequences(other), ElementsAre(1));
  EXPECT_THAT(sequences(blocks), ElementsAre(1));
  ticks.publish(tick(3));
  EXPECT_THAT(sequences(other), ElementsAre(2));
}

TEST(LocalTopics, OfManyMessagesAtOnceThoseAreHandedOutForWhichAllWhoBlockHaveRoom) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber larger(topics, {.overflow = Overflow::block, .max_messages = 5});
  TicksSubscriber smaller(topics, {.overflow = Overflow::block, .max_messages = 3});
  TicksSubscriber other(topics);
  const std::vector<mf::topics::Missed> many(10, tick(1));
  const auto error = error_of([&] { ticks.publish_all(many, {.deadline = 1ms}); });
  EXPECT_EQ(error.code(), Code::deadline_exceeded);
  EXPECT_THAT(sequences(smaller), ElementsAre(1, 2, 3));
  EXPECT_THAT(sequences(other), ElementsAre(1, 2, 3));
  EXPECT_EQ(larger.stats().queued, 3U);
  const auto again = error_of([&] { ticks.publish_all(many, {.deadline = 1ms}); });
  EXPECT_EQ(again.code(), Code::deadline_exceeded);
  EXPECT_THAT(sequences(larger), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(sequences(smaller), ElementsAre(4, 5)) << "no room is lost to what was taken back";
  ticks.publish_all(std::vector<mf::topics::Missed>(3, tick(2)));
  EXPECT_THAT(sequences(larger), ElementsAre(6, 7, 8));
  EXPECT_THAT(sequences(smaller), ElementsAre(6, 7, 8));
  EXPECT_THAT(sequences(other), ElementsAre(4, 5, 6, 7, 8));
}

TEST(LocalTopics, QueuesAreBoundedInBytesAndOneMessageAlwaysFits) {
  Topics topics;
  PlacesPublisher places(topics);
  PlacesSubscriber here(topics, "here", {.max_messages = 100, .max_bytes = 3'000});
  auto at = places.at("here");
  for (std::uint64_t i = 1; i <= 10; ++i) at.publish(place(i, std::string(900, 'x')));
  EXPECT_THAT(sequences(here), ElementsAre(8, 9, 10));
  PlacesSubscriber tiny(topics, "here", {.max_bytes = 10, .replay = 0});
  at.publish(place(11, std::string(900, 'x')));
  EXPECT_THAT(sequences(tiny), ElementsAre(11));
}

TEST(LocalTopics, WhoComesLateGetsTheLastMessagesThatAreKept) {
  Topics topics;
  PlacesPublisher places(topics);
  auto at = places.at("here");
  for (std::uint64_t i = 1; i <= 5; ++i) at.publish(place(i));
  PlacesSubscriber all(topics, "here");
  PlacesSubscriber two(topics, "here", {.replay = 2});
  PlacesSubscriber none(topics, "here", {.replay = 0});
  at.publish(place(6));
  EXPECT_THAT(sequences(all), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(sequences(two), ElementsAre(4, 5, 6));
  EXPECT_THAT(sequences(none), ElementsAre(6));
  EXPECT_EQ(all.stats().not_kept, 0U);
}

TEST(LocalTopics, WhoWantsAllGetsMoreReplayedThanItsQueueHolds) {
  Topics topics;
  PlacesPublisher places(topics);
  for (std::uint64_t i = 1; i <= 5; ++i) places.at("here").publish(place(i));
  for (const auto overflow : {Overflow::block, Overflow::disconnect}) {
    PlacesSubscriber all(topics, "here", {.overflow = overflow, .max_messages = 1});
    EXPECT_THAT(sequences(all), ElementsAre(3, 4, 5));
    EXPECT_EQ(all.stats().dropped, 0U);
  }
}

TEST(LocalTopics, AGapThatWaitsIsNoMessageThatWaits) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::drop_newest, .max_messages = 3});
  for (std::uint64_t i = 1; i <= 5; ++i) ticks.publish(tick(i));
  (void)here.next();
  (void)here.next();
  ticks.publish(tick(6));
  const auto stats = ticks.stats().subscriptions[0];
  EXPECT_EQ(stats.queued, 2U);
  EXPECT_EQ(stats.delivered + stats.dropped + stats.queued, 6U);
}

TEST(LocalTopics, WhatIsKeptIsBoundedInBytes) {
  Topics topics({.keep_bytes = 2'000});
  PlacesPublisher places(topics);
  auto at = places.at("here");
  for (std::uint64_t i = 1; i <= 5; ++i) at.publish(place(i, std::string(900, 'x')));
  EXPECT_EQ(places.stats().agents[0].kept, 2U);
}

TEST(LocalTopics, MessagesOfManyThreadsHaveOneOrderThatAllSubscribersSee) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber first(topics, {.max_messages = 10'000});
  TicksSubscriber second(topics, {.max_messages = 10'000});
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&ticks, thread] {
        for (std::uint64_t i = 0; i < 500; ++i) ticks.publish(tick(thread * 1'000 + i));
      });
    }
  }
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    const auto a = first.next();
    const auto b = second.next();
    ASSERT_EQ(a.sequence(), i);
    ASSERT_EQ(b.sequence(), i);
    ASSERT_EQ(&a.value(), &b.value());
  }
}

TEST(LocalTopics, APublisherWaitsForSubscribersAndIsToldOfThem) {
  Topics topics;
  TicksPublisher ticks(topics);
  EXPECT_FALSE(ticks.await_subscribers(1, 0ms));
  std::promise<std::string> matched;
  std::promise<std::uint64_t> unmatched;
  ticks.on_matched([&](const mf::SubscriptionStats& stats) { matched.set_value(stats.agents); });
  ticks.on_unmatched([&](const mf::SubscriptionStats& stats) { unmatched.set_value(stats.delivered); });
  std::jthread later([&] {
    TicksSubscriber here(topics);
    (void)here.next();
  });
  EXPECT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(1));
  EXPECT_EQ(matched.get_future().get(), "");
  EXPECT_EQ(unmatched.get_future().get(), 1U);
}

TEST(LocalTopics, ACallbackGetsAllMessagesInOrderAndNoneAfterClose) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics, {.overflow = Overflow::block, .max_messages = 10});
  std::vector<std::uint64_t> seen;
  std::promise<void> all;
  here.on_message([&](const mf::TopicMessage<mf::topics::Missed>& message) {
    seen.push_back(message.sequence());
    if (seen.size() == 1'000) all.set_value();
    if (seen.size() % 100 == 0) throw std::runtime_error("a callback may throw");
  });
  for (std::uint64_t i = 1; i <= 1'000; ++i) ticks.publish(tick(i));
  all.get_future().get();
  here.close();
  ticks.publish(tick(1'001));
  ASSERT_EQ(seen.size(), 1'000U);
  EXPECT_EQ(seen.front(), 1U);
  EXPECT_EQ(seen.back(), 1'000U);
}

TEST(LocalTopics, AnAsynchronousTakeCompletesWithTheNextMessageAndCancelledWithNone) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics);
  std::promise<std::uint64_t> got;
  here.async_next([&](mf::Outcome<mf::TopicMessage<mf::topics::Missed>> message) {
    got.set_value(message.value().sequence());
  });
  ticks.publish(tick(1));
  EXPECT_EQ(got.get_future().get(), 1U);
}

TEST(LocalTopics, ALoopEndsWithTheTopicsAndWhoAsksForMoreIsTold) {
  auto topics = std::make_unique<Topics>();
  TicksPublisher ticks(*topics);
  TicksSubscriber here(*topics);
  ticks.publish(tick(1));
  ticks.publish(tick(2));
  topics.reset();
  std::vector<std::uint64_t> seen;
  for (const auto& message : here) seen.push_back(message.sequence());
  EXPECT_THAT(seen, ElementsAre(1, 2));
  EXPECT_EQ(error_of([&] { (void)here.next(); }).code(), Code::shutting_down);
  here.close();
  EXPECT_EQ(error_of([&] { (void)here.next(); }).code(), Code::cancelled);
}

TEST(LocalTopics, ClosingASubscriberEndsTheWaitOfAnotherThread) {
  Topics topics;
  TicksPublisher ticks(topics);
  TicksSubscriber here(topics);
  std::promise<Code> ended;
  {
    std::jthread waits([&] { ended.set_value(error_of([&] { (void)here.next(); }).code()); });
    here.close();
  }
  EXPECT_EQ(ended.get_future().get(), Code::cancelled);
}

TEST(LocalTopics, SubscriptionsAreBoundedAndMayBeForbidden) {
  Topics topics({.max_subscriptions = 2,
                 .authorize = [](const mf::TopicAccess& access) { return access.agents != "secret"; }});
  PlacesPublisher places(topics);
  PlacesSubscriber first(topics, "a");
  const auto forbidden = error_of([&] { PlacesSubscriber(topics, "secret"); });
  EXPECT_EQ(forbidden.code(), Code::permission_denied);
  PlacesSubscriber second(topics, "b");
  const auto error = error_of([&] { PlacesSubscriber(topics, "c"); });
  EXPECT_EQ(error.code(), Code::overloaded);
  EXPECT_THAT(error.what(),
              HasSubstr("topic test.Places has 2 subscriptions, the most that this publisher takes"));
  second.close();
  PlacesSubscriber third(topics, "c");
  EXPECT_EQ(places.stats().refused, 2U);
}

TEST(LocalTopics, APolicyThatTheTopicDoesNotAllowIsRefusedAndTheFirstThatItDoesIsTheDefault) {
  using Subscriber = mf::topics::LoneSubscriber<Careful>;
  Topics topics;
  mf::topics::LonePublisher<Careful> publisher(topics);
  Subscriber here(topics);
  EXPECT_EQ(publisher.stats().subscriptions[0].overflow, Overflow::drop_newest);
  EXPECT_THAT(error_of([&] { Subscriber(topics, {.overflow = Overflow::block}); }).what(),
              HasSubstr("topic test.Ticks does not allow overflow block, but drop_newest, disconnect"));
}

TEST(LocalTopics, OneProcessHasATopicFromOneSchema) {
  Topics topics;
  TicksPublisher ticks(topics);
  EXPECT_EQ(error_of([&] { mf::topics::LonePublisher<Other> other(topics); }).code(), Code::schema_mismatch);
}

TEST(LocalTopics, AValueThatBreaksItsSchemaIsRefusedAndTakesNoNumber) {
  Topics topics;
  PlacesPublisher places(topics);
  PlacesSubscriber here(topics, "here");
  auto at = places.at("here");
  EXPECT_EQ(error_of([&] { at.publish(place(1, std::string(2'000, 'x'))); }).code(), Code::invalid_argument);
  at.publish_all(std::vector{place(1), place(2), place(3)});
  EXPECT_THAT(sequences(here), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace mftest::local_test
