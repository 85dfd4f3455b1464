// One client and servers of several schemas: it keeps a plan for each, and what is wrong with one, or with a
// part of it, is refused for that alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/fake_resolver.hpp"
#include "evolution/shops.hpp"

namespace mftest::several_schemas_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::StartsWith;

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("the schema has no " + std::string(what));
  return text.replace(at, what.size(), with);
}

TEST(SeveralSchemas, OfOneServiceHaveAPlanEachAtOneClient) {
  // The second one's parameter `limit` has another name, which no rule joins with the client's.
  const New fresh;
  auto other = std::make_shared<NewShop>();
  other->renaming().describe_as(
      replaced(std::string(renamed<after_shop::ShopSame>().descriptor), "   limit u16\n", "   most u16\n"));
  mf::Server server({.log = mf::Log(mf::Level::off)});
  server.offer(other);
  server.start();

  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {fresh.instance(),
                       {.address = server.address(), .fingerprint = other->service().fingerprint}};
  resolver->set(offers);
  const Buyer buyer(resolver);
  for (int i = 0; i < 10'000 && (fresh.shop->ran == 0 || other->ran == 0); ++i)
    ASSERT_EQ(buyer.call<before_shop::ShopSame>(i), i + 1);
  EXPECT_GT(fresh.shop->ran, 0);
  const int ran = other->ran;
  EXPECT_GT(ran, 0);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto items = buyer.call<before_shop::ShopFind>(std::string("name"), i);
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items[1].id, i);
  }
  EXPECT_EQ(other->ran, ran) << "a call went to the server whose schema does not allow it";

  const auto alone = Buyer(server.address().str()).failure<before_shop::ShopFind>(std::string("name"), 1U);
  EXPECT_EQ(alone.code, Code::schema_mismatch);
  EXPECT_EQ(alone.message,
            server.address().str() + ": Shop.find: parameter most: only there, and has no default");
}

/// A new server whose annex has another default in place of one.
struct Mistaken {
  Mistaken(std::string_view what, std::string_view with)
      : annex(replaced(std::string(renamed<after_shop::ShopSame>().annex), what, with)) {
    shop->renaming().change().annex = annex;
    server.offer(shop);
    server.start();
  }
  std::string annex;
  std::shared_ptr<NewShop> shop = std::make_shared<NewShop>();
  mf::Server server{{.log = mf::Log(mf::Level::off)}};
};

TEST(SeveralSchemas, ADefaultThatIsNoValueIsRefusedForTheMethodsThatNeedIt) {
  const Mistaken mistaken("default true", "default \"maybe\"");
  const Buyer buyer(mistaken.server.address().str());
  const auto refused = buyer.failure<before_shop::ShopBuy>(1U, std::uint16_t{2});
  EXPECT_EQ(refused.code, Code::schema_mismatch);
  EXPECT_EQ(refused.execution, Execution::not_executed);
  EXPECT_THAT(refused.message, StartsWith(mistaken.server.address().str() +
                                          ": Shop.buy: a default of evolve.Shop is \"maybe\": "));
  EXPECT_EQ(buyer.call<before_shop::ShopSame>(1), 2);
  EXPECT_EQ(buyer.call<before_shop::ShopPrice>(3U), 30U);
  EXPECT_EQ(buyer.call<before_shop::ShopFind>(std::string("name"), 3U).size(), 2U);
}

}  // namespace
}  // namespace mftest::several_schemas_test
