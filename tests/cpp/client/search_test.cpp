// How calls without a waiting thread find a connection: in parallel, each until its own deadline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_resolver.hpp"
#include "mf/client/client.hpp"
#include "support/joined.hpp"

namespace mftest::search_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using namespace std::chrono_literals;

struct Ended {
  auto one() {
    return [this](mf::Outcome<std::string> outcome) {
      const std::scoped_lock lock(mutex);
      outcomes.push_back(std::move(outcome));
    };
  }
  std::size_t size() {
    const std::scoped_lock lock(mutex);
    return outcomes.size();
  }
  std::mutex mutex;
  mf::Outcomes<std::string> outcomes;
};

TEST(Search, EachCallEndsAtItsDeadlineHoweverManyLookForOthers) {
  const auto resolver = std::make_shared<FakeResolver>();  // never answers
  Ended patient;
  Ended hurried;
  {
    mf::Client client(resolver);
    const calls::PartClient part(client);
    for (int i = 0; i < 12; ++i)
      part.at("agent " + std::to_string(i)).async_name({.deadline = 60s}, patient.one());
    part.at("one more").async_name({.deadline = 50ms}, hurried.one());
    EXPECT_TRUE(eventually([&] { return hurried.size() == 1; }));
    EXPECT_EQ(patient.size(), 0U);
  }
  EXPECT_EQ(hurried.outcomes[0].failure().code, Code::unavailable);
  EXPECT_EQ(hurried.outcomes[0].failure().execution, Execution::not_executed);
  ASSERT_EQ(patient.size(), 12U);  // destroying the client ended them
  for (const auto& outcome : patient.outcomes) {
    EXPECT_EQ(outcome.failure().code, Code::cancelled);
    EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
  }
}

// The simulation found that a batch could not be stopped while it searched its first connection.
TEST(Search, OfABatchThatMayBeStoppedEndsWhenItIs) {
  const auto resolver = std::make_shared<FakeResolver>();  // never answers
  mf::Client client(resolver);
  std::stop_source stop;
  std::jthread stopper([&] {
    EXPECT_TRUE(eventually([&] { return resolver->listeners() != 0; }));
    stop.request_stop();
  });
  const calls::EchoClient stub(client);
  const std::vector<calls::EchoTwiceRequest> requests{{.x = 1}, {.x = 2}};
  for (const auto& outcome :
       stub.twice_batch(requests, {.deadline = 10s, .stop = stop.get_token()}).results()) {
    EXPECT_EQ(outcome.failure().code, Code::cancelled);
    EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
  }
}

TEST(Search, EndsWithTheLastCallThatWaitsForIt) {
  const auto resolver = std::make_shared<FakeResolver>();  // never answers
  Ended ended;
  mf::Client client(resolver);
  const calls::PartClient part(client);
  part.at("a").async_name({.deadline = 20ms}, ended.one());
  part.at("a").async_name({.deadline = 40ms}, ended.one());
  EXPECT_TRUE(eventually([&] { return ended.size() == 2; }));
  EXPECT_TRUE(eventually([&] { return resolver->listeners() == 0; }));
}

TEST(Search, ThatOfOneAgentDoesNotWaitForThatOfOthers) {
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents["books"].push_back({.address = served.server.address()});
  resolver->set(offers);
  Ended unknown;
  Ended known;
  mf::Client client(resolver, {.wait_for_server = 60s});
  const calls::PartClient part(client);
  for (int i = 0; i < 12; ++i)
    part.at("agent " + std::to_string(i)).async_name({.deadline = 60s}, unknown.one());
  part.at("books").async_name({.deadline = 20s}, known.one());
  EXPECT_TRUE(eventually([&] { return known.size() == 1; }));
  EXPECT_EQ(known.outcomes[0].value(), "books");
  EXPECT_EQ(unknown.size(), 0U);
  // They continue as soon as there is an instance.
  offers.agents["agent 3"].push_back({.address = served.server.address()});
  resolver->set(offers);
  EXPECT_TRUE(eventually([&] { return unknown.size() == 1; }));
  EXPECT_EQ(unknown.outcomes[0].failure().code, Code::unknown_agent);  // the server has no such agent
}

TEST(Search, OfManyAgentsAtOnceFailsForEachByItself) {
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents["books"].push_back({.address = served.server.address()});
  resolver->set(offers);
  mf::Client client(resolver, {.wait_for_server = 200ms});
  const calls::PartClient part(client);
  // One after another they would not end by this deadline.
  const auto ends = part.on({"a", "b", "c", "d", "e", "f", "books"}).name({.deadline = 900ms});
  ASSERT_EQ(ends.size(), 7U);
  EXPECT_EQ(ends[6].outcome.value(), "books");
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(ends[i].outcome.failure().code, Code::unavailable);
    EXPECT_THAT(ends[i].outcome.failure().message, testing::StartsWith("no server offers"));
  }
}

TEST(Search, TakesOnlySoManyCalls) {
  const auto resolver = std::make_shared<FakeResolver>();
  std::atomic<std::size_t> refused{0};
  std::atomic<std::size_t> cancelled{0};
  constexpr std::size_t kCalls = (1U << 16U) + 100;
  {
    mf::Client client(resolver);
    const calls::EchoClient stub(client);
    for (std::size_t i = 0; i < kCalls; ++i) {
      stub.async_twice(1, {.deadline = 60s}, [&](mf::Outcome<std::int32_t> outcome) {
        if (outcome.failure().code == Code::overloaded) ++refused;
        if (outcome.failure().code == Code::cancelled) ++cancelled;
      });
    }
    EXPECT_TRUE(eventually([&] { return refused >= 100; }));
  }
  EXPECT_EQ(refused + cancelled, kCalls);
}

TEST(Search, NamesPeerWayAndCause) {
  const auto address = nobody();
  const auto expected = "connect " + address.str() + ": connection refused";
  mf::Client client(address.str());
  const calls::EchoClient stub(client);
  for (const auto deadline : {1ms, 3ms, 60ms, 61ms, 62ms}) {
    const auto failure = failure_of([&] { return stub.twice(1, {.deadline = deadline}); });
    EXPECT_EQ(failure.code, Code::unavailable);
    EXPECT_THAT(failure.message,
                testing::AnyOf(HasSubstr(expected), HasSubstr("no answer within the deadline")));
    EXPECT_THAT(failure.message, testing::Not(HasSubstr("timed out")));
  }
  EXPECT_THAT(failure_of([&] { return stub.twice(1, {.deadline = 300ms}); }).message, HasSubstr(expected));
}

TEST(Search, AServerThatWasSeenAndRefusesFailsAtOnce) {
  auto served = std::make_unique<Served>();
  mf::Client client(served->url());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  served.reset();
  const auto until = soon();
  const auto failure = failure_of([&] { return stub.twice(1, {.deadline = 2 * kLong}); });
  EXPECT_NE(failure.code, Code::ok);
  EXPECT_THAT(failure.message, testing::Not(HasSubstr("gave up at the deadline")));
  EXPECT_LT(std::chrono::steady_clock::now(), until);
}

TEST(Search, ForAnAgentThatWasSeenAndThatNobodyOffersAnyMoreFailsAtOnce) {
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents["books"].push_back({.address = served.server.address()});
  resolver->set(offers);
  mf::Client client(resolver, {.wait_for_server = 60s});
  const calls::PartClient part(client);
  EXPECT_EQ(part.at("books").name(), "books");
  resolver->set(answered());
  const auto failure = failure_of([&] { return part.at("books").name({.deadline = 2s}); });
  EXPECT_EQ(failure.code, Code::unavailable);
  EXPECT_THAT(failure.message, testing::StartsWith("no server offers"));  // and not that it gave up
}

/// Offers nothing to one thread.
class Uneven final : public FakeResolver {
 public:
  Snapshot offers(std::string_view service) override {
    if (std::this_thread::get_id() != without.load()) return FakeResolver::offers(service);
    return std::make_shared<const mf::Offers>(answered());
  }
  std::atomic<std::thread::id> without{};
};

// The search once believed that the calls still had the route, and found it for them for ever.
TEST(Search, FindsAServerAgainThatWasMissingForAMoment) {
  const Served served;
  const auto resolver = std::make_shared<Uneven>();
  auto offers = answered();
  offers.agents[""].push_back({.address = served.server.address()});
  resolver->set(offers);
  mf::Client client(resolver);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  resolver->set(offers);
  resolver->without = std::this_thread::get_id();
  std::atomic<int> result{0};
  stub.async_twice(1, {.deadline = kLong},
                   [&](mf::Outcome<std::int32_t> outcome) { result = outcome.ok() ? outcome.value() : -1; });
  EXPECT_TRUE(eventually([&] { return result != 0; }));
  EXPECT_EQ(result, 2);
  EXPECT_EQ(served.echo->ran, 2);
}

TEST(Search, TriesAnAddressThatIsAnnouncedAnewAtOnce) {
  const Served other;
  const auto resolver = std::make_shared<FakeResolver>();
  const auto say = [&](const mf::Address& address) {
    auto offers = answered();
    offers.agents[""].push_back({.address = address});
    resolver->set(offers);
  };
  const auto address = nobody();
  say(address);
  mf::Client client(resolver);
  const calls::EchoClient stub(client);
  // The pauses between attempts grow until one is longer than the following steps.
  EXPECT_EQ(failure_of([&] { return stub.twice(1, {.deadline = 1s}); }).code, Code::unavailable);
  say(other.server.address());
  EXPECT_EQ(stub.twice(1), 2);
  const Served back(mf::Where::worker, {.listen = address.str()});
  say(address);
  EXPECT_EQ(stub.twice(1, {.deadline = kLong}), 2);
  EXPECT_EQ(back.echo->ran, 1);
}

}  // namespace
}  // namespace mftest::search_test
