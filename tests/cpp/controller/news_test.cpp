// What other parts of a controller's process read of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/controller_fixture.hpp"
#include "mf/controller/news.hpp"

namespace mf::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> steps_of(const std::vector<Step>& steps) {
  std::vector<std::string> texts;
  for (const auto& step : steps)
    texts.push_back((step.came ? "+" : "-") +
                    testing_offers::shown(step.instance->offer.key, step.instance->instance));
  return texts;
}

struct NewsTest : ControllerTest {
  [[nodiscard]] std::uint64_t revision() const { return controller.status().revision; }
};

TEST_F(NewsTest, TheyHaveTheLatestOfEachPlaceAndTheSteps) {
  add(1, 1, {offer("Index", "books")});
  const auto before = revision();
  EXPECT_THAT(controller.news(before).put, IsEmpty());
  add(2, 2, {offer("Index", "news"), offer("Rank")});
  EXPECT_TRUE(update(who(2), {offer("Rank", "", "tcp://h:9")}, {key("Index", "news")}).ok());
  const auto news = controller.news(before);
  EXPECT_TRUE(news.complete);
  EXPECT_EQ(news.revision, revision());
  ASSERT_EQ(news.put.size(), 1U);
  EXPECT_THAT(news.put[0]->offer.addresses, ElementsAre("tcp://h:9"));
  ASSERT_EQ(news.gone.size(), 1U);
  EXPECT_EQ(news.gone[0], (Place{key("Index", "news"), nonce(2)}));
  EXPECT_THAT(steps_of(news.steps), ElementsAre("+news@2", "+@2", "-news@2"))
      << "an offer that is changed is no step";
}

TEST_F(NewsTest, WhoComesLaterLearnsTheLatestSteps) {
  add(1, 1, {offer("Index", "books")})->leave();
  add(2, 2, {offer("Index", "news")});
  EXPECT_THAT(steps_of(controller.recent(revision(), 200)), ElementsAre("+books@1", "-books@1", "+news@2"));
  EXPECT_THAT(steps_of(controller.recent(revision(), 2)), ElementsAre("-books@1", "+news@2"));
  EXPECT_THAT(steps_of(controller.recent(revision() - 1, 2)), ElementsAre("+books@1", "-books@1"));
  const auto steps = controller.recent(revision(), 1);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].instance->process, "p2");
  EXPECT_EQ(steps[0].revision, revision());
  EXPECT_LE(steps[0].at, std::chrono::system_clock::now());
  EXPECT_GT(steps[0].at, std::chrono::system_clock::now() - 1min);
}

TEST_F(NewsTest, WhatIsOnlyKnownFromTheStoreHasNotCome) {
  add(1, 1, {offer("Index", "books")});
  auto with = options();
  const Controller later(with);
  EXPECT_THAT(later.recent(later.status().revision, 200), IsEmpty());
  EXPECT_EQ(later.listed(std::nullopt, 10).instances.size(), 1U);
}

TEST_F(NewsTest, ChangesThatTheLogHasNoMoreAreNotComplete) {
  const auto before = revision();
  for (std::size_t i = 0; i < ChangeLog::kMostEntries / 9'000 + 1; ++i)
    add(i + 1, 1, many(9'000, "M" + std::to_string(i)));
  const auto news = controller.news(before);
  EXPECT_FALSE(news.complete);
  EXPECT_EQ(news.revision, revision());
  EXPECT_THAT(news.put, IsEmpty());
  EXPECT_EQ(controller.recent(revision(), 10).size(), 10U);
}

TEST_F(NewsTest, TheStateIsReadInPages) {
  add(1, 1, {offer("Index", "a"), offer("Index", "b"), offer("Index", "c")});
  const auto first = controller.listed(std::nullopt, 2);
  ASSERT_EQ(first.instances.size(), 2U);
  ASSERT_TRUE(first.last.has_value());
  const auto second = controller.listed(first.last, 2);
  ASSERT_EQ(second.instances.size(), 1U);
  EXPECT_EQ(second.instances[0]->offer.key.agent, "c");
  EXPECT_FALSE(second.last.has_value());
}

TEST_F(NewsTest, AnIdOfAProcessBeginsAsInLogsAndIsNotItsNonce) {
  const auto id = shown_id(nonce(1));
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(id.substr(0, 8), public_id(nonce(1)));
  EXPECT_NE(id.substr(0, 2), "01");
  EXPECT_NE(id, shown_id(nonce(2)));
}

TEST_F(NewsTest, RefusalsAreKeptUpToALimit) {
  auto with = options();
  with.closed = true;
  with.store = std::make_shared<MemoryStore>();
  Controller closed(with);
  EXPECT_THAT(closed.refused(0), IsEmpty());
  for (int i = 0; i < 60; ++i) add_as(closed, 7, who(1), {offer("Index", std::to_string(i))});
  const auto refused = closed.refused(59);
  ASSERT_EQ(refused.size(), 50U);
  EXPECT_EQ(refused.back().number, 60U);
  EXPECT_EQ(refused.back().action, "register");
  EXPECT_EQ(refused.back().object, "Index");
  EXPECT_EQ(refused.back().agent, "59");
  EXPECT_EQ(refused.back().peer, "tcp://peer:7");
  EXPECT_THAT(closed.refused(60), IsEmpty());
}

}  // namespace
}  // namespace mf::controller
