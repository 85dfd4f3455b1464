// Generated publishers and subscribers of all kinds of topics, in a process and over a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"
#include "topics/events.topics.hpp"

namespace mftest::generated_test {
namespace {

using namespace topics::events;
using namespace std::chrono_literals;
using mf::Overflow;
using testing::HasSubstr;

struct Publishing {
  Publishing() {
    server.offer(topics);
    server.start();
  }
  mf::Topics topics;
  mf::Server server;
};

TEST(GeneratedTopics, AgentsAreNamedByTheirTypeAndValuesOfAllTiersTravel) {
  Publishing here;
  mf::Client client(here.server.address().str());
  ReportsPublisher reports(here.topics);
  ReportsSubscriber there(client, Venue::xetra, {.overflow = Overflow::block});
  ReportsSubscriber local(here.topics, "*");
  auto xetra = reports.at(Venue::xetra);
  auto london = reports.at(Venue::london);
  ASSERT_TRUE(reports.await_subscribers(2, 30s));
  Report report;
  report.name = "daily";
  report.values = {1.5, 2.5};
  london.publish(report);
  xetra.publish(report);
  EXPECT_EQ(there.next(30s).value(), report);
  EXPECT_EQ(local.next().agent(), "london");
  EXPECT_EQ(local.next().agent(), "xetra");
  TicksPublisher ticks(here.topics);
  TicksSubscriber points(client);
  ASSERT_TRUE(ticks.await_subscribers(1, 30s));
  ticks.publish({.number = 7, .at = {}});
  EXPECT_EQ(points.next(30s)->number, 7U);
}

TEST(GeneratedTopics, WhatTheSchemaSaysOfReplayAndPoliciesHolds) {
  Publishing here;
  AdditionsPublisher additions(here.topics);
  auto books = additions.at("books");
  for (std::uint32_t i = 1; i <= 5; ++i) books.publish({.title = "t", .size = i});
  mf::Client client(here.server.address().str());
  AdditionsSubscriber there(client, "books");
  EXPECT_EQ(there.next(30s)->size, 3U);
  EXPECT_THROW(ReportsSubscriber(client, "*", {.overflow = Overflow::disconnect}), mf::Error);
  EXPECT_THROW(books.publish({.title = std::string(300, 'x'), .size = 1}), mf::Error);
}

TEST(GeneratedTopics, AMemberOfAnEnumIsNamedOrGivenAndShownByItsName) {
  Publishing here;
  mf::Client client(here.server.address().str());
  ReportsPublisher reports(here.topics);
  ReportsSubscriber local(here.topics, "london", {.overflow = Overflow::drop_newest, .max_messages = 1});
  ReportsSubscriber there(client, "london");
  ReportsSubscriber by_number(here.topics, "2");
  std::vector<std::string> gaps;
  local.on_gap([&](const mf::Gap& gap) { gaps.push_back(gap.agent); });
  ASSERT_TRUE(reports.await_subscribers(3, 30s));
  for (int i = 0; i < 2; ++i) reports.at(Venue::london).publish({.name = "daily", .values = {}});
  for (auto* const each : {&local, &there, &by_number}) EXPECT_EQ(each->next(30s).agent(), "london");
  EXPECT_FALSE(local.poll());
  EXPECT_THAT(gaps, testing::ElementsAre("london"));
  const auto stats = reports.stats();
  EXPECT_EQ(stats.agents.at(0).agent, "london");
  for (const auto& each : stats.subscriptions) EXPECT_EQ(each.agents, "london");
}

TEST(GeneratedTopics, WhatNoAgentOfTheTopicCanBeIsRefused) {
  Publishing here;
  mf::Client client(here.server.address().str());
  ReportsPublisher reports(here.topics);
  const auto words = [](const char* agent) {
    return testing::Throws<mf::Error>(testing::Property(
        &mf::Error::message, "topic topics.events.Reports has agents of type topics.events.Venue, and \"" +
                                 std::string(agent) + "\" is none"));
  };
  for (const char* const agent : {"xetr", "3", "eu.*", "01"}) {
    EXPECT_THAT([&] { ReportsSubscriber(here.topics, agent); }, words(agent));
    EXPECT_THAT([&] { ReportsSubscriber(client, agent); }, words(agent));
  }
  EXPECT_THAT([&] { (void)reports.at(static_cast<Venue>(9)); }, words("9"));
}

}  // namespace
}  // namespace mftest::generated_test
