// Subscribers whose schema is another one than their publisher's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evolution/renamed_topic.hpp"
#include "evolution/shops.hpp"
#include "evolve/after.topics.hpp"
#include "evolve/before.topics.hpp"

namespace mftest::topics_test {
namespace {

using mf::Code;
using namespace std::chrono_literals;

using OldSales = RenamedTopic<before::SalesTopic>;
using NewSales = RenamedTopic<after::SalesTopic>;

struct Publishing {
  Publishing() : server({.log = mf::Log(mf::Level::off)}) {
    server.offer(topics);
    server.start();
  }
  mf::Topics topics;
  mf::Server server;
};

TEST(EvolvingTopics, ANewSubscriberReadsAnOldPublisher) {
  Publishing here;
  mf::topics::LonePublisher<OldSales> sales(here.topics);
  mf::Client client(here.server.address().str());
  mf::topics::LoneSubscriber<NewSales> there(client);
  ASSERT_TRUE(sales.await_subscribers(1, 30s));
  sales.publish({.id = 3, .title = "lamp", .colour = before::Colour::green, .weight = 0.5F});
  const auto message = there.next(30s);
  const after::Item lamp{
      .title = "lamp", .id = 3, .weight = 0.5F, .colour = after::Colour::green, .tags = {}, .stock = 12};
  EXPECT_EQ(message.value(), lamp);
}

TEST(EvolvingTopics, AMessageThatHasNoValueInTheSubscribersSchemaIsOneThatCannotBeRead) {
  Publishing here;
  mf::topics::LonePublisher<NewSales> sales(here.topics);
  mf::Client client(here.server.address().str());
  mf::topics::LoneSubscriber<OldSales> there(client);
  ASSERT_TRUE(sales.await_subscribers(1, 30s));
  after::Item item{.title = "lamp", .id = 3, .weight = 1, .colour = {}, .tags = {"t"}, .stock = 1};
  sales.publish(item);
  item.id = std::uint64_t{1} << 40U;
  sales.publish(item);
  item.id = 5;
  sales.publish(item);
  EXPECT_EQ(there.next(30s).value().id, 3U);
  const auto second = there.next(30s);
  try {
    (void)second.value();
    FAIL() << "the id is too large";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::decode_error);
    EXPECT_THAT(std::string(error.message()),
                testing::MatchesRegex(
                    "message [0-9]+ of evolve.Sales: tcp://[0-9.:]+: Sales: value id: 1099511627776 does not "
                    "fit u32 of the subscriber's schema"));
  }
  EXPECT_EQ(there.next(30s).value().id, 5U);
}

}  // namespace
}  // namespace mftest::topics_test
