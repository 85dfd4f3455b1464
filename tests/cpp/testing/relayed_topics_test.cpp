// How many publishers a subscriber behind a relay counts, while they come, go and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/testing/clock.hpp"
#include "relay/relayed.hpp"
#include "support/wait.hpp"
#include "topics/hand_made.hpp"

namespace mftest::relayed_topics_test {
namespace {

using mf::testing::FakeClock;
using testing::ElementsAre;
using namespace std::chrono_literals;

/// A process that publishes of one agent.
class Publishing {
 public:
  Publishing(const std::string& listen, const std::string& agent) : places(topics), at(places.at(agent)) {
    serve(listen);
  }
  void serve(const std::string& listen) {
    server = std::make_unique<mf::Server>(mf::ServerOptions{.listen = listen});
    server->offer(topics);
    server->start();
  }

  mf::Topics topics;
  PlacesPublisher places;
  mf::topics::AgentPublisher<PlacesTopic> at;
  std::unique_ptr<mf::Server> server;
};

class PublishersBehindARelay : public testing::Test {
 protected:
  PublishersBehindARelay() {
    relay_.knows({one_->server->address(), other_->server->address()}, "*");
    there_.on_matched([this](std::size_t count) { note("+" + std::to_string(count)); });
    there_.on_unmatched([this](std::size_t count) { note("-" + std::to_string(count)); });
  }
  void note(std::string what) {
    const std::scoped_lock lock(mutex_);
    told_.push_back(std::move(what));
  }
  [[nodiscard]] std::vector<std::string> told() {
    const std::scoped_lock lock(mutex_);
    return told_;
  }
  [[nodiscard]] bool there_are(std::size_t count) {
    return eventually([&] {
      clock_.advance(100ms);
      return there_.stats().publishers == count;
    });
  }

  FakeClock clock_;
  std::mutex mutex_;
  std::vector<std::string> told_;
  std::unique_ptr<Publishing> one_ = std::make_unique<Publishing>("memory:one", "north");
  std::unique_ptr<Publishing> other_ = std::make_unique<Publishing>("memory:other", "south");
  Relayed relay_{{.listen = "memory:relay"}};
  mf::Client client_{"memory:relay", {.log = mf::Log(mf::Level::off)}};
  PlacesSubscriber there_{client_, "*"};
};

TEST_F(PublishersBehindARelay, CountEachUntilItsControllerForgetsIt) {
  EXPECT_TRUE(there_are(2));
  EXPECT_TRUE(eventually([&] { return told().size() == 2; }));
  EXPECT_THAT(told(), ElementsAre("+1", "+2"));
  other_.reset();
  clock_.advance(5s);  // the relay has tried to reach it again and again
  EXPECT_EQ(there_.stats().publishers, 2U) << "it may come back";
  relay_.knows({one_->server->address()}, "*");
  EXPECT_TRUE(there_are(1));
  EXPECT_TRUE(eventually([&] { return told().size() == 3; }));
  EXPECT_EQ(told().back(), "-1");
  one_->at.publish(place(1));
  EXPECT_EQ(there_.next(30s).agent(), "north");
}

TEST_F(PublishersBehindARelay, CountAProcessThatHasComeInThePlaceOfAnotherOnce) {
  EXPECT_TRUE(there_are(2));
  other_.reset();
  other_ = std::make_unique<Publishing>("memory:other", "south");
  EXPECT_TRUE(there_are(3)) << "whether the one before is still somewhere is not known at once";
  EXPECT_TRUE(there_are(2));
  other_->at.publish(place(1));
  EXPECT_EQ(there_.next(30s).sequence(), 1U);
}

TEST_F(PublishersBehindARelay, AreAllGoneWithTheRelay) {
  EXPECT_TRUE(there_are(2));
  relay_.stop();
  EXPECT_TRUE(there_are(0));
  EXPECT_TRUE(eventually([&] { return told().size() == 4; }));
  EXPECT_THAT(told(), ElementsAre("+1", "+2", "-1", "-0"));
}

TEST(APublisherBehindARelay, ThatIsBackAfterItWasGivenUpIsMissedFromWhereItWasLeft) {
  FakeClock clock;
  Publishing publishing("memory:one", "north");
  Relayed relay({.listen = "memory:relay"});
  relay.resolver->relays = true;  // so that the relay gives up by itself what is lost
  relay.knows({publishing.server->address()}, "*");
  mf::Client client("memory:relay", {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "*", {.replay = 0});
  const auto there_are = [&](std::size_t count) {
    return eventually([&] {
      clock.advance(100ms);
      return there.stats().publishers == count;
    });
  };
  ASSERT_TRUE(there_are(1));
  publishing.at.publish(place(1));
  EXPECT_EQ(there.next(30s).sequence(), 1U);
  publishing.server.reset();
  ASSERT_TRUE(there_are(0));
  for (std::uint64_t i = 2; i <= 10; ++i) publishing.at.publish(place(i));
  publishing.serve("memory:one");
  ASSERT_TRUE(there_are(1));
  const auto back = there.next(30s);
  EXPECT_EQ(back.sequence(), 8U) << "three are kept";
  EXPECT_EQ(back.missed(), 6U);
}

}  // namespace
}  // namespace mftest::relayed_topics_test
