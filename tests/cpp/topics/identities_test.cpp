// Whose messages are whose: publishers that are found twice, that come back, and that claim to be another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/current_call.hpp"
#include "mf/server/server.hpp"
#include "mf/topics.server.hpp"
#include "mf/topics/hub.hpp"
#include "mf/topics/topics.hpp"
#include "support/wait.hpp"
#include "topics/hand_made.hpp"

namespace mftest::identities_test {
namespace {

using mf::topics::Delivery;
using testing::ElementsAre;
using namespace std::chrono_literals;

std::unique_ptr<mf::Server> serve(mf::Topics& topics, const std::string& at = "tcp://127.0.0.1:0") {
  auto server = std::make_unique<mf::Server>(mf::ServerOptions{.listen = at, .drain_timeout = 100ms});
  server->offer(topics);
  server->start();
  return server;
}

mf::Client client_of(const std::string& url) {
  return mf::Client(url, {.log = mf::Log(mf::Level::off)});
}

template <class Subscriber>
std::vector<std::uint64_t> next_sequences(Subscriber& subscriber, std::size_t count) {
  std::vector<std::uint64_t> all;
  while (all.size() < count) all.push_back(subscriber.next(30s).sequence());
  return all;
}

Delivery source_of(const mf::Uuid& publisher, std::uint64_t next = 1) {
  return Delivery::of_source(
      {.source = 0, .publisher = publisher, .agent = "here", .next = next, .live = next, .keep = 3});
}

Delivery message(std::uint64_t sequence, const std::string& says) {
  return Delivery::of_message({.source = 0,
                               .sequence = sequence,
                               .time = {},
                               .payload = mf::Bytes(mf::to_bytes(place(sequence, says)))});
}

std::shared_future<void> ended() {
  std::promise<void> done;
  done.set_value();
  return done.get_future().share();
}

/// Sends what it is given to each of its subscribers once the test lets it begin; the first subscription ends
/// when the test ends it.
class Liar final : public mf::topics::AnyTopicServant {
 public:
  explicit Liar(std::vector<Delivery> lies, std::shared_future<void> begin = ended(),
                std::shared_future<void> first_ends = {})
      : lies_(std::move(lies)), begin_(std::move(begin)), first_ends_(std::move(first_ends)) {}
  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return PlacesTopic::kService; }
  [[nodiscard]] std::size_t times() const noexcept { return times_; }

 private:
  void subscribe(const mf::topics::Subscription& /*what*/, mf::StreamWriter<Delivery>& out) override {
    const bool ends = ++times_ == 1 && first_ends_.valid();
    begin_.wait();
    for (const auto& each : lies_) out.write(each);
    out.flush();
    while (!mf::current_call().cancelled() &&
           !(ends && first_ends_.wait_for(0ms) == std::future_status::ready))
      std::this_thread::sleep_for(5ms);
  }

  const std::vector<Delivery> lies_;
  const std::shared_future<void> begin_;
  const std::shared_future<void> first_ends_;
  std::atomic<std::size_t> times_{0};
};

std::unique_ptr<mf::Server> serve(const std::shared_ptr<Liar>& liar) {
  auto server = std::make_unique<mf::Server>(mf::ServerOptions{.drain_timeout = 10ms});
  server->offer(liar);
  server->start();
  return server;
}

TEST(IdentitiesOfPublishers, AProcessThatIsFoundTwiceDeliversOnceAndGoesOnWhereverItIsLeft) {
  mf::Topics topics;
  PlacesPublisher places(topics);
  auto at = places.at("here");
  std::vector<std::unique_ptr<mf::Server>> servers;
  std::vector<std::string> urls;
  for (int i = 0; i < 2; ++i) {
    servers.push_back(serve(topics));
    urls.push_back(servers.back()->address().str());
  }
  const auto client = client_of(urls[0] + "," + urls[1]);
  PlacesSubscriber there(client, "*");
  ASSERT_TRUE(places.await_subscribers(2, 30s));
  std::uint64_t number = 0;
  const auto publish = [&] {
    for (int i = 0; i < 3; ++i) at.publish(place(++number));
  };
  publish();
  EXPECT_THAT(next_sequences(there, 3), ElementsAre(1, 2, 3));
  EXPECT_TRUE(eventually([&] { return there.stats().duplicates == 3; })) << "what came the other way";
  // Whichever of them was listened to: each is away once.
  for (std::size_t i = 0; i < 2; ++i) {
    servers[i].reset();
    publish();
    EXPECT_THAT(next_sequences(there, 3), ElementsAre(number - 2, number - 1, number));
    servers[i] = serve(topics, urls[i]);
    ASSERT_TRUE(places.await_subscribers(2, 30s));
    EXPECT_EQ(there.stats().publishers, 1U) << "they are one process";
  }
  EXPECT_EQ(there.stats().received, 9U);
  EXPECT_EQ(there.stats().not_kept + there.stats().upstream + there.stats().dropped, 0U);
}

TEST(IdentitiesOfPublishers, WhoNamesAnothersIdentityNeitherSpeaksForItNorSilencesIt) {
  mf::Topics topics;
  PlacesPublisher places(topics);
  auto at = places.at("here");
  auto server = serve(topics);
  const auto url = server->address().str();
  const auto self = topics.hub()->publisher();
  std::promise<void> begin;
  const auto liar = std::make_shared<Liar>(
      std::vector{source_of(self), message(2, "forged"), message(1'000'000, "ahead")}, begin.get_future());
  const auto lies = serve(liar);
  const auto client = client_of(url + "," + lies->address().str());
  PlacesSubscriber there(client, "*");
  ASSERT_TRUE(there.await_publishers(1, 30s));
  begin.set_value();
  EXPECT_TRUE(eventually([&] { return there.stats().duplicates == 2; }));
  for (std::uint64_t i = 1; i <= 3; ++i) at.publish(place(i, "true"));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto came = there.next(30s);
    EXPECT_EQ(came.sequence(), i);
    EXPECT_EQ(came.value().agent, "true");
    EXPECT_EQ(came.missed(), 0U);
  }
  EXPECT_EQ(liar->times(), 1U);
  server.reset();
  EXPECT_TRUE(eventually([&] { return liar->times() == 2; }))
      << "no other connection has that publisher any more";
  there.close();
  lies->stop();
}

TEST(IdentitiesOfPublishers, NobodyStandsInForOneWhoseSubscriptionIsLostAndIsBackAtOnce) {
  const mf::Uuid self{.bytes = {7}};
  std::promise<void> first_ends;
  std::promise<void> begin;
  const auto true_one =
      std::make_shared<Liar>(std::vector{source_of(self), message(1, ""), message(2, ""), message(3, "")},
                             ended(), first_ends.get_future());
  const auto liar =
      std::make_shared<Liar>(std::vector{source_of(self), message(1'000'000, "")}, begin.get_future());
  const auto truths = serve(true_one);
  const auto lies = serve(liar);
  const auto client = client_of(truths->address().str() + "," + lies->address().str());
  PlacesSubscriber there(client, "*");
  EXPECT_THAT(next_sequences(there, 3), ElementsAre(1, 2, 3));
  begin.set_value();
  EXPECT_TRUE(eventually([&] { return there.stats().duplicates == 1; }));
  first_ends.set_value();
  EXPECT_TRUE(eventually([&] { return there.stats().duplicates == 4; })) << "it says the same again";
  EXPECT_EQ(true_one->times(), 2U);
  EXPECT_EQ(liar->times(), 1U);
  EXPECT_EQ(there.stats().received, 3U);
  there.close();
  truths->stop();
  lies->stop();
}

TEST(IdentitiesOfPublishers, WhatNoPublisherCountsToCutsWhoSaysIt) {
  mf::Topics topics;
  PlacesPublisher places(topics);
  auto at = places.at("here");
  const auto server = serve(topics);
  constexpr std::uint64_t kLast = std::uint64_t{1} << 48U;
  const mf::Uuid self{};
  const auto missed = [](std::uint64_t first, std::uint64_t count) {
    return Delivery::of_missed({.first = first, .count = count, .source = 0, .why = mf::Why::dropped});
  };
  const std::vector<std::vector<Delivery>> attacks{
      {source_of(self), message(std::uint64_t{1} << 63U, "")},
      {source_of(self), message(kLast + 1, "")},
      {source_of(self), message(0, "")},
      {source_of(self, 0)},
      {source_of(self, UINT64_MAX)},
      {source_of(self), missed(1, UINT64_MAX)},
      {source_of(self), missed(kLast, 2)},
      {source_of(self), missed(0, 2)},
  };
  for (const auto& attack : attacks) {
    const auto liar = std::make_shared<Liar>(attack);
    const auto lies = serve(liar);
    const auto client = client_of(lies->address().str() + "," + server->address().str());
    PlacesSubscriber there(client, "*");
    EXPECT_TRUE(eventually([&] { return there.stats().cut >= 2; })) << &attack - attacks.data();
    EXPECT_GE(liar->times(), 2U);
    ASSERT_TRUE(places.await_subscribers(1, 30s));
    at.publish(place(1));
    EXPECT_EQ(there.next(30s).publisher(), topics.hub()->publisher());
    EXPECT_EQ(there.stats().upstream + there.stats().dropped, 0U);
    there.close();
    lies->stop();
  }
}

TEST(IdentitiesOfPublishers, ASkipToTheLastNumberIsAGapThatIsCounted) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 48U;
  const auto liar = std::make_shared<Liar>(std::vector{source_of({}), message(1, ""), message(kLast, "")});
  const auto lies = serve(liar);
  const auto client = client_of(lies->address().str());
  PlacesSubscriber there(client, "*");
  EXPECT_THAT(next_sequences(there, 2), ElementsAre(1, kLast));
  EXPECT_EQ(there.stats().upstream, kLast - 2);
  there.close();
  lies->stop();
}

}  // namespace
}  // namespace mftest::identities_test
