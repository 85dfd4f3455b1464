// Generated publishers and subscribers of all kinds of topics, in a process and over a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"
#include "topics/events.topics.hpp"

namespace mftest {
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
  EXPECT_EQ(local.next().agent(), "2");
  EXPECT_EQ(local.next().agent(), "1");
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

}  // namespace
}  // namespace mftest
