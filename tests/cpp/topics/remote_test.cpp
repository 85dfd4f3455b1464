// Topics between a server and its clients: what travels, the policies, replay, what happens when either goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"
#include "topics/hand_made.hpp"
#include "topics/publishing.hpp"

namespace mftest::remote_test {
namespace {

using mf::Code;
using mf::Overflow;
using mf::Topics;
using testing::ElementsAre;
using testing::HasSubstr;
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

TEST(RemoteTopics, ASubscriberElsewhereGetsWhatIsPublished) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto books = places.at("eu.books");
  mf::Client client(here.url);
  PlacesSubscriber there(client, "eu.*");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  books.publish(place(7, "seven"));
  const auto message = there.next(30s);
  EXPECT_EQ(message.value(), place(7, "seven"));
  EXPECT_EQ(message.topic(), "test.Places");
  EXPECT_EQ(message.agent(), "eu.books");
  EXPECT_EQ(message.sequence(), 1U);
  EXPECT_EQ(message.publisher(), here.topics.hub()->publisher());
  places.at("eu.news").publish(place(8));
  EXPECT_EQ(there.next(30s).agent(), "eu.news") << "an agent that came later is matched";
}

TEST(RemoteTopics, ASubscriptionThatTheServerDeniesReachesNoPublisher) {
  const Folder folder;
  const auto own = "uid:" + std::to_string(::geteuid());
  const auto file = (folder.path() / "access.conf").string();
  std::ofstream(file) << "deny " + own + " subscribe test.Places per secret.*\nallow " + own +
                             " subscribe test.Places per *\n";
  std::vector<std::string> seen;
  std::vector<std::string> asked;
  Topics topics({.authorize = [&](const mf::TopicAccess& access) {
    if (access.action == mf::TopicAction::subscribe) seen.push_back(access.identity.str());
    return true;
  }});
  PlacesPublisher places(topics);
  mf::Server server({.listen = "unix:" + (folder.path() / "s.sock").string(),
                     .access = file,
                     .authorize = [&](const mf::Identity&, std::string_view topic, std::string_view agents,
                                      std::string_view method) {
                       asked.push_back(std::string(topic) + " " + std::string(agents) + " " +
                                       std::string(method));
                       return agents != "public.none";
                     }});
  server.offer(topics);
  server.start();
  mf::Client client(server.address().str());
  for (const auto* const agents : {"*", "secret.a", "public.none"}) {
    const auto denied = error_of([&] { (void)PlacesSubscriber(client, agents).next(30s); });
    EXPECT_EQ(denied.code(), Code::permission_denied);
    EXPECT_THAT(denied.message(), HasSubstr(own + " may not subscribe to test.Places"));
  }
  EXPECT_THAT(seen, ElementsAre());
  PlacesSubscriber there(client, "public.*");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  EXPECT_THAT(seen, ElementsAre(own));
  EXPECT_THAT(asked, ElementsAre("test.Places public.none subscribe", "test.Places public.* subscribe"));
}

TEST(RemoteTopics, AMessageIsEncodedOnceForAllSubscribersAndDecodedWhereItIsLookedAt) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  mf::Client other(here.url);
  TicksSubscriber first(client);
  TicksSubscriber second(other);
  TicksSubscriber local(here.topics);
  ASSERT_TRUE(ticks.await_subscribers(3, 30s));
  for (std::uint64_t i = 1; i <= 10; ++i) ticks.publish(tick(i));
  EXPECT_EQ(next_sequences(first, 10), next_sequences(second, 10));
  EXPECT_EQ(local.next().value(), tick(1));
  EXPECT_EQ(ticks.stats().encoded, 10U);
  EXPECT_EQ(first.stats().decoded, 0U);
  ticks.publish(tick(11));
  EXPECT_EQ(first.next(30s).value(), tick(11));
  EXPECT_EQ(first.stats().decoded, 1U);
  EXPECT_EQ(second.stats().decoded, 0U);
}

TEST(RemoteTopics, NothingIsLostToASubscriberThatBlocksHoweverSlowAndSmallItIs) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = 4'096});
  PlacesSubscriber there(client, "here", {.overflow = Overflow::block, .max_messages = 5});
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= 3'000; ++i) at.publish(place(i, std::string(100, 'x')));
  });
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    const auto message = there.next(30s);
    ASSERT_EQ(message.sequence(), i);
    ASSERT_EQ(message->sequence, i);
  }
  EXPECT_EQ(places.stats().subscriptions.at(0).dropped, 0U);
  EXPECT_EQ(there.stats().received, 3'000U);
}

TEST(RemoteTopics, WhatWaitsForASubscriberIsHeldByItsConnection) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = 4'096});
  auto there = std::make_unique<PlacesSubscriber>(
      client, "here", mf::SubscribeOptions{.overflow = Overflow::block, .max_messages = 100});
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  std::jthread publishing([&] {
    for (std::uint64_t i = 1; i <= 300; ++i) at.publish(place(i, std::string(1'000, 'x')));
  });
  const auto held = [&] { return here.server->stats().connections.held_bytes; };
  EXPECT_TRUE(eventually([&] { return held() > 80'000; })) << "100 messages, charged in steps of 16 KiB";
  there.reset();
  EXPECT_TRUE(eventually([&] { return held() == 0; }));
}

TEST(RemoteTopics, WhatWasPublishedIsDeliveredOrCountedAsDropped) {
  for (const auto overflow : {Overflow::drop_oldest, Overflow::drop_newest}) {
    Publishing here;
    PlacesPublisher places(here.topics);
    auto at = places.at("here");
    mf::Client client(here.url, {.stream_window = 4'096});
    PlacesSubscriber there(client, "here", {.overflow = overflow, .max_messages = 10});
    ASSERT_TRUE(places.await_subscribers(1, 30s));
    std::uint64_t told = 0;
    there.on_gap([&](const mf::Gap& gap) { told += gap.count; });
    for (std::uint64_t i = 1; i <= 5'000; ++i) at.publish(place(i, std::string(100, 'x')));
    std::uint64_t received = 0;
    std::uint64_t last = 0;
    for (int looks = 0; received + told < 5'000 && looks < 3'000; ++looks) {
      const auto message = there.poll(10ms);  // it also counts what is missed behind the last message
      if (!message) continue;
      ASSERT_EQ(message->sequence(), last + message->missed() + 1);
      last = message->sequence();
      ++received;
      looks = 0;
    }
    const auto stats = places.stats().subscriptions.at(0);
    EXPECT_EQ(received + told, 5'000U);
    EXPECT_EQ(stats.dropped, told);
    EXPECT_GT(told, 0U);
    EXPECT_EQ(there.stats().dropped, told);
  }
}

TEST(RemoteTopics, WhoAsksToBeDisconnectedIsToldThatItWas) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = 4'096});
  PlacesSubscriber there(client, "here", {.overflow = Overflow::disconnect, .max_messages = 10});
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  for (std::uint64_t i = 1; i <= 2'000; ++i) at.publish(place(i, std::string(100, 'x')));
  std::uint64_t last = 0;
  const auto error = error_of([&] {
    for (;;) {
      const auto message = there.next(30s);
      ASSERT_EQ(message.sequence(), last + 1);
      last = message.sequence();
    }
  });
  EXPECT_EQ(error.code(), Code::overloaded);
  EXPECT_THAT(error.what(), HasSubstr("its queue of 10 messages"));
  EXPECT_TRUE(eventually([&] { return places.stats().cut == 1; })) << "counted once the failure was sent";
}

TEST(RemoteTopics, WhoComesLateGetsWhatIsKept) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  for (std::uint64_t i = 1; i <= 5; ++i) at.publish(place(i));
  mf::Client client(here.url);
  PlacesSubscriber all(client, "here");
  PlacesSubscriber one(client, "here", {.replay = 1});
  EXPECT_THAT(next_sequences(all, 3), ElementsAre(3, 4, 5));
  EXPECT_THAT(next_sequences(one, 1), ElementsAre(5));
  EXPECT_EQ(places.stats().encoded, 3U);
}

TEST(RemoteTopics, ASubscriptionGoesOnWhereItWasLostAndWhatIsNotKeptIsAGap) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url);
  PlacesSubscriber there(client, "here");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  at.publish(place(1));
  EXPECT_EQ(there.next(30s).sequence(), 1U);
  here.server.reset();
  ASSERT_TRUE(places.stats().subscriptions.empty());
  at.publish(place(2));
  at.publish(place(3));
  here.serve(here.url);
  EXPECT_THAT(next_sequences(there, 2), ElementsAre(2, 3));
  here.server.reset();
  for (std::uint64_t i = 4; i <= 9; ++i) at.publish(place(i));
  here.serve(here.url);
  const auto behind = there.next(30s);
  EXPECT_EQ(behind.sequence(), 7U);
  EXPECT_EQ(behind.missed(), 3U);
  EXPECT_THAT(next_sequences(there, 2), ElementsAre(8, 9));
  const auto stats = there.stats();
  EXPECT_EQ(stats.not_kept, 3U);
  EXPECT_EQ(stats.received, 6U);
  const auto seen = places.stats();
  EXPECT_EQ(seen.subscriptions.at(0).not_kept, 3U);
  EXPECT_EQ(seen.subscriptions.at(0).delivered, 3U);
  EXPECT_EQ(seen.ended.subscriptions, 2U);
  EXPECT_EQ(seen.ended.delivered, 3U);
  EXPECT_EQ(seen.ended.dropped + seen.ended.not_kept, 0U);
  EXPECT_EQ(stats.duplicates, 0U);
}

TEST(RemoteTopics, AServerThatStopsSendsWhatWaitsAndWaitsForNobodyElse) {
  Publishing here;
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  mf::Client client(here.url, {.stream_window = 4'096, .log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "here");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  for (std::uint64_t i = 1; i <= 500; ++i) at.publish(place(i, std::string(100, 'x')));
  std::vector<std::uint64_t> seen;
  std::jthread reading([&] { seen = next_sequences(there, 500); });
  here.server.reset();
  reading.join();
  EXPECT_EQ(seen.back(), 500U);
  EXPECT_EQ(there.stats().dropped + there.stats().not_kept, 0U);
}

TEST(RemoteTopics, SeveralPublishersAreOneSubscriptionEach) {
  Publishing one;
  Publishing two;
  TicksPublisher at_one(one.topics);
  TicksPublisher at_two(two.topics);
  mf::Client client(one.url + "," + two.url);
  TicksSubscriber there(client);
  ASSERT_TRUE(there.await_publishers(2, 30s));
  EXPECT_EQ(there.stats().publishers, 2U);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    at_one.publish(tick(i));
    at_two.publish(tick(i));
  }
  std::map<mf::Uuid, std::uint64_t> last;
  for (int i = 0; i < 200; ++i) {
    const auto message = there.next(30s);
    ASSERT_EQ(message.sequence(), ++last[message.publisher()]);
  }
  EXPECT_EQ(last[one.topics.hub()->publisher()], 100U);
  EXPECT_EQ(last[two.topics.hub()->publisher()], 100U);
}

TEST(RemoteTopics, ATopicThatNobodyPublishesYetIsWaitedFor) {
  Publishing here;
  mf::Client client(here.url, {.log = mf::Log(mf::Level::off)});
  TicksSubscriber there(client);
  EXPECT_EQ(there.poll(50ms), std::nullopt);
  TicksPublisher ticks(here.topics);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(1));
  EXPECT_EQ(there.next(30s).value(), tick(1));
}

struct OtherTicks : TicksTopic {
  static constexpr mf::ServiceInfo kService = topic_service("test.Ticks", 9);
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};

TEST(RemoteTopics, APublisherOfAnotherSchemaIsRefused) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  mf::topics::LoneSubscriber<OtherTicks> there(client);
  EXPECT_EQ(error_of([&] { (void)there.next(30s); }).code(), Code::schema_mismatch);
}

TEST(RemoteTopics, WhatAPublisherRefusesTheSubscriberIsTold) {
  Publishing here({.authorize = [](const mf::TopicAccess& access) { return access.agents != "secret"; }});
  PlacesPublisher places(here.topics);
  mf::Client client(here.url);
  PlacesSubscriber there(client, "secret");
  const auto error = error_of([&] { (void)there.next(30s); });
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_THAT(error.what(), HasSubstr("this peer may not subscribe to test.Places for \"secret\""));
  EXPECT_EQ(places.stats().refused, 1U);
}

TEST(RemoteTopics, AnEndedSubscriberIsForgottenByItsPublisher) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  std::promise<void> gone;
  ticks.on_unmatched([&](const mf::SubscriptionStats& /*stats*/) { gone.set_value(); });
  mf::Client client(here.url);
  {
    TicksSubscriber there(client);
    ASSERT_TRUE(ticks.await_subscribers(1, 30s));
    EXPECT_THAT(ticks.stats().subscriptions.at(0).peer, HasSubstr("127.0.0.1"));
  }
  gone.get_future().get();
  EXPECT_TRUE(ticks.stats().subscriptions.empty());
}

TEST(RemoteTopics, CallbacksAndAsynchronousTakesRunOnTheClientsThread) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber calls(client);
  TicksSubscriber asks(client);
  std::promise<std::uint64_t> got;
  std::promise<void> all;
  std::vector<std::uint64_t> seen;
  calls.on_message([&](const mf::TopicMessage<mf::topics::Missed>& message) {
    seen.push_back(message->first);
    if (seen.size() == 3) all.set_value();
  });
  asks.async_next([&](mf::Outcome<mf::TopicMessage<mf::topics::Missed>> message) {
    got.set_value(message.value()->first);
  });
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  for (std::uint64_t i = 1; i <= 3; ++i) ticks.publish(tick(i));
  EXPECT_EQ(got.get_future().get(), 1U);
  all.get_future().get();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST(RemoteTopics, LargeMessagesTravelInPieces) {
  Publishing here;
  BlobsPublisher blobs(here.topics);
  mf::Client client(here.url);
  BlobsSubscriber there(client);
  ASSERT_TRUE(blobs.await_subscribers(1, 30s));
  for (std::size_t size : {std::size_t{3}, std::size_t{70'000}, std::size_t{3} << 20U}) {
    mf::topics::Message blob;
    blob.payload = mf::Bytes(size, std::byte{7});
    blobs.publish(blob);
    const auto message = there.next(30s);
    EXPECT_EQ(message->payload, blob.payload);
  }
}

TEST(RemoteTopics, MessagesThatAreALittleLongerThanAFrameKeepTheirBytes) {
  Publishing here;
  BlobsPublisher blobs(here.topics);
  mf::Client client(here.url);
  BlobsSubscriber there(client, {.overflow = Overflow::block});
  ASSERT_TRUE(blobs.await_subscribers(1, 30s));
  std::vector<mf::topics::Message> values;
  for (const std::size_t size :
       {65'400U, 65'536U, 65'600U, 10U, 100'000U, 131'000U, 131'100U, 65'537U, 200'000U}) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
    mf::topics::Message blob;
    blob.payload = mf::Bytes(std::move(bytes));
    values.push_back(std::move(blob));
  }
  blobs.publish_all(values);
  for (const auto& value : values) EXPECT_EQ(there.next(30s)->payload, value.payload);
}

TEST(RemoteTopics, AMessageThatASubscriberDoesNotAcceptIsAGap) {
  Publishing here;
  BlobsPublisher blobs(here.topics);
  mf::Client client(here.url, {.max_payload = 65'536});
  BlobsSubscriber there(client);
  std::vector<std::uint64_t> gaps;
  there.on_gap([&](const mf::Gap& gap) { gaps.push_back(gap.first); });
  ASSERT_TRUE(blobs.await_subscribers(1, 30s));
  for (std::size_t size : {3U, 100'000U, 4U, 100'000U, 5U}) {
    mf::topics::Message blob;
    blob.payload = mf::Bytes(size, std::byte{7});
    blobs.publish(blob);
  }
  for (std::uint64_t sequence : {1U, 3U, 5U}) {
    const auto message = there.next(30s);
    EXPECT_EQ(message.sequence(), sequence);
    EXPECT_EQ(message.missed(), sequence == 1 ? 0U : 1U);
  }
  EXPECT_THAT(gaps, ElementsAre(2, 4));
  const auto stats = blobs.stats();
  ASSERT_EQ(stats.subscriptions.size(), 1U);
  EXPECT_EQ(stats.subscriptions[0].delivered, 3U);
  EXPECT_EQ(stats.subscriptions[0].dropped, 2U);
  EXPECT_EQ(stats.subscriptions[0].queued, 0U);
}

}  // namespace
}  // namespace mftest::remote_test
