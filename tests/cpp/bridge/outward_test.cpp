// A topic out of an engine: under its publishers' numbers, with what is missing and what comes twice, and the
// offsets that are stored in the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "bridge/described.hpp"
#include "bridge/fake_engine.hpp"
#include "mf/bridge/outward.hpp"
#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "support/wait.hpp"

namespace mftest::outward_test {
namespace {

using namespace topics::events;
using namespace std::chrono_literals;
using mf::Overflow;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr mf::SubscribeOptions kBlock{.overflow = Overflow::block};

class Outward : public testing::Test {
 protected:
  ~Outward() override { stop(); }

  void start(mf::bridge::OutwardOptions options = {}) {
    options.name = "reader";
    options.topics.log = mf::Log(log_);
    outward_ = std::make_shared<mf::bridge::Outward>(*topic_, engine_, options);
    server_ = std::make_unique<mf::Server>(mf::ServerOptions{.listen = listen_});
    server_->offer(*outward_);
    server_->start();
    listen_ = server_->address().str();
    thread_ = std::jthread([this](const std::stop_token& stop) { outward_->run(stop); });
  }
  void stop() {
    thread_ = {};
    server_.reset();
  }
  void add(const std::string& agent, std::uint64_t sequence) {
    engine_.add(record_of(*topic_, agent, sequence));
  }
  template <class Subscriber>
  static std::vector<std::uint64_t> next(Subscriber& subscriber, std::size_t count) {
    std::vector<std::uint64_t> all;
    while (all.size() < count) all.push_back(subscriber.next(kLong).sequence());
    return all;
  }

  /// A few looks at the engine later.
  bool next_look_finds_all() {
    std::this_thread::sleep_for(200ms);
    return outward_->stats().published == 5'000;
  }

  const std::shared_ptr<KeptLog> log_ = std::make_shared<KeptLog>();
  const std::unique_ptr<mf::topics::DescribedTopic> topic_ = described<AdditionsTopic>();
  FakeEngine engine_;
  std::string listen_ = "tcp://127.0.0.1:0";
  std::shared_ptr<mf::bridge::Outward> outward_;
  std::unique_ptr<mf::Server> server_;
  std::jthread thread_;
};

TEST_F(Outward, SubscribersGetWhatIsKeptAsItsPublishersPublishedIt) {
  for (std::uint64_t i = 1; i <= 3; ++i) add("eu.books", i);
  add("us.books", 41);
  start();
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  const auto first = there.next(kLong);
  EXPECT_EQ(first.publisher(), mf::Uuid{.bytes = {7}});
  EXPECT_EQ(first.agent(), "eu.books");
  EXPECT_EQ(first.sequence(), 1U);
  EXPECT_EQ(first.time(), mf::Timestamp(mf::Duration(1'001)));
  EXPECT_EQ(first.value(), (Added{.title = "t", .size = 1}));
  EXPECT_THAT(next(there, 3), ElementsAre(2, 3, 41));
  add("eu.books", 4);
  EXPECT_EQ(there.next(kLong).sequence(), 4U);
}

TEST_F(Outward, WhatIsMissingIsAGapAndWhatCameTwiceComesOnce) {
  for (const auto i : std::initializer_list<std::uint64_t>{1, 2, 2, 1, 5}) add("books", i);
  start();
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "books", kBlock);
  EXPECT_THAT(next(there, 2), ElementsAre(1, 2));
  const auto behind = there.next(kLong);
  EXPECT_EQ(behind.sequence(), 5U);
  EXPECT_EQ(behind.missed(), 2U);
  EXPECT_EQ(there.stats().upstream, 2U);
  const auto stats = outward_->stats();
  EXPECT_EQ(stats.published, 3U);
  EXPECT_EQ(stats.duplicates, 2U);
  EXPECT_EQ(stats.missed, 2U);
}

TEST_F(Outward, NothingIsReadBeforeSomebodySubscribes) {
  add("books", 1);
  start({.subscribers = 2});
  mf::Client client(listen_);
  AdditionsSubscriber one(client, "*", kBlock);
  EXPECT_EQ(one.poll(300ms), std::nullopt);
  EXPECT_EQ(engine_.opened(), 0U);
  mf::Client another(listen_);
  AdditionsSubscriber two(another, "*", kBlock);
  EXPECT_EQ(one.next(kLong).sequence(), 1U);
  EXPECT_EQ(two.next(kLong).sequence(), 1U);
}

TEST_F(Outward, AnOffsetIsKeptOnceMessagesHaveLeftAndSettled) {
  for (std::uint64_t i = 1; i <= 10; ++i) add("books", i);
  start({.settle = 1ms});
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  EXPECT_EQ(next(there, 10).back(), 10U);
  EXPECT_TRUE(eventually([&] { return engine_.offset("reader") == 10; }));
}

TEST_F(Outward, WhatHasNotSettledIsReadAgainAndSubscribersDropWhatTheyHaveSeen) {
  for (std::uint64_t i = 1; i <= 10; ++i) add("books", i);
  start({.settle = std::chrono::hours(1)});
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  EXPECT_EQ(next(there, 10).back(), 10U);
  stop();
  add("books", 11);
  start({.settle = std::chrono::hours(1)});
  EXPECT_EQ(there.next(kLong).sequence(), 11U);
  EXPECT_EQ(engine_.offset("reader"), 0);
  EXPECT_EQ(there.stats().duplicates, 10U);
  EXPECT_EQ(there.stats().received, 11U);
}

TEST_F(Outward, OneThatIsStartedAnewGoesOnBehindTheOffsetThatIsKept) {
  for (std::uint64_t i = 1; i <= 10; ++i) add("books", i);
  start({.settle = 1ms});
  {
    mf::Client client(listen_);
    AdditionsSubscriber there(client, "*", kBlock);
    EXPECT_EQ(next(there, 10).back(), 10U);
    ASSERT_TRUE(eventually([&] { return engine_.offset("reader") == 10; }));
  }
  stop();
  add("books", 11);
  start({.settle = 1ms});
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  EXPECT_EQ(there.next(kLong).sequence(), 11U);
}

TEST_F(Outward, ASubscriberThatTakesNothingHoldsBackTheReading) {
  for (std::uint64_t i = 1; i <= 5'000; ++i) add("books", i);
  start({.settle = 1ms});
  mf::Client client(listen_, {.stream_window = 4'096});
  AdditionsSubscriber there(client, "*", {.overflow = Overflow::block, .max_messages = 2});
  EXPECT_EQ(there.next(kLong).sequence(), 1U);
  EXPECT_FALSE(outward_->stats().published == 5'000 || next_look_finds_all());
  EXPECT_LT(engine_.offset("reader"), 5'000);
  std::uint64_t last = 1;
  while (last < 5'000) ASSERT_EQ(there.next(kLong).sequence(), ++last);
  EXPECT_TRUE(eventually([&] { return engine_.offset("reader") == 5'000; }));
}

TEST_F(Outward, WhoDropsIsWaitedForAsWellSoNothingIsDropped) {
  for (std::uint64_t i = 1; i <= 3'000; ++i) add("books", i);
  start();
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", {.overflow = Overflow::drop_oldest, .max_messages = 10});
  std::uint64_t last = 0;
  while (last < 3'000) ASSERT_EQ(there.next(kLong).sequence(), ++last);
  EXPECT_EQ(there.stats().dropped, 0U);
}

TEST_F(Outward, AnotherSchemaEndsSubscriptionsAndIsToldWithBoth) {
  add("books", 1);
  auto other = record_of(*topic_, "books", 2);
  other.schema = {0xab};
  engine_.add(other);
  start();
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  EXPECT_EQ(there.next(kLong).sequence(), 1U);
  const auto expect_refused = [&](AdditionsSubscriber& subscriber) {
    try {
      (void)subscriber.next(kLong);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const mf::Error& error) {
      EXPECT_EQ(error.code(), mf::Code::schema_mismatch);
      EXPECT_THAT(error.message(), HasSubstr(mf::bridge::text_of(other.schema)));
      EXPECT_THAT(error.message(), HasSubstr(mf::bridge::text_of(topic_->info().service.fingerprint)));
    }
  };
  expect_refused(there);
  EXPECT_TRUE(log_->has("schema_mismatch"));
  AdditionsSubscriber later(client, "*", kBlock);
  expect_refused(later);
  EXPECT_EQ(engine_.offset("reader"), 0);
}

TEST_F(Outward, RecordsOfOthersAreSkippedAndTold) {
  engine_.add({}, "it has no header mf-topic");
  auto other = record_of(*topic_, "books", 1);
  other.topic = "topics.events.Others";
  engine_.add(other);
  add("books", 1);
  start();
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  EXPECT_EQ(there.next(kLong).sequence(), 1U);
  EXPECT_EQ(outward_->stats().skipped, 2U);
  EXPECT_TRUE(log_->has("it has no header mf-topic"));
  EXPECT_TRUE(log_->has("it is of topic topics.events.Others"));
}

TEST_F(Outward, AnEngineThatIsAwayForAWhileIsReadOn) {
  add("books", 1);
  start();
  mf::Client client(listen_);
  AdditionsSubscriber there(client, "*", kBlock);
  EXPECT_EQ(there.next(kLong).sequence(), 1U);
  engine_.go_away(true);
  ASSERT_TRUE(eventually([&] { return log_->has("engine_away"); }));
  add("books", 2);
  engine_.go_away(false);
  EXPECT_EQ(there.next(kLong).sequence(), 2U);
  EXPECT_TRUE(eventually([&] { return log_->has("engine_back"); }));
}

}  // namespace
}  // namespace mftest::outward_test
