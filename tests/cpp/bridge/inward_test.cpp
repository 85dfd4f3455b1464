// A topic into an engine: order, headers, and what happens while the engine takes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "bridge/described.hpp"
#include "bridge/fake_engine.hpp"
#include "mf/bridge/inward.hpp"
#include "mf/client/core.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"
#include "support/wait.hpp"

namespace mftest::inward_test {
namespace {

using namespace topics::events;
using namespace std::chrono_literals;

class Inward : public testing::Test {
 protected:
  Inward() {
    server_.offer(topics_);
    server_.start();
  }
  ~Inward() override { stop(); }

  void make(mf::bridge::InwardOptions options = {}) {
    options.log = mf::Log(log_);
    core_ = mf::client::Core::at(server_.address().str(), {.log = mf::Log(log_)});
    inward_ = std::make_unique<mf::bridge::Inward>(core_, *topic_, engine_, options);
  }
  void start(mf::bridge::InwardOptions options = {}) {
    make(std::move(options));
    thread_ = std::jthread([this](const std::stop_token& stop) { inward_->run(stop); });
  }
  /// In words; "" if they are not.
  [[nodiscard]] std::string refusal_of(mf::bridge::InwardOptions options) {
    try {
      make(std::move(options));
    } catch (const mf::Error& error) {
      return error.message();
    }
    return "";
  }
  void stop() {
    thread_ = {};
    if (core_) core_->close();
  }
  [[nodiscard]] std::vector<std::uint64_t> appended() const {
    std::vector<std::uint64_t> all;
    for (const auto& record : engine_.records()) all.push_back(record.sequence);
    return all;
  }
  [[nodiscard]] static std::vector<std::uint64_t> to(std::uint64_t last) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 1; i <= last; ++i) all.push_back(i);
    return all;
  }

  const std::shared_ptr<KeptLog> log_ = std::make_shared<KeptLog>();
  std::unique_ptr<mf::topics::DescribedTopic> topic_ = described<AdditionsTopic>();
  mf::Topics topics_;
  AdditionsPublisher additions_{topics_};
  mf::Server server_;
  FakeEngine engine_;
  std::shared_ptr<mf::client::Core> core_;
  std::unique_ptr<mf::bridge::Inward> inward_;
  std::jthread thread_;
};

TEST_F(Inward, MessagesAreAppendedInOrderWithWhatIsKnownOfThem) {
  start();
  ASSERT_TRUE(additions_.await_subscribers(1, kLong));
  auto books = additions_.at("eu.books");
  for (std::uint32_t i = 1; i <= 600; ++i) books.publish({.title = "t", .size = i});
  ASSERT_TRUE(eventually([&] { return engine_.records().size() == 600; }));
  EXPECT_EQ(appended(), to(600));
  const auto last = engine_.records().back();
  EXPECT_EQ(last.topic, "topics.events.Additions");
  EXPECT_EQ(last.agent, "eu.books");
  EXPECT_EQ(last.publisher, topics_.hub()->publisher());
  EXPECT_GT(last.time, mf::Timestamp{});
  EXPECT_EQ(last.tier, mf::Tier::febird);
  EXPECT_EQ(last.schema, AdditionsTopic::kTopic.service.fingerprint);
  EXPECT_EQ(mf::from_bytes<Added>(last.payload)->size, 600U);
  EXPECT_TRUE(eventually([&] { return inward_->stats().appended == 600; }));
}

TEST_F(Inward, AnEngineThatTakesNothingHoldsBackThePublisherAndNothingIsLost) {
  start({.subscribe = {.max_messages = 4, .max_bytes = 1 << 20}});
  ASSERT_TRUE(additions_.await_subscribers(1, kLong));
  engine_.refuse("the stream is full");
  auto books = additions_.at("books");
  // What there is room for between here and the engine: a batch, two queues, and a stream's window.
  const std::string title(200, 't');
  std::uint32_t published = 0;
  const auto publish = [&] {
    try {
      books.publish({.title = title, .size = published + 1}, {.deadline = 100ms});
      ++published;
      return true;
    } catch (const mf::Error& error) {
      EXPECT_EQ(error.code(), mf::Code::deadline_exceeded);
      return false;
    }
  };
  while (publish()) ASSERT_LT(published, 2'000U) << "it does not hold back";
  EXPECT_TRUE(eventually([&] { return log_->has("not_appended") && log_->has("the stream is full"); }));
  EXPECT_TRUE(engine_.records().empty());
  engine_.refuse("");
  ASSERT_TRUE(eventually([&] { return engine_.records().size() == published; }));
  EXPECT_EQ(appended(), to(published));
  EXPECT_EQ(inward_->stats().missed, 0U);
  EXPECT_TRUE(eventually([&] { return log_->has("appends_again"); }));
}

TEST_F(Inward, AnAgentThatIsAMemberOfAnEnumIsGivenByItsName) {
  topic_ = described<ReportsTopic>();
  ReportsPublisher reports(topics_);
  start({.agents = "london"});
  ASSERT_TRUE(reports.await_subscribers(1, kLong));
  EXPECT_EQ(reports.stats().subscriptions.at(0).agents, "london");
  reports.at(Venue::xetra).publish({.name = "one", .values = {}});
  reports.at(Venue::london).publish({.name = "two", .values = {}});
  ASSERT_TRUE(eventually([&] { return engine_.records().size() == 1; }));
  EXPECT_EQ(engine_.records().back().agent, "2") << "as it is sent";
  EXPECT_EQ(mf::from_bytes<Report>(engine_.records().back().payload)->name, "two");
}

TEST_F(Inward, WhatTheTopicCannotHaveIsRefusedBeforeTheEngineIsAsked) {
  topic_ = described<ReportsTopic>();
  engine_.go_away(true);
  EXPECT_EQ(refusal_of({.agents = "paris"}),
            "topic topics.events.Reports has agents of type topics.events.Venue, and \"paris\" is none");
  EXPECT_EQ(refusal_of({.subscribe = {.overflow = mf::Overflow::drop_oldest}}),
            "topic topics.events.Reports does not allow overflow drop_oldest, but drop_newest, block");
}

TEST_F(Inward, TheSameTroubleIsToldOnce) {
  engine_.refuse("the stream is full");
  start();
  ASSERT_TRUE(additions_.await_subscribers(1, kLong));
  additions_.at("books").publish({.title = "t", .size = 1});
  ASSERT_TRUE(eventually([&] { return engine_.refused() > 5; }));
  EXPECT_EQ(log_->size(), 1U);
}

TEST_F(Inward, WhatTheEngineNeverTakesIsLeftOutAndToldAndTheOthersGoOn) {
  engine_.take_at_most(50);
  start();
  ASSERT_TRUE(additions_.await_subscribers(1, kLong));
  auto books = additions_.at("books");
  books.publish({.title = "t", .size = 1});
  books.publish({.title = std::string(100, 't'), .size = 2});
  books.publish({.title = "t", .size = 3});
  ASSERT_TRUE(eventually([&] { return engine_.records().size() == 2; }));
  EXPECT_EQ(appended(), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(inward_->stats().refused, 1U);
  EXPECT_TRUE(log_->has("message_refused"));
  EXPECT_TRUE(log_->has("sequence=2"));
}

TEST_F(Inward, AnEngineThatIsAwayAtTheBeginningIsAwaited) {
  engine_.go_away(true);
  start();
  ASSERT_TRUE(eventually([&] { return log_->has("the engine is away"); }));
  engine_.go_away(false);
  EXPECT_TRUE(additions_.await_subscribers(1, kLong));
}

TEST_F(Inward, OneThatIsStartedAnewAppendsNothingASecondTime) {
  start();
  ASSERT_TRUE(additions_.await_subscribers(1, kLong));
  auto books = additions_.at("books");
  books.publish({.title = "t", .size = 1});
  books.publish({.title = "t", .size = 2});
  ASSERT_TRUE(eventually([&] { return engine_.records().size() == 2; }));
  stop();
  books.publish({.title = "t", .size = 3});
  start();
  ASSERT_TRUE(eventually([&] { return engine_.records().size() == 3; }));
  EXPECT_EQ(appended(), to(3)) << "the publisher keeps three, so it sent two of them again";
}

}  // namespace
}  // namespace mftest::inward_test
