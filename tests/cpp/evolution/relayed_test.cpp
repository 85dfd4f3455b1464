// Clients behind relays whose servers have several schemas. All relays are in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <list>
#include <string>
#include <vector>

#include "evolution/renamed_topic.hpp"
#include "evolution/shops.hpp"
#include "evolve/after.topics.hpp"
#include "evolve/before.topics.hpp"
#include "evolve/between.client.hpp"
#include "evolve/between.topics.hpp"
#include "relay/relayed.hpp"
#include "support/wait.hpp"

namespace mftest::relayed_test {
namespace {

using mf::Code;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;
namespace between = ::evolve::between;
namespace between_shop = between::methods;

/// Relays in a row. The last one resolves servers; clients connect to the first one, and resolve servers
/// through it.
class Row {
 public:
  explicit Row(int relays) {
    for (int i = 0; i < relays; ++i) relays_.emplace_back().resolver->relays = i + 1 != relays;
  }
  void knows(const std::vector<mf::Instance>& servers) {
    relays_know(servers);
    clients_know(servers);
  }
  void relays_know(const std::vector<mf::Instance>& servers) {
    const auto known = resolver_of(servers);
    for (auto relay = relays_.begin(); relay != relays_.end(); ++relay) {
      const auto next = std::next(relay);
      const auto from = next == relays_.end() ? known : behind(known, *next);
      relay->resolver->set(*from->offers(""));
    }
  }
  void clients_know(const std::vector<mf::Instance>& servers) {
    auto offers = answered();
    offers.agents[""] = servers;
    known_->set(std::move(offers));
  }
  [[nodiscard]] std::shared_ptr<mf::Resolver> resolver() const { return behind(known_, relays_.front()); }
  [[nodiscard]] mf::Client client() const { return mf::Client(resolver(), {.log = mf::Log(mf::Level::off)}); }
  [[nodiscard]] const Relayed& first() const { return relays_.front(); }
  [[nodiscard]] const Relayed& last() const { return relays_.back(); }

 private:
  static std::shared_ptr<mf::Resolver> resolver_of(const std::vector<mf::Instance>& servers) {
    const auto known = std::make_shared<FakeResolver>();
    auto offers = answered();
    offers.agents[""] = servers;
    known->set(std::move(offers));
    return known;
  }
  static std::shared_ptr<mf::Resolver> behind(const std::shared_ptr<mf::Resolver>& known,
                                              const Relayed& relay) {
    return std::make_shared<mf::RelayedResolver>(known, std::vector{relay.address()});
  }

  std::list<Relayed> relays_;
  const std::shared_ptr<FakeResolver> known_ = std::make_shared<FakeResolver>();
};

template <class Shop>
std::size_t told(Shop& shop) {
  const std::scoped_lock lock(shop.mutex);
  return shop.told.size();
}

class RelayedSchemas : public testing::TestWithParam<int> {
 protected:
  Row row{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Relays, RelayedSchemas, testing::Values(1, 2));

TEST_P(RelayedSchemas, AClientOfAnotherSchemaIsAdaptedToTheOnlyOneThereIs) {
  const New served;
  row.knows({served.instance()});
  const Buyer buyer(row.resolver());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(buyer.call<before_shop::ShopSame>(i), i + 1);
  EXPECT_EQ(buyer.failure<before_shop::ShopGone>(1).code, Code::unknown_method);
  EXPECT_EQ(buyer.failure<before_shop::ShopTyped>(1U).message,
            row.first().address().str() + ": Shop.typed: parameter x: u32 here, string there");
  EXPECT_EQ(served.shop->ran, 10);
}

TEST_P(RelayedSchemas, EachMethodIsCalledAtServersWhoseSchemaAllowsIt) {
  const Old old;
  const New fresh;
  row.knows({old.instance(), fresh.instance()});
  const Buyer buyer(row.resolver());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(buyer.call<between_shop::ShopGone>(i), i);
    EXPECT_EQ(buyer.call<between_shop::ShopFresh>(i), i);
    EXPECT_EQ(buyer.call<between_shop::ShopTyped>(7U), 7U);
  }
  EXPECT_EQ(buyer.failure<between_shop::ShopNowhere>(1).code, Code::unknown_method);
}

TEST_P(RelayedSchemas, WhatAllOfThemAllowIsCalledAtAll) {
  const Old old;
  const New fresh;
  row.knows({old.instance(), fresh.instance()});
  const Buyer buyer(row.resolver());
  int calls = 0;
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(buyer.call<between_shop::ShopSame>(calls), calls + 1);
    ++calls;
    return old.shop->ran != 0 && fresh.shop->ran != 0;
  }));
}

TEST_P(RelayedSchemas, CallsGoToServersWhoseSchemaTakesAllOfTheirValues) {
  const Old old;
  const New fresh;
  row.knows({old.instance(), fresh.instance()});
  const Buyer buyer(row.resolver());
  EXPECT_TRUE(eventually([&] {  // once both are connected
    const auto before = fresh.shop->ran.load();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(buyer.call<between_shop::ShopPrice>(std::uint64_t{5}), 50U);
    return fresh.shop->ran == before + 20;
  }));
  const auto once_more = old.shop->ran.load();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(buyer.call<between_shop::ShopPrice>(std::uint64_t{5}), 50U);
  EXPECT_EQ(old.shop->ran, once_more);
}

TEST_P(RelayedSchemas, CallsBehindAOneWayCallGoWhereThatWent) {
  const Old old;
  const New fresh;
  row.knows({old.instance(), fresh.instance()});
  const Buyer buyer(row.resolver());
  for (std::uint32_t i = 0; i < 50; ++i) {
    buyer.call<between_shop::ShopTell>(std::string("x"), i);
    buyer.call<between_shop::ShopSame>(1);
    EXPECT_EQ(old.shop->ran != 0 ? told(*old.shop) : told(*fresh.shop), i + 1) << "it has run";
  }
  EXPECT_TRUE(old.shop->ran == 0 || fresh.shop->ran == 0);
}

TEST_P(RelayedSchemas, OwnSchemaFirstWhereOrderCounts) {
  const Old old;
  const New fresh;
  row.knows({fresh.instance(), old.instance(), fresh.instance()});
  const Buyer buyer(row.resolver());
  for (std::uint32_t i = 0; i < 20; ++i) buyer.call<before_shop::ShopTell>(std::string("x"), i);
  buyer.call<before_shop::ShopSame>(1);
  EXPECT_EQ(told(*old.shop), 20U);
}

TEST_P(RelayedSchemas, ASchemaOfWhichTheRelayHearsLaterThanItsClientIsCalledOnceItKnows) {
  const Old old;
  const New fresh;
  row.relays_know({old.instance()});
  row.clients_know({old.instance(), fresh.instance()});
  const Buyer buyer(row.resolver());
  EXPECT_EQ(buyer.call<between_shop::ShopGone>(1), 1);
  EXPECT_EQ(buyer.failure<between_shop::ShopFresh>(1).code, Code::unknown_method);
  row.relays_know({old.instance(), fresh.instance()});
  EXPECT_TRUE(eventually([&] { return buyer.failure<between_shop::ShopFresh>(1).code == Code::ok; }));
}

TEST_P(RelayedSchemas, TheLastServerOfASchemaGivesWayToOneOfAnotherWithoutAFailedCall) {
  auto old = std::make_unique<Old>();
  const New fresh;
  row.knows({old->instance()});
  const Buyer buyer(row.resolver());
  int calls = 0;
  const auto call_some = [&] {
    for (int i = 0; i < 50; ++i, ++calls) ASSERT_EQ(buyer.call<before_shop::ShopSame>(calls), calls + 1);
  };
  call_some();
  row.knows({old->instance(), fresh.instance()});
  call_some();
  row.relays_know({fresh.instance()});
  call_some();
  row.clients_know({fresh.instance()});
  call_some();
  old.reset();
  call_some();
}

// ---- topics

template <class Topic>
struct Publishing {
  Publishing() : server({.log = mf::Log(mf::Level::off)}) {
    server.offer(topics);
    server.start();
  }
  [[nodiscard]] mf::Instance instance() const {
    return {.address = server.address(), .fingerprint = Topic::kTopic.service.fingerprint};
  }
  mf::Topics topics;
  mf::Server server;
  mf::topics::LonePublisher<Topic> publisher{topics};
};
using OldSales = RenamedTopic<before::SalesTopic>;
using NewSales = RenamedTopic<after::SalesTopic>;
using Sales = RenamedTopic<between::SalesTopic>;

void publish_both(Publishing<OldSales>& old, Publishing<NewSales>& fresh) {
  old.publisher.publish({.id = 1, .title = "lamp", .colour = before::Colour::red, .weight = 1});
  fresh.publisher.publish(
      {.title = "chair", .id = 2, .weight = 2, .colour = after::Colour::red, .tags = {}, .stock = 1});
}

template <class Subscriber>
std::vector<std::string> next_titles(Subscriber& subscriber, std::size_t count) {
  std::vector<std::string> titles;
  while (titles.size() < count) titles.push_back(subscriber.next(30s)->title);
  return titles;
}

TEST_P(RelayedSchemas, ASubscriberReadsPublishersOfAllSchemas) {
  Publishing<OldSales> old;
  Publishing<NewSales> fresh;
  row.knows({old.instance(), fresh.instance()});
  auto client = row.client();
  mf::topics::LoneSubscriber<Sales> of_neither(client);
  mf::topics::LoneSubscriber<OldSales> of_one(client);
  ASSERT_TRUE(of_neither.await_publishers(2, 30s));
  ASSERT_TRUE(of_one.await_publishers(2, 30s));
  publish_both(old, fresh);
  EXPECT_THAT(next_titles(of_neither, 2), UnorderedElementsAre("lamp", "chair"));
  EXPECT_THAT(next_titles(of_one, 2), UnorderedElementsAre("lamp", "chair"));
  EXPECT_EQ(of_neither.stats().duplicates, 0U);
}

}  // namespace
}  // namespace mftest::relayed_test
