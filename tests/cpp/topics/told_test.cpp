// What subscribers and publishers get when nothing comes, or when it is over: errors, callbacks and log
// lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "support/forked.hpp"
#include "support/wait.hpp"
#include "topics/hand_made.hpp"
#include "topics/publishing.hpp"

namespace mftest::told_test {
namespace {

using mf::Code;
using mf::Overflow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
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

/// What a wait in vain says.
template <class Subscriber>
std::string vain_wait(Subscriber& subscriber) {
  const auto error = error_of([&] { (void)subscriber.next(5ms); });
  EXPECT_EQ(error.code(), Code::deadline_exceeded);
  return error.message();
}

/// A topic of the same name, with values that do not go over.
struct OtherTicks : TicksTopic {
  static constexpr mf::ServiceInfo kService = topic_service("test.Ticks", 9);
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};

/// Publishes what is too much for a subscriber with a queue of ten.
template <class Agent>
void overwhelm(Agent& at) {
  for (std::uint64_t i = 1; i <= 2'000; ++i) at.publish(place(i, std::string(100, 'x')));
}

TEST(ToldOfTopics, WhoWaitsInVainHearsOfPublishersThatAreNotReached) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  here.server.reset();
  const auto log = std::make_shared<KeptLog>();
  mf::Client client(here.url, {.log = mf::Log(log)});
  TicksSubscriber there(client);
  EXPECT_TRUE(eventually([&] { return vain_wait(there).find("refused") != std::string::npos; }));
  EXPECT_THAT(vain_wait(there), StartsWith("no message of test.Ticks has come in time: "));
  EXPECT_THAT(vain_wait(there), HasSubstr(here.url));
  EXPECT_TRUE(log->has("subscription_lost topic=test.Ticks publisher=" + here.url + " code=UNAVAILABLE"));
  EXPECT_FALSE(log->has("subscription_back"));
  const auto lines = log->size();
  here.serve(here.url);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish(tick(1));
  EXPECT_EQ(there.next(30s).value(), tick(1));
  EXPECT_EQ(vain_wait(there), "no message of test.Ticks has come in time");
  EXPECT_TRUE(log->has("subscription_back topic=test.Ticks publisher=" + here.url));
  EXPECT_EQ(log->size(), lines + 1);
}

TEST(ToldOfTopics, WhoWaitsForATopicThatItsServerDoesNotHaveHearsSo) {
  const Publishing here;
  mf::Client client(here.url, {.log = mf::Log(mf::Level::off)});
  TicksSubscriber there(client);
  EXPECT_TRUE(
      eventually([&] { return vain_wait(there).find("does not offer test.Ticks") != std::string::npos; }));
}

TEST(ToldOfTopics, CallbacksHearThatItIsOverBehindTheLastMessage) {
  for (const bool early : {true, false}) {
    Publishing here;
    PlacesPublisher places(here.topics);
    auto at = places.at("here");
    mf::Client client(here.url, {.stream_window = 4'096});
    PlacesSubscriber there(client, "here", {.overflow = Overflow::disconnect, .max_messages = 10});
    ASSERT_TRUE(places.await_subscribers(1, 30s));
    std::vector<std::uint64_t> got;
    std::promise<Code> over;
    const auto end = [&](const mf::Failure& why) {
      got.push_back(0);
      over.set_value(why.code);
    };
    if (early) there.on_end(end);
    overwhelm(at);
    there.on_message([&](const auto& message) { got.push_back(message.sequence()); });
    if (!early) {
      EXPECT_TRUE(eventually([&] { return places.stats().cut == 1; }));
      there.on_end(end);
    }
    EXPECT_EQ(over.get_future().get(), Code::overloaded);
    ASSERT_GT(got.size(), 1U);
    EXPECT_EQ(got.back(), 0U);
    for (std::size_t i = 0; i + 1 < got.size(); ++i) EXPECT_EQ(got[i], i + 1);
  }
}

TEST(ToldOfTopics, AnEndThatNobodyWantsToHearOfIsLoggedAndOnesOwnCloseIsNot) {
  Publishing here({.authorize = [](const mf::TopicAccess& access) { return access.agents != "secret"; }});
  const PlacesPublisher places(here.topics);
  const auto log = std::make_shared<KeptLog>();
  mf::Client client(here.url, {.log = mf::Log(log)});
  PlacesSubscriber open(client, "open");
  open.on_message([](const auto&) {});
  open.close();
  EXPECT_FALSE(log->has("subscription_over"));
  PlacesSubscriber secret(client, "secret");
  secret.on_message([](const auto&) {});
  EXPECT_TRUE(
      eventually([&] { return log->has("subscription_over topic=test.Places code=PERMISSION_DENIED"); }));
}

TEST(ToldOfTopics, AWaitForPublishersEndsWhenTheSubscriptionDoes) {
  Publishing here;
  const TicksPublisher ticks(here.topics);
  mf::Client client(here.url, {.log = mf::Log(mf::Level::off)});
  mf::topics::LoneSubscriber<OtherTicks> other(client);
  EXPECT_EQ(error_of([&] { (void)other.await_publishers(1, 30s); }).code(), Code::schema_mismatch);
  PlacesSubscriber closing(client, "here");
  PlacesSubscriber waiting(client, "here");  // shares what the other one has
  std::jthread closes([&] {
    std::this_thread::sleep_for(5ms);
    closing.close();
  });
  EXPECT_EQ(error_of([&] { (void)closing.await_publishers(1, 30s); }).code(), Code::cancelled);
  EXPECT_FALSE(waiting.await_publishers(1, 1ms));
}

TEST(ToldOfTopics, ThePublishersOfOnesOwnProcessAreOneOnceAnAgentMatches) {
  auto topics = std::make_unique<mf::Topics>();
  PlacesSubscriber here(*topics, "eu.*");
  std::vector<std::string> told;
  std::promise<void> over;
  here.on_matched([&](std::size_t count) { told.push_back("matched " + std::to_string(count)); });
  here.on_unmatched([&](std::size_t count) {
    told.push_back("unmatched " + std::to_string(count));
    over.set_value();
  });
  PlacesPublisher places(*topics);
  (void)places.at("us.books");
  EXPECT_FALSE(here.await_publishers(1, 0s));
  EXPECT_EQ(here.stats().publishers, 0U);
  std::jthread begins([&] {
    (void)places.at("eu.books");
    (void)places.at("eu.maps");
  });
  EXPECT_TRUE(here.await_publishers(1, 30s));
  EXPECT_EQ(here.stats().publishers, 1U);
  begins.join();
  PlacesSubscriber late(*topics, "eu.*");
  EXPECT_TRUE(late.await_publishers(1, 0s));
  late.on_matched([&](std::size_t count) { told.push_back("late " + std::to_string(count)); });
  late.close();
  EXPECT_FALSE(here.await_publishers(2, 1ms)) << "they are one";
  topics.reset();
  over.get_future().get();
  EXPECT_THAT(told, ElementsAre("matched 1", "late 1", "unmatched 0"));
}

TEST(ToldOfTopics, WhoIsCutIsLoggedAndToldToThePublisherWithTheReason) {
  const auto log = std::make_shared<KeptLog>();
  Publishing here({.log = mf::Log(log)});
  PlacesPublisher places(here.topics);
  auto at = places.at("here");
  std::promise<mf::SubscriptionStats> gone;
  places.on_unmatched([&](const mf::SubscriptionStats& stats) { gone.set_value(stats); });
  mf::Client client(here.url, {.stream_window = 4'096});
  PlacesSubscriber there(client, "here", {.overflow = Overflow::disconnect, .max_messages = 10});
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  std::jthread reading([&] {
    (void)error_of([&] {
      for (;;) (void)there.next(30s);
    });
  });
  overwhelm(at);
  const auto last = gone.get_future().get();
  ASSERT_TRUE(last.why);
  EXPECT_EQ(last.why->code, Code::overloaded);
  EXPECT_TRUE(log->has("subscription_cut topic=test.Places agents=here peer=" + last.peer +
                       " overflow=disconnect code=OVERLOADED reason=\"the subscriber does not keep up"));
  gone = {};
  PlacesSubscriber other(client, "here");
  ASSERT_TRUE(places.await_subscribers(1, 30s));
  const auto lines = log->size();
  other.close();
  EXPECT_FALSE(gone.get_future().get().why);
  EXPECT_EQ(log->size(), lines);
}

TEST(ToldOfTopics, AServerThatStopsCutsNobody) {
  Publishing here;
  const TicksPublisher ticks(here.topics);
  std::promise<mf::SubscriptionStats> gone;
  ticks.on_unmatched([&](const mf::SubscriptionStats& stats) { gone.set_value(stats); });
  mf::Client client(here.url, {.log = mf::Log(mf::Level::off)});
  const TicksSubscriber there(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  here.server.reset();
  EXPECT_FALSE(gone.get_future().get().why);
  EXPECT_EQ(ticks.stats().cut, 0U);
}

TEST(ToldOfTopics, APublisherLogsWhoseSchemaIsAnother) {
  const auto log = std::make_shared<KeptLog>();
  mf::Topics topics;
  const TicksPublisher ticks(topics);
  mf::Server server({.log = mf::Log(log)});
  server.offer(topics);
  server.start();
  mf::Client client(server.address().str(), {.log = mf::Log(mf::Level::off)});
  mf::topics::LoneSubscriber<OtherTicks> there(client);
  EXPECT_EQ(error_of([&] { (void)there.next(30s); }).code(), Code::schema_mismatch);
  EXPECT_TRUE(log->has("schema_mismatch service=test.Ticks peer=tcp://127.0.0.1:"));
}

TEST(ToldOfTopics, ClosingAClientLogsNoLostSubscription) {
  const auto log = std::make_shared<KeptLog>();
  Publishing here;
  TicksPublisher ticks(here.topics);
  std::optional<mf::Client> client;
  client.emplace(here.url, mf::ClientOptions{.log = mf::Log(log)});
  TicksSubscriber subscriber(*client);
  ASSERT_TRUE(subscriber.await_publishers(1, 30s));
  client.reset();
  EXPECT_EQ(log->size(), 0U);
}

TEST(ToldOfTopics, AnInheritedSubscriberFailsInAForkedChild) {
  Publishing here;
  TicksPublisher ticks(here.topics);
  mf::Client client(here.url);
  TicksSubscriber subscriber(client);
  ASSERT_TRUE(subscriber.await_publishers(1, 30s));
  EXPECT_TRUE(holds_in_a_child([&] {
    return error_of([&] { (void)subscriber.next(30s); }).message() ==
           "the process was forked: the subscription belongs to the parent process";
  }));
  EXPECT_TRUE(holds_in_a_child(
      [&] { return error_of([&] { TicksSubscriber another(client); }).code() == Code::unavailable; }));
  ticks.publish(tick(1));
  EXPECT_EQ(subscriber.next(30s).sequence(), 1U);
}

}  // namespace
}  // namespace mftest::told_test
