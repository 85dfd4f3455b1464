// The rules of a cache, without threads or a clock: which answers are kept, for how long, and which call
// leads.
#include "mf/core/cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mftest::cache_test {
namespace {

using namespace std::chrono_literals;
using mf::cached::Cache;
using mf::cached::Flight;
using mf::cached::Kept;
using mf::cached::Key;

constexpr mf::TimePoint kNow{1h};

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}
Key key(std::string_view request, std::string_view agent = "*") {
  return {agent, bytes(request)};
}
Kept kept(std::string_view text) {
  return {mf::Bytes(bytes(text))};
}

class Call final : public mf::cached::Waiter {
 public:
  void wake(const Kept* /*kept*/) override { ADD_FAILURE() << "no call waits"; }
};

void land(Cache& cache, const Key& at, std::string_view text, mf::TimePoint now = kNow) {
  EXPECT_TRUE(cache.land(*cache.lead(at, nullptr), kept(text), now, true).empty());
}
std::string found(Cache& cache, const Key& at, mf::TimePoint now = kNow) {
  const auto* const entry = cache.find(at, now);
  if (entry == nullptr) return "nothing";
  return {reinterpret_cast<const char*>(entry->bytes.data()), entry->bytes.size()};
}

constexpr mf::CacheInfo kTen{.entries = 10, .max_bytes = 1U << 20U};

TEST(Cache, WhatLandedIsFoundByAgentAndRequest) {
  Cache cache(kTen);
  land(cache, key("a"), "one");
  land(cache, key(""), "empty");
  EXPECT_EQ(found(cache, key("a")), "one");
  EXPECT_EQ(found(cache, key("")), "empty");
  EXPECT_EQ(found(cache, key("a", "=x")), "nothing");
  EXPECT_EQ(found(cache, key("b")), "nothing");
  const auto stats = cache.stats();
  EXPECT_EQ(stats.hits, 2U);
  EXPECT_EQ(stats.misses, 2U);
  EXPECT_EQ(stats.entries, 2U);
  EXPECT_EQ(stats.bytes, 1 + 1 + 3 + 1 + 5 + 2 * Cache::kEntryBytes);
}

TEST(Cache, TheLeastRecentlyUsedEntryGoesFirst) {
  Cache cache({.entries = 2, .max_bytes = 1U << 20U});
  land(cache, key("a"), "1");
  land(cache, key("b"), "2");
  EXPECT_EQ(found(cache, key("a")), "1");
  land(cache, key("c"), "3");
  EXPECT_EQ(found(cache, key("a")), "1");
  EXPECT_EQ(found(cache, key("b")), "nothing");
  EXPECT_EQ(found(cache, key("c")), "3");
  EXPECT_EQ(cache.stats().evictions, 1U);
}

TEST(Cache, BytesAreBoundedAndWhatIsLargerThanAllIsNotKept) {
  Cache cache({.entries = 10, .max_bytes = 2 * (Cache::kEntryBytes + 2) + 100});
  land(cache, key("a"), std::string(50, 'x'));
  land(cache, key("b"), std::string(50, 'x'));
  EXPECT_EQ(cache.stats().entries, 2U);
  land(cache, key("c"), std::string(51, 'x'));
  land(cache, key("a"), std::string(10'000, 'x'));
  EXPECT_EQ(found(cache, key("a")), "nothing");
  EXPECT_EQ(found(cache, key("b")), "nothing");
  EXPECT_EQ(found(cache, key("c")), std::string(51, 'x'));
  EXPECT_EQ(cache.stats().bytes, Cache::kEntryBytes + 2 + 51);
  EXPECT_EQ(cache.stats().evictions, 2U);
}

TEST(Cache, AnEntryIsUsedUntilItsTimeIsOver) {
  Cache cache({.entries = 10, .ttl = 5s, .max_bytes = 1U << 20U});
  land(cache, key("a"), "1");
  EXPECT_EQ(found(cache, key("a"), kNow + 4999ms), "1");
  EXPECT_EQ(found(cache, key("a"), kNow + 5s), "nothing");
  EXPECT_EQ(cache.stats().entries, 0U);
  EXPECT_EQ(cache.stats().evictions, 0U);
}

TEST(Cache, ThoseThatWaitGetTheAnswerOfTheLeader) {
  Cache cache(kTen);
  const auto flight = cache.lead(key("a"), nullptr);
  EXPECT_EQ(cache.under_way(key("a")), flight);
  const auto first = std::make_shared<Call>();
  const auto second = std::make_shared<Call>();
  flight->waiters = {first, second};
  const auto woken = cache.land(*flight, kept("1"), kNow, true);
  ASSERT_EQ(woken.size(), 2U);
  EXPECT_EQ(woken[0], first);
  EXPECT_EQ(woken[1], second);
  EXPECT_EQ(cache.under_way(key("a")), nullptr);
  EXPECT_EQ(cache.stats().hits, 2U);
  EXPECT_EQ(cache.stats().misses, 1U);
}

TEST(Cache, AnAnswerThatMayNotBeKeptIsSharedAllTheSame) {
  Cache cache(kTen);
  const auto flight = cache.lead(key("a"), nullptr);
  flight->waiters = {std::make_shared<Call>()};
  EXPECT_EQ(cache.land(*flight, kept("1"), kNow, false).size(), 1U);
  EXPECT_EQ(found(cache, key("a")), "nothing");
}

TEST(Cache, ALeaderThatFailsIsFollowedByTheFirstThatWaits) {
  Cache cache(kTen);
  const auto flight = cache.lead(key("a"), nullptr);
  const auto first = std::make_shared<Call>();
  const auto second = std::make_shared<Call>();
  const auto third = std::make_shared<Call>();
  flight->waiters = {first, second, third};
  EXPECT_TRUE(Cache::leave(*flight, *second));
  EXPECT_EQ(cache.fail(*flight), first);
  EXPECT_FALSE(Cache::leave(*flight, *first));
  EXPECT_EQ(cache.under_way(key("a")), flight);
  EXPECT_EQ(cache.fail(*flight), third);
  EXPECT_EQ(cache.fail(*flight), nullptr);
  EXPECT_EQ(cache.under_way(key("a")), nullptr);
  EXPECT_EQ(cache.stats().misses, 3U);
}

TEST(Cache, ForgettingHoldsAgainstAFlight) {
  for (const int how : {0, 1, 2}) {
    Cache cache(kTen);
    land(cache, key("a"), "1");
    land(cache, key("a", "=x"), "2");
    const auto flight = cache.lead(key("b"), nullptr);
    const auto before = std::make_shared<Call>();
    flight->waiters = {before};
    if (how == 0) {
      cache.forget(key("a"));
      cache.forget(key("b"));
    } else if (how == 1) {
      cache.forget_agent("*");
    } else {
      cache.forget_all();
    }
    EXPECT_EQ(found(cache, key("a")), "nothing");
    EXPECT_EQ(found(cache, key("a", "=x")), how == 2 ? "nothing" : "2");
    EXPECT_EQ(cache.under_way(key("b")), nullptr);
    const auto second = cache.lead(key("b"), nullptr);  // requested after it was forgotten
    EXPECT_EQ(cache.land(*flight, kept("old"), kNow, true).size(), 1U);
    EXPECT_EQ(found(cache, key("b")), "nothing");
    EXPECT_EQ(cache.under_way(key("b")), second);
    EXPECT_TRUE(cache.land(*second, kept("new"), kNow, true).empty());
    EXPECT_EQ(found(cache, key("b")), "new");
    cache.forget_all();
    EXPECT_EQ(cache.stats().bytes, 0U);
  }
}

}  // namespace
}  // namespace mftest::cache_test
