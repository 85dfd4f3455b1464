// What a provider says of its schema may be anything: it costs a client a bounded amount, and is refused in
// words, for that provider alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_resolver.hpp"
#include "evolution/shops.hpp"

namespace mftest::hostile_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// A server whose shop says this of its schema.
struct Lying {
  explicit Lying(std::string descriptor) : server({.log = mf::Log(mf::Level::off)}) {
    shop->renaming().describe_as(std::move(descriptor));
    shop->renaming().change().annex = {};
    server.offer(shop);
    server.start();
  }
  std::shared_ptr<NewShop> shop = std::make_shared<NewShop>();
  mf::Server server;
};

mf::Failure at(const Lying& lying) {
  return Buyer(lying.server.address().str()).failure<before_shop::ShopSame>(1);
}

void expect_refused(const mf::Failure& failure, std::string_view words) {
  EXPECT_EQ(failure.code, Code::schema_mismatch);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_THAT(failure.message, HasSubstr(std::string(words)));
}

TEST(HostileSchemas, AreRefusedInWords) {
  expect_refused(at(Lying("what is this?\n")), "schemas differ from tcp://");
  expect_refused(at(Lying("topic evolve.Shop\n value u8\n")), "Shop: service here, topic there");
  expect_refused(at(Lying("service evolve.Shop\n per room string\n")),
                 "Shop: per nothing here, per room string there");
  expect_refused(
      at(Lying("service evolve.Shop\n method same\n  params memcpy\n   x evolve.T\n  results memcpy\n"
               "type evolve.T struct memcpy\n x evolve.T\n")),
      "schemas differ from tcp://");
}

TEST(HostileSchemas, AreBounded) {
  std::string many = "service evolve.Shop\n method same\n  params memcpy\n   x i32\n  results memcpy\n";
  for (int i = 0; i < 5'000; ++i)
    many += "type evolve.T" + std::to_string(10'000 + i) + " struct memcpy\n x u8\n";
  expect_refused(at(Lying(many)), "schemas differ from tcp://");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "list<";
  deep += "u8" + std::string(200, '>');
  expect_refused(
      at(Lying("service evolve.Shop\n method same\n  params febird\n   x " + deep + "\n  results memcpy\n")),
      "schemas differ from tcp://");
  expect_refused(at(Lying("service evolve.Shop\n" + std::string(std::size_t{2} << 20U, '\n'))),
                 "schemas differ from tcp://");
}

TEST(HostileSchemas, ADescriptorThatIsNotOfItsFingerprintIsFoundWhenItIsBound) {
  const Lying lying(std::string(renamed<after_shop::ShopSame>().descriptor));
  lying.shop->renaming().change().fingerprint[0] ^= 1;
  expect_refused(at(lying), "the schema that it describes is not the one that it has");
}

TEST(HostileSchemas, OneProviderOfMistakesHindersNobody) {
  const Lying lying("what is this?\n");
  const New served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {{.address = lying.server.address(), .fingerprint = lying.shop->service().fingerprint},
                       served.instance()};
  resolver->set(offers);
  const Buyer buyer(resolver);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(buyer.call<before_shop::ShopSame>(i), i + 1);
  EXPECT_EQ(served.shop->ran, 20);
}

}  // namespace
}  // namespace mftest::hostile_test
