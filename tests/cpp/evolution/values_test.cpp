// A client whose schema is another one than its server's: values go over, or are refused each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "client/fake_resolver.hpp"
#include "evolution/shops.hpp"
#include "support/wait.hpp"

namespace mftest::values_test {
namespace {

using mf::Code;
using mf::Execution;
using namespace std::chrono_literals;

const mf::CallOptions kSoon{.deadline = 20s};

TEST(EvolvingValues, AResultComesInTheSchemaOfWhoAsks) {
  const New served;
  const auto items = Buyer(served.url()).call<before_shop::ShopFind>(std::string("lamp"), 7U);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0],
            (before::Item{.id = 1, .title = "lamp", .colour = before::Colour::blue, .weight = 0.5F}));
  EXPECT_EQ(items[1].id, 7U);
}

TEST(EvolvingValues, WhatTheOlderServerDoesNotSayHasItsDefault) {
  const Old served;
  const auto items =
      Buyer(served.url())
          .call<after_shop::ShopFind>(std::string("lamp"), std::uint16_t{7}, std::set<after::Colour>{});
  ASSERT_EQ(items.size(), 2U);
  const after::Item lamp{
      .title = "lamp", .id = 1, .weight = 0.5F, .colour = after::Colour::blue, .tags = {}, .stock = 12};
  EXPECT_EQ(items[0], lamp);
  EXPECT_EQ(items[1].colour, after::Colour::green);  // by its name: the number is another one
}

TEST(EvolvingValues, AValueThatDoesNotFitFailsItsCallBeforeItIsSent) {
  const New served;
  const Buyer buyer(served.url());
  const auto failure = buyer.failure<before_shop::ShopFind>(std::string("lamp"), 70'000U);
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_EQ(failure.message,
            served.url() + ": Shop.find: parameter limit: 70000 does not fit u16 of the server's schema");
  EXPECT_EQ(served.shop->ran, 0);
}

TEST(EvolvingValues, AResultThatDoesNotFitFailsItsCall) {
  const New served;
  const Buyer buyer(served.url());
  auto failure = buyer.failure<before_shop::ShopBuy>(3U, std::uint16_t{1});
  EXPECT_EQ(failure.code, Code::decode_error);
  EXPECT_EQ(failure.execution, Execution::unknown);
  EXPECT_EQ(
      failure.message,
      served.url() + ": Shop.buy: result value.id: 1099511627776 does not fit u32 of the client's schema");
  failure = buyer.failure<before_shop::ShopBuy>(2U, std::uint16_t{1});
  EXPECT_EQ(failure.code, Code::decode_error);
  EXPECT_EQ(failure.message,
            served.url() +
                ": Shop.buy: result value.colour: white (7) is no member of Colour in the client's schema");
}

TEST(EvolvingValues, DeclaredErrorsGoByTheirNames) {
  const New fresh;
  const Buyer old_buyer(fresh.url());
  try {
    (void)old_buyer.call<before_shop::ShopBuy>(0U, std::uint16_t{5});
    FAIL() << "it is sold out";
  } catch (const before::SoldOut& error) {
    EXPECT_EQ(error.id, 5U);
  }
  const auto failure = old_buyer.failure<before_shop::ShopBuy>(1U, std::uint16_t{5});
  EXPECT_EQ(failure.code, Code::handler_failed);
  EXPECT_EQ(failure.message,
            fresh.url() + ": Shop.buy: Broken was thrown, which the client's schema does not declare");
  const Old old;
  try {
    (void)Buyer(old.url()).call<after_shop::ShopBuy>(std::uint64_t{0}, std::uint16_t{6}, true);
    FAIL() << "it is sold out";
  } catch (const after::SoldOut& error) {
    EXPECT_EQ(error.id, 6U);
    EXPECT_EQ(error.next, std::nullopt);
  }
}

TEST(EvolvingValues, ArchivesListsAndDefaultsOfParametersGoOver) {
  const New fresh;
  const Buyer buyer(fresh.url());
  EXPECT_EQ(buyer.call<before_shop::ShopRate>(before::Note{.text = "good", .stars = 3}).text,
            "good by nobody");
  EXPECT_EQ(buyer.call<before_shop::ShopWiden>(std::vector<std::int64_t>{1, -2}),
            (std::vector<std::int32_t>{2, -4}));
  EXPECT_EQ(buyer.call<before_shop::ShopBuy>(9U, std::uint16_t{1}).title, "gift");  // the server's default
  EXPECT_EQ(
      buyer.failure<before_shop::ShopWiden>(std::vector<std::int64_t>{1, std::int64_t{1} << 40}).message,
      fresh.url() +
          ": Shop.widen: parameter values[1]: 1099511627776 does not fit i32 of the server's schema");
  const Old old;
  const auto rated = Buyer(old.url()).call<after_shop::ShopRate>(
      after::Note{.text = "good", .stars = 3, .author = "somebody"});
  EXPECT_EQ(rated.stars, 4U);
  EXPECT_EQ(rated.author, "nobody");
}

TEST(EvolvingValues, EachItemOfABatchGoesOverOrFailsByItself) {
  const New served;
  const Buyer buyer(served.url());
  using Request = before_shop::ShopBuy::Request;
  std::vector<Request> requests;
  for (std::uint32_t id = 0; id < 6; ++id) requests.push_back({.id = id, .count = 4});
  const auto target = buyer.target<before_shop::ShopBuy>();
  const auto check = [](const mf::Outcomes<before::Item>& outcomes) {
    ASSERT_EQ(outcomes.size(), 6U);
    EXPECT_EQ(outcomes[0].failure().code, Code::declared);
    EXPECT_EQ(outcomes[1].failure().code, Code::handler_failed);
    EXPECT_EQ(outcomes[2].failure().code, Code::decode_error);
    EXPECT_EQ(outcomes[3].failure().code, Code::decode_error);
    EXPECT_EQ(outcomes[4].value().id, 4U);
    EXPECT_EQ(outcomes[5].value().id, 5U);
  };
  check(mf::client::bulk<before_shop::ShopBuy>(target, kSoon, requests));
  for (const std::uint32_t size : {1U, 2U, 6U}) {
    auto batch = mf::client::batch<before_shop::ShopBuy>(target, {.deadline = 20s, .size = size}, requests);
    check(batch.results());
  }
  // What cannot be sent is left out of its message.
  using Find = before_shop::ShopFind;
  std::vector<Find::Request> finds{
      {.name = "a", .limit = 1}, {.name = "b", .limit = 70'000}, {.name = "c", .limit = 3}};
  served.shop->ran = 0;
  const auto found = mf::client::bulk<Find>(buyer.target<Find>(), kSoon, finds);
  EXPECT_EQ(found[0].value()[1].id, 1U);
  EXPECT_EQ(found[1].failure().code, Code::invalid_argument);
  EXPECT_EQ(found[1].failure().execution, Execution::not_executed);
  EXPECT_EQ(found[2].value()[0].title, "c");
  EXPECT_EQ(served.shop->ran, 2);
  finds.assign(3, {.name = "b", .limit = 70'000});
  for (const auto& outcome : mf::client::bulk<Find>(buyer.target<Find>(), kSoon, finds))
    EXPECT_EQ(outcome.failure().code, Code::invalid_argument);
  EXPECT_EQ(served.shop->ran, 2);
}

TEST(EvolvingValues, AllFormsOfACallConvert) {
  const New served;
  const Buyer buyer(served.url());
  using Find = before_shop::ShopFind;
  const auto target = buyer.target<Find>();
  std::promise<std::vector<before::Item>> told;
  mf::client::start<Find>(
      target, kSoon, [&](mf::Outcome<std::vector<before::Item>> outcome) { told.set_value(outcome.value()); },
      std::string("async"), 3U);
  EXPECT_EQ(told.get_future().get()[0].title, "async");
  std::promise<mf::Failure> failed;
  mf::client::start<Find>(
      target, kSoon,
      [&](mf::Outcome<std::vector<before::Item>> outcome) { failed.set_value(outcome.failure()); },
      std::string("async"), 70'000U);
  EXPECT_EQ(failed.get_future().get().code, Code::invalid_argument);
  std::stop_source stop;
  EXPECT_EQ(
      mf::client::call<Find>(target, {.deadline = 20s, .stop = stop.get_token()}, std::string("stop"), 1U)[0]
          .title,
      "stop");
  const mf::Metadata sent{{{"key", "value"}}};
  EXPECT_EQ(
      mf::client::call<Find>(target, {.deadline = 20s, .metadata = sent}, std::string("with"), 1U)[0].title,
      "with");
  const mf::client::ScatterTarget everywhere(target, {""});
  EXPECT_EQ(mf::client::call<Find>(everywhere, kSoon, std::string("all"), 2U)[0].outcome.value()[1].id, 2U);
  const std::string large(100'000, 'x');
  EXPECT_EQ(mf::client::call<Find>(target, kSoon, large, 2U)[0].title, large);
}

TEST(EvolvingValues, OneWayCallsGoOver) {
  const New served;
  const Buyer buyer(served.url());
  buyer.call<before_shop::ShopTell>(std::string("one"), 1U);
  using Tell = before_shop::ShopTell;
  const std::vector<Tell::Request> two{{.what = "two", .times = 2}, {.what = "three", .times = 3}};
  for (const auto& outcome : mf::client::bulk<Tell>(buyer.target<Tell>(), kSoon, two))
    EXPECT_TRUE(outcome.ok());
  EXPECT_TRUE(eventually([&] {
    const std::scoped_lock lock(served.shop->mutex);
    return served.shop->told.size() == 3;
  }));
  EXPECT_EQ(served.shop->told[0], (std::pair<std::string, std::uint32_t>("one", 1)));
}

TEST(EvolvingValues, ACallThatGoesToAnotherServerBeginsWithItsOwnBytes) {
  const Old old;
  const New fresh;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {old.instance(), fresh.instance()};
  resolver->set(offers);
  const Buyer buyer(resolver);
  const auto told = [](auto& shop) {
    const std::scoped_lock lock(shop.mutex);
    for (const auto& each : shop.told) EXPECT_EQ(each, (std::pair<std::string, std::uint32_t>("x", 5)));
    return !shop.told.empty();
  };
  EXPECT_TRUE(eventually([&] {
    buyer.call<before_shop::ShopTell>(std::string("x"), 5U);  // whose parameters change places
    return told(*old.shop) && told(*fresh.shop);
  }));
}

TEST(EvolvingValues, StreamsGoOverValueByValue) {
  const New served;
  const Buyer buyer(served.url());
  auto prices =
      mf::client::stream<before_shop::ShopPrices>(buyer.target<before_shop::ShopPrices>(), kSoon, 5U);
  std::vector<std::uint32_t> ids;
  while (const auto item = prices.next()) ids.push_back(item->id);
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{5, 6, 7}));

  auto fill = mf::client::stream<before_shop::ShopFill>(buyer.target<before_shop::ShopFill>(), kSoon);
  for (std::uint32_t i = 1; i <= 100; ++i)
    EXPECT_TRUE(fill.write({.id = i, .title = "t", .colour = {}, .weight = 1}));
  EXPECT_EQ(fill.finish(), 5050U + 100 * 12);  // each has the default stock

  auto talk = mf::client::stream<before_shop::ShopTalk>(buyer.target<before_shop::ShopTalk>(), kSoon);
  EXPECT_TRUE(talk.write({.id = 1, .title = "t", .colour = before::Colour::green, .weight = 1}));
  const auto answer = talk.next();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->id, 2U);
  EXPECT_EQ(answer->colour, before::Colour::green);
  EXPECT_TRUE(talk.write({.id = 1, .title = "white", .colour = {}, .weight = 1}));
  try {
    (void)talk.next();
    FAIL() << "there is no white";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::decode_error);
    EXPECT_EQ(
        error.message(),
        served.url() +
            ": Shop.talk: result stream: colour: white (7) is no member of Colour in the client's schema");
  }
}

TEST(EvolvingValues, StreamsBetweenEqualSchemasAreNotConverted) {
  const Old served;
  const Buyer buyer(served.url());
  auto prices =
      mf::client::stream<before_shop::ShopPrices>(buyer.target<before_shop::ShopPrices>(), kSoon, 5U);
  std::vector<std::uint32_t> ids;
  while (const auto item = prices.next()) ids.push_back(item->id);
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{5, 6, 7}));
  auto fill = mf::client::stream<before_shop::ShopFill>(buyer.target<before_shop::ShopFill>(), kSoon);
  for (std::uint32_t i = 1; i <= 100; ++i)
    EXPECT_TRUE(fill.write({.id = i, .title = "t", .colour = {}, .weight = 1}));
  EXPECT_EQ(fill.finish(), 5050U);
}

TEST(EvolvingValues, AValueOfAStreamThatDoesNotFitIsRefusedAndTheStreamGoesOn) {
  const Old served;
  const Buyer buyer(served.url());
  const after::Item fits{.title = "t", .id = 4, .weight = 1, .colour = {}, .tags = {}, .stock = 1};
  auto large = fits;
  large.id = std::uint64_t{1} << 40U;
  auto talk = mf::client::stream<after_shop::ShopTalk>(buyer.target<after_shop::ShopTalk>(), kSoon);
  EXPECT_TRUE(talk.write(fits));
  EXPECT_EQ(talk.next()->id, 5U);  // from here on it is known where the stream goes
  try {
    (void)talk.write(large);
    FAIL() << "the id is too large";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_EQ(error.message(),
              served.url() +
                  ": Shop.talk: parameter stream: id: 1099511627776 does not fit u32 of the server's schema");
  }
  EXPECT_TRUE(talk.write(fits));
  EXPECT_EQ(talk.next()->stock, 12U);
  // What was written before that ends the call.
  const Buyer other(served.url());
  auto fill = mf::client::stream<after_shop::ShopFill>(other.target<after_shop::ShopFill>(), kSoon);
  try {
    (void)fill.write(large);
    (void)fill.finish();
    FAIL() << "the id is too large";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
  }
}

TEST(EvolvingValues, CachedCallsKeepWhatTheyHave) {
  const New served;
  const Buyer buyer(served.url());
  const auto target = buyer.target<before_shop::ShopPrice>();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(mf::client::call_cached<before_shop::ShopPrice>(target, kSoon, 4U), 40U);
  EXPECT_EQ(served.shop->ran, 1);
}

}  // namespace
}  // namespace mftest::values_test
