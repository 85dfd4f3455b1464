#include "mf/protocol/calls.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <random>

namespace mf::protocol {
namespace {

using namespace std::chrono_literals;
const TimePoint kStart{1h};

/// What a link does with a reply.
template <class T>
std::optional<T> answer(PendingCalls<T>& calls, std::uint32_t id, std::uint16_t route) {
  return calls.find(id, route) == nullptr ? std::nullopt : calls.take(id);
}

TEST(PendingCalls, AReplyTakesItsCallOnce) {
  PendingCalls<std::unique_ptr<int>> calls;
  calls.insert(5, 2, kNever, std::make_unique<int>(42));
  EXPECT_TRUE(calls.contains(5));
  auto call = answer(calls, 5, 2);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(**call, 42);
  EXPECT_FALSE(answer(calls, 5, 2).has_value());
  EXPECT_TRUE(calls.empty());
}

TEST(PendingCalls, AReplyOnAnotherRouteOrIdTakesNothing) {
  PendingCalls<int> calls;
  EXPECT_FALSE(answer(calls, 1, 0).has_value());
  calls.insert(5, 2, kNever, 1);
  EXPECT_FALSE(answer(calls, 5, 3).has_value());
  EXPECT_FALSE(answer(calls, 5 + 16, 2).has_value());
  EXPECT_FALSE(answer(calls, 0, 2).has_value());
  EXPECT_EQ(calls.size(), 1U);
}

TEST(PendingCalls, BehavesLikeAMapUnderRandomUse) {
  PendingCalls<std::uint32_t> calls;
  std::map<std::uint32_t, std::uint32_t> model;
  std::mt19937 random(1);
  std::uint32_t id = 0xfffff000;  // wraps on the way
  for (int step = 0; step < 200'000; ++step) {
    if (random() % 100 < 52) {
      do {
        if (++id == 0) id = 1;
      } while (model.contains(id));
      ASSERT_FALSE(calls.contains(id));
      calls.insert(id, 1, kNever, id * 3);
      model[id] = id * 3;
    } else if (!model.empty()) {
      // Usually the oldest, sometimes any: a few calls last very long.
      auto at = model.lower_bound(random() % 8 == 0 ? static_cast<std::uint32_t>(random()) : 0);
      if (at == model.end()) at = model.begin();
      const auto taken = answer(calls, at->first, 1);
      ASSERT_TRUE(taken.has_value());
      ASSERT_EQ(*taken, at->second);
      model.erase(at);
    }
    ASSERT_EQ(calls.size(), model.size());
  }
  std::map<std::uint32_t, std::uint32_t> rest;
  calls.drain([&](std::uint32_t key, std::uint32_t value) { rest[key] = value; });
  EXPECT_EQ(rest, model);
  EXPECT_TRUE(calls.empty());
}

TEST(PendingCalls, OneLongCallAmongMillionsOfShortOnesIsKept) {
  PendingCalls<int> calls;
  calls.insert(1, 0, kNever, 77);
  for (std::uint32_t id = 2; id < 2'000'000; ++id) {
    calls.insert(id, 0, kNever, 1);
    ASSERT_TRUE(answer(calls, id, 0).has_value());
  }
  EXPECT_EQ(answer(calls, 1, 0), 77);
}

TEST(PendingCalls, ALargeTableIsFreedWithItsLastCall) {
  PendingCalls<int> calls;
  for (std::uint32_t id = 1; id <= 100'000; ++id) calls.insert(id, 0, kNever, 0);
  EXPECT_GE(calls.capacity(), 100'000U);
  for (std::uint32_t id = 1; id <= 100'000; ++id) calls.erase(id);
  EXPECT_EQ(calls.capacity(), 0U);
  calls.insert(7, 0, kNever, 42);
  EXPECT_EQ(calls.take(7), 42);
  EXPECT_GT(calls.capacity(), 0U) << "a small one is kept";
}

TEST(PendingCalls, ExpiresThoseWhoseDeadlineHasPassed) {
  PendingCalls<int> calls;
  EXPECT_EQ(calls.next_deadline(), kNever);
  calls.insert(1, 0, kStart + 10s, 1);
  calls.insert(2, 0, kStart + 5s, 2);
  calls.insert(3, 0, kNever, 3);
  EXPECT_EQ(calls.next_deadline(), kStart + 5s);

  std::vector<std::uint32_t> expired;
  const auto collect = [&](std::uint32_t id, int) { expired.push_back(id); };
  calls.expire(kStart + 4s, collect);
  EXPECT_TRUE(expired.empty());
  calls.expire(kStart + 5s, collect);
  EXPECT_EQ(expired, std::vector<std::uint32_t>{2});
  EXPECT_EQ(calls.next_deadline(), kStart + 10s);
  calls.expire(kStart + 1h, collect);
  EXPECT_EQ(expired, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(calls.next_deadline(), kNever);
  EXPECT_EQ(calls.size(), 1U);
}

TEST(PendingCalls, ACallGivenUpIsTakenWhateverItsRoute) {
  PendingCalls<int> calls;
  calls.insert(9, 4, kNever, 1);
  EXPECT_EQ(calls.take(9), 1);
  EXPECT_FALSE(calls.take(9).has_value());
}

}  // namespace
}  // namespace mf::protocol
