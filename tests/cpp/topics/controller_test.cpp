// Publishers that are found by a controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "mf/client/client.hpp"
#include "mf/controller/controller.hpp"
#include "mf/server/server.hpp"
#include "topics/hand_made.hpp"

namespace mftest::controller_test {
namespace {

using namespace std::chrono_literals;

struct Controlling {
  Controlling() {
    server.offer(std::make_shared<mf::controller::Controller>(
        mf::controller::ControllerOptions{.log = mf::Log(mf::Level::off)}));
    server.start();
    url = "mf" + server.address().str().substr(3);
  }
  mf::Server server;
  std::string url;
};

struct Process {
  explicit Process(const std::string& controller) : server({.controller = controller}) {
    server.offer(topics);
    server.start();
  }
  mf::Topics topics;
  mf::Server server;
};

TEST(TopicsAtAController, PublishersAreFoundByTheirAgentsNowAndLater) {
  const Controlling controller;
  mf::Client client(controller.url);
  PlacesSubscriber books(client, "eu.books");
  PlacesSubscriber all(client, "*");
  Process one(controller.url);
  PlacesPublisher at_one(one.topics);
  at_one.at("eu.books").publish(place(1));
  EXPECT_TRUE(books.await_publishers(1, 30s));
  EXPECT_TRUE(all.await_publishers(1, 30s));
  Process two(controller.url);
  PlacesPublisher at_two(two.topics);
  auto news = at_two.at("eu.news");
  EXPECT_TRUE(all.await_publishers(2, 30s));
  EXPECT_EQ(books.stats().publishers, 1U) << "the other one publishes nothing for it";
  news.publish(place(2));
  EXPECT_EQ(books.next(30s)->sequence, 1U);
  EXPECT_EQ(all.next(30s)->sequence, 1U);
  EXPECT_EQ(all.next(30s)->sequence, 2U);
}

TEST(TopicsAtAController, APublisherThatStopsIsForgottenAndAnotherThatComesIsFound) {
  const Controlling controller;
  mf::Client client(controller.url, {.log = mf::Log(mf::Level::off)});
  TicksSubscriber ticks(client);
  {
    Process one(controller.url);
    TicksPublisher at_one(one.topics);
    ASSERT_TRUE(at_one.await_subscribers(1, 30s));
    at_one.publish(tick(1));
    EXPECT_EQ(ticks.next(30s)->first, 1U);
  }
  Process two(controller.url);
  TicksPublisher at_two(two.topics);
  ASSERT_TRUE(at_two.await_subscribers(1, 30s));
  at_two.publish(tick(2));
  const auto message = ticks.next(30s);
  EXPECT_EQ(message->first, 2U);
  EXPECT_EQ(message.sequence(), 1U);
  EXPECT_EQ(message.publisher(), two.topics.hub()->publisher());
}

}  // namespace
}  // namespace mftest::controller_test
