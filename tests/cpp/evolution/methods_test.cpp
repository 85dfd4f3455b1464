// A client whose schema is another one than its server's calls what both have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "client/fake_resolver.hpp"
#include "evolution/shops.hpp"

namespace mftest::methods_test {
namespace {

using mf::Code;
using mf::Execution;
using namespace std::chrono_literals;

TEST(Evolution, AnOldClientCallsWhatIsTheSameAtANewServer) {
  const New served;
  const Buyer buyer(served.url());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(buyer.call<before_shop::ShopSame>(i), i + 1);
  EXPECT_EQ(served.shop->ran, 10);
}

TEST(Evolution, ANewClientCallsWhatIsTheSameAtAnOldServer) {
  const Old served;
  const Buyer buyer(served.url());
  EXPECT_EQ(buyer.call<after_shop::ShopSame>(4), 5);
  EXPECT_EQ(served.shop->ran, 1);
}

TEST(Evolution, AMethodIsKnownByItsEarlierName) {
  const New served;
  EXPECT_EQ(Buyer(served.url()).call<before_shop::ShopOldName>(4), -4);
  const Old old;
  EXPECT_EQ(Buyer(old.url()).call<after_shop::ShopNewName>(5), -5);
}

TEST(Evolution, AMethodThatTheServerLacksIsUnknownAndTheOthersAreNot) {
  const New served;
  const Buyer buyer(served.url());
  const auto failure = buyer.failure<before_shop::ShopGone>(1);
  EXPECT_EQ(failure.code, Code::unknown_method);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_EQ(failure.message, served.url() + ": Shop.gone: method only here");
  EXPECT_EQ(buyer.call<before_shop::ShopSame>(1), 2);
}

TEST(Evolution, AMethodThatNoRuleAllowsIsRefusedInWordsAndTheOthersAreNot) {
  const New served;
  const Buyer buyer(served.url());
  const auto failure = buyer.failure<before_shop::ShopTyped>(1U);
  EXPECT_EQ(failure.code, Code::schema_mismatch);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_EQ(failure.message, served.url() + ": Shop.typed: parameter x: u32 here, string there");
  EXPECT_EQ(buyer.call<before_shop::ShopSame>(1), 2);
}

/// Calls without a waiting thread of a method that a New server lacks, and then of one that it has.
struct Asynchronous {
  using Result = std::future<mf::Outcome<std::int32_t>>;

  explicit Asynchronous(const Buyer& buyer)
      : gone(begun<before_shop::ShopGone>(buyer)), same(begun<before_shop::ShopSame>(buyer)) {}

  Result gone;
  Result same;

 private:
  template <class M>
  static Result begun(const Buyer& buyer) {
    const auto ended = std::make_shared<std::promise<mf::Outcome<std::int32_t>>>();
    mf::client::start<M>(
        buyer.target<M>(), {.deadline = 20s},
        [ended](mf::Outcome<std::int32_t> outcome) { ended->set_value(std::move(outcome)); }, 1);
    return ended->get_future();
  }
};

TEST(Evolution, AsynchronousCallsOfAllMethodsFindTheirEndAtOnce) {
  const New served;
  const Buyer buyer(served.url());
  Asynchronous calls(buyer);
  EXPECT_EQ(calls.gone.get().failure().code, Code::unknown_method);
  EXPECT_EQ(calls.same.get().value(), 2);
}

// A step of a search that no thread waits for ends before such a server has answered.
TEST(Evolution, AsynchronousCallsOfAllMethodsFindTheirEndAtAServerThatAnswersLate) {
  std::promise<void> held;
  std::promise<void> released;
  mf::ServerOptions options;
  options.on_disconnect = [&, once = std::make_shared<std::once_flag>()](std::uint64_t) {
    std::call_once(*once, [&] {
      held.set_value();
      released.get_future().wait();
    });
  };
  const New served(std::move(options));
  {
    EXPECT_EQ(Buyer(served.url()).call<before_shop::ShopSame>(1), 2);
  }
  held.get_future().wait();  // its reactor reads nothing now
  const Buyer buyer(served.url());
  Asynchronous calls(buyer);
  std::this_thread::sleep_for(50ms);
  released.set_value();
  EXPECT_EQ(calls.same.get().value(), 2);
  EXPECT_EQ(calls.gone.get().failure().message, served.url() + ": Shop.gone: method only here");
}

TEST(Evolution, ACallThatAnInstanceTakesDoesNotWaitForOneThatAnotherMethodNeeds) {
  const mf::transport::Listener hole(mf::Address::parse("tcp://127.0.0.1:0"));  // it never answers
  const New served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {served.instance(), {.address = hole.address()}};
  resolver->set(offers);
  auto buyer = std::make_optional<Buyer>(resolver);
  Asynchronous calls(*buyer);
  EXPECT_EQ(calls.same.get().value(), 2);
  EXPECT_EQ(calls.gone.wait_for(0s), std::future_status::timeout);  // the other one may have it
  buyer.reset();
  EXPECT_EQ(calls.gone.get().failure().code, Code::cancelled);
}

TEST(Evolution, AnAgentsServiceIsAdaptedLikeAnyOther) {
  const New served;
  const Buyer buyer(served.url());
  const auto target = buyer.target<before_shop::BranchName>();
  EXPECT_EQ(mf::client::call<before_shop::BranchName>(target.at("main"), {.deadline = 20s}), "new");
  EXPECT_EQ(mf::client::call<before_shop::BranchName>(target, {.deadline = 20s}), "new");
  EXPECT_EQ(buyer.failure<before_shop::BranchOnlyBefore>().code, Code::unknown_method);
}

TEST(Evolution, OfSeveralServersOneIsAskedThatHasTheMethod) {
  const Old old;
  const New fresh;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {old.instance(), fresh.instance()};
  resolver->set(offers);
  const Buyer buyer(resolver);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(buyer.call<before_shop::ShopGone>(i), i);  // only the old one
    EXPECT_EQ(buyer.call<after_shop::ShopFresh>(i), i);  // only the new one
  }
  EXPECT_EQ(old.shop->ran + fresh.shop->ran, 0);
}

TEST(Evolution, ServersOfBothSchemasShareTheCalls) {
  const Old old;
  const New fresh;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""] = {old.instance(), fresh.instance()};
  resolver->set(offers);
  const Buyer buyer(resolver);
  for (int i = 0; i < 10'000 && (old.shop->ran == 0 || fresh.shop->ran == 0); ++i)
    ASSERT_EQ(buyer.call<before_shop::ShopSame>(i), i + 1);
  EXPECT_GT(old.shop->ran, 0);
  EXPECT_GT(fresh.shop->ran, 0);
}

TEST(Evolution, AnAnnouncementThatIsOlderThanTheServerHindersNobody) {
  const New fresh;
  const Old old;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  auto stale = fresh.instance();
  stale.fingerprint = old.shop->service().fingerprint;
  offers.agents[""] = {stale};
  resolver->set(offers);
  EXPECT_EQ(Buyer(resolver).call<before_shop::ShopSame>(1), 2);
  EXPECT_EQ(Buyer(resolver).call<after_shop::ShopSame>(1), 2);
  offers.agents[""].front().fingerprint[0] ^= 1;  // one that no server has
  resolver->set(offers);
  EXPECT_EQ(Buyer(resolver).call<before_shop::ShopSame>(1), 2);
  EXPECT_EQ(Buyer(resolver).call<after_shop::ShopSame>(1), 2);
}

}  // namespace
}  // namespace mftest::methods_test
