// Cached calls, end to end: blocking and asynchronous, over a connection and in light.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <semaphore>
#include <thread>

#include "mf/client/client.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "mftest/kept.client.hpp"
#include "mftest/kept.server.hpp"
#include "support/wait.hpp"

namespace mftest::cached_test {
namespace {

using namespace std::chrono_literals;
using kept::IdsClient;
using mf::Code;
using testing::ElementsAre;
using Names = std::vector<std::string>;

class Servant final : public kept::IdsServant {
 public:
  Names names(const std::string& name) override { return act_on(name); }
  Names known(const std::string& name) override { return act_on(name); }
  std::uint32_t id(std::uint32_t number) override {
    (void)act_on(std::to_string(number));
    return number;
  }
  kept::IdsPlainResult plain() override {
    (void)act_on("plain");
    return {.first = 7, .second = "seven"};
  }

  /// The arguments of the calls so far.
  [[nodiscard]] Names calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    calls_.clear();
  }
  std::function<Names(const std::string& name, std::size_t calls)> act =
      [](const std::string& name, std::size_t calls) { return Names{name, std::to_string(calls)}; };

 private:
  Names act_on(const std::string& name) {
    std::size_t calls = 0;
    {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(name);
      calls = calls_.size();
    }
    return act(name, calls);
  }

  mutable std::mutex mutex_;
  Names calls_;
};

/// Handlers wait until it is opened.
class Gate {
 public:
  void open() { opened_.set_value(); }
  [[nodiscard]] bool wait() const { return open_.wait_for(kLong) == std::future_status::ready; }

 private:
  std::promise<void> opened_;
  std::shared_future<void> open_ = opened_.get_future().share();
};

enum class Way : std::uint8_t { tcp, light };
enum class Kind : std::uint8_t { blocking, async };

class Cached : public testing::TestWithParam<std::tuple<Way, Kind>> {
 protected:
  Cached() {
    mf::ClientOptions options{.clock = clock};
    if (std::get<0>(GetParam()) == Way::tcp) {
      server.emplace(mf::ServerOptions{.workers = 4});
      server->offer(servant, {.agent = "a", .where = mf::Where::worker});
      server->offer(other, {.agent = "b", .where = mf::Where::worker});
      server->start();
      client.emplace(server->address().str(), std::move(options));
    } else {
      light.offer(servant, {.agent = "a"});
      light.offer(other, {.agent = "b"});
      client.emplace(light, std::move(options));
    }
    ids.emplace(IdsClient(*client).at("a"));
  }

  /// Makes a call of the kind that the test's parameter selects.
  mf::Outcome<Names> names(const std::string& name, const mf::CallOptions& options = {}) {
    return names_at(*ids, name, options);
  }
  static mf::Outcome<Names> names_at(const IdsClient& at, const std::string& name,
                                     const mf::CallOptions& options = {}) {
    if (std::get<1>(GetParam()) == Kind::blocking)
      return mf::attempt([&] { return at.names(name, options); });
    return begin(at, name, options).get();
  }
  static std::future<mf::Outcome<Names>> begin(const IdsClient& at, const std::string& name,
                                               const mf::CallOptions& options = {}) {
    auto promise = std::make_shared<std::promise<mf::Outcome<Names>>>();
    auto future = promise->get_future();
    at.async_names(name, options,
                   [promise](mf::Outcome<Names> outcome) { promise->set_value(std::move(outcome)); });
    return future;
  }
  /// The same on a thread of its own.
  std::future<mf::Outcome<Names>> elsewhere(const std::string& name, mf::CallOptions options = {}) {
    return std::async(std::launch::async, [this, name, options] { return names(name, options); });
  }

  // Used by handlers, which may outlive a test that gave up their call.
  std::counting_semaphore<> entered{0};
  Gate go;
  std::shared_ptr<mf::ManualClock> clock = std::make_shared<mf::ManualClock>();
  std::shared_ptr<Servant> servant = std::make_shared<Servant>();
  std::shared_ptr<Servant> other = std::make_shared<Servant>();
  std::optional<mf::Server> server;
  mf::Light light;
  std::optional<mf::Client> client;
  std::optional<IdsClient> ids;
};

INSTANTIATE_TEST_SUITE_P(All, Cached,
                         testing::Combine(testing::Values(Way::tcp, Way::light),
                                          testing::Values(Kind::blocking, Kind::async)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == Way::tcp ? "Tcp" : "Light") +
                                  (std::get<1>(info.param) == Kind::blocking ? "Blocking" : "Async");
                         });

TEST_P(Cached, ARepeatedCallMakesOneRequest) {
  for (int i = 0; i < 3; ++i) EXPECT_THAT(names("x").value(), ElementsAre("x", "1"));
  EXPECT_THAT(names("y").value(), ElementsAre("y", "2"));
  EXPECT_THAT(servant->calls(), ElementsAre("x", "y"));
  const auto stats = ids->names_cache().stats();
  EXPECT_EQ(stats.hits, 2U);
  EXPECT_EQ(stats.misses, 2U);
  EXPECT_EQ(stats.entries, 2U);
  EXPECT_EQ(stats.evictions, 0U);
}

TEST_P(Cached, AgentsAreKeptApartAndStubsOfOneClientAreNot) {
  (void)names("x");
  EXPECT_THAT(names_at(IdsClient(*client).at("a"), "x").value(), ElementsAre("x", "1"));
  EXPECT_THAT(names_at(ids->at("b"), "x").value(), ElementsAre("x", "1"));
  EXPECT_THAT(servant->calls(), ElementsAre("x"));
  EXPECT_THAT(other->calls(), ElementsAre("x"));
}

TEST_P(Cached, CallsWithoutParametersAndWithSeveralResultsAreKeptAlso) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ids->plain().first, 7U);
    EXPECT_EQ(ids->plain().second, "seven");
  }
  EXPECT_THAT(servant->calls(), ElementsAre("plain"));
}

TEST_P(Cached, TheLeastRecentlyUsedCallIsCrowdedOut) {
  for (const std::uint32_t number : {1U, 2U, 1U, 3U, 1U, 2U}) EXPECT_EQ(ids->id(number), number);
  EXPECT_THAT(servant->calls(), ElementsAre("1", "2", "3", "2"));
  EXPECT_EQ(ids->id_cache().stats().evictions, 2U);
  EXPECT_EQ(ids->id_cache().stats().entries, 2U);
}

TEST_P(Cached, ResultsGrowOldByTheClientsClock) {
  (void)names("x");
  clock->advance(59s);
  EXPECT_THAT(names("x").value(), ElementsAre("x", "1"));
  clock->advance(1s);
  EXPECT_THAT(names("x").value(), ElementsAre("x", "2"));
}

TEST_P(Cached, ErrorsAreKeptOnlyWhereTheMethodSaysSo) {
  servant->act = [](const std::string& name, std::size_t) -> Names { throw kept::Unknown(name); };
  for (int i = 0; i < 3; ++i) {
    const auto outcome = names("x");
    const auto* const error = outcome.error_as<kept::Unknown>();
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->name, "x");
  }
  EXPECT_EQ(servant->calls().size(), 3U);
  for (int i = 0; i < 3; ++i) {
    try {
      (void)ids->known("x");
      ADD_FAILURE();
    } catch (const kept::Unknown& error) {
      EXPECT_EQ(error.name, "x");
    }
  }
  EXPECT_EQ(servant->calls().size(), 4U);
}

TEST_P(Cached, FailuresAreNeverKept) {
  servant->act = [](const std::string&, std::size_t) -> Names { throw std::runtime_error("oops"); };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(names("x").failure().code, Code::handler_failed);
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)ids->known("x"), mf::Error);
  EXPECT_EQ(servant->calls().size(), 4U);
  EXPECT_EQ(ids->known_cache().stats().entries, 0U);
}

TEST_P(Cached, OneCallAnAgentOrAllCanBeForgotten) {
  const auto fill = [&] {
    for (const auto* const name : {"x", "y"}) {
      (void)names(name);
      (void)names_at(ids->at("b"), name);
    }
  };
  const auto again = [&](auto forget) {
    fill();
    servant->clear();
    other->clear();
    forget();
    fill();
  };
  again([&] { ids->names_forget("x"); });
  EXPECT_THAT(servant->calls(), ElementsAre("x"));
  EXPECT_THAT(other->calls(), ElementsAre());
  again([&] { ids->names_cache().forget_agent(); });
  EXPECT_THAT(servant->calls(), ElementsAre("x", "y"));
  EXPECT_THAT(other->calls(), ElementsAre());
  again([&] { ids->names_cache().forget_all(); });
  EXPECT_THAT(servant->calls(), ElementsAre("x", "y"));
  EXPECT_THAT(other->calls(), ElementsAre("x", "y"));
}

TEST_P(Cached, ACallWithMetadataGoesToAServer) {
  (void)names("x");
  mf::CallOptions options;
  options.metadata.set("tenant", "a");
  EXPECT_THAT(names("x", options).value(), ElementsAre("x", "2"));
  mf::Metadata metadata;
  EXPECT_THAT(names("x", {.reply_metadata = &metadata}).value(), ElementsAre("x", "3"));
  EXPECT_EQ(ids->names_cache().stats().hits, 0U);
}

TEST_P(Cached, EqualCallsAtOnceMakeOneRequest) {
  servant->act = [&](const std::string& name, std::size_t) {
    entered.release();
    EXPECT_TRUE(go.wait());
    return Names{name};
  };
  std::vector<std::future<mf::Outcome<Names>>> calls;
  for (int i = 0; i < 8; ++i) calls.push_back(elsewhere("x"));
  ASSERT_TRUE(entered.try_acquire_for(kLong));
  go.open();
  for (auto& call : calls) EXPECT_THAT(call.get().value(), ElementsAre("x"));
  EXPECT_THAT(servant->calls(), ElementsAre("x"));
  EXPECT_EQ(ids->names_cache().stats().hits, 7U);
  EXPECT_EQ(ids->names_cache().stats().misses, 1U);
}

TEST_P(Cached, WhoWaitsHasItsOwnDeadlineAndGoesOnWhenTheLeaderFails) {
  servant->act = [&](const std::string& name, std::size_t calls) -> Names {
    entered.release();
    EXPECT_TRUE(go.wait());
    if (calls == 1) throw std::runtime_error("oops");
    return {name};
  };
  auto leader = elsewhere("x");
  ASSERT_TRUE(entered.try_acquire_for(kLong));
  EXPECT_EQ(names("x", {.deadline = 20ms}).failure().code, Code::deadline_exceeded);
  std::vector<std::future<mf::Outcome<Names>>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(elsewhere("x"));
  go.open();
  EXPECT_EQ(leader.get().failure().code, Code::handler_failed);
  for (auto& call : calls) EXPECT_THAT(call.get().value(), ElementsAre("x"));
  EXPECT_THAT(servant->calls(), ElementsAre("x", "x"));
}

TEST_P(Cached, WhoIsStoppedLeavesAndALeaderHandsOver) {
  if (std::get<0>(GetParam()) == Way::light) return;  // its leader occupies the caller's thread
  servant->act = [&](const std::string& name, std::size_t) -> Names {
    entered.release();
    EXPECT_TRUE(go.wait());
    return {name};
  };
  std::stop_source stop_leader;
  std::stop_source stop_waiter;
  auto leader = elsewhere("x", {.stop = stop_leader.get_token()});
  ASSERT_TRUE(entered.try_acquire_for(kLong));
  auto waiter = elsewhere("x", {.stop = stop_waiter.get_token()});
  auto last = elsewhere("x");
  stop_waiter.request_stop();
  EXPECT_EQ(waiter.get().failure().code, Code::cancelled);
  stop_leader.request_stop();
  EXPECT_EQ(leader.get().failure().code, Code::cancelled);
  go.open();
  EXPECT_THAT(last.get().value(), ElementsAre("x"));
  EXPECT_THAT(servant->calls(), ElementsAre("x", "x"));
}

TEST_P(Cached, WhatIsForgottenDuringACallIsNotKeptByIt) {
  servant->act = [&](const std::string& name, std::size_t) -> Names {
    entered.release();
    EXPECT_TRUE(go.wait());
    return {name};
  };
  auto call = elsewhere("x");
  ASSERT_TRUE(entered.try_acquire_for(kLong));
  ids->names_forget("x");
  go.open();
  EXPECT_THAT(call.get().value(), ElementsAre("x"));
  EXPECT_THAT(names("x").value(), ElementsAre("x"));
  EXPECT_THAT(servant->calls(), ElementsAre("x", "x"));
}

TEST_P(Cached, BatchesAndScatteredCallsGoToServersAndKeepNothing) {
  (void)names("x");
  const std::vector<kept::IdsNamesRequest> requests{{.name = "x"}};
  EXPECT_THAT(ids->names_bulk(requests).at(0).value(), ElementsAre("x", "2"));
  EXPECT_THAT(ids->names_batch(requests).results().at(0).value(), ElementsAre("x", "3"));
  EXPECT_THAT(ids->on({"a"}).names("x").at(0).outcome.value(), ElementsAre("x", "4"));
  const auto stats = ids->names_cache().stats();
  EXPECT_EQ(stats.hits, 0U);
  EXPECT_EQ(stats.misses, 1U);
  EXPECT_EQ(stats.entries, 1U);
}

TEST_P(Cached, CallsOfAClosedClientEndAsThoseOfOthersDo) {
  if (std::get<0>(GetParam()) == Way::light) return;  // calls in the process outlive their client
  (void)names("x");
  client.reset();
  EXPECT_EQ(names("x").failure().code, Code::cancelled);
}

TEST_P(Cached, ACompletionMayCallAndChainCalls) {
  std::atomic<int> ended{0};
  std::function<void(int)> next = [&](int left) {
    EXPECT_THAT(ids->names("x"), ElementsAre("x", "1"));
    if (left == 0) {
      ++ended;
      return;
    }
    ids->async_names("x", [&, left](mf::Outcome<Names>) { next(left - 1); });
  };
  next(100);
  EXPECT_TRUE(eventually([&] { return ended == 1; }));
  EXPECT_THAT(servant->calls(), ElementsAre("x"));
}

TEST_P(Cached, ManyThreadsAndForgettingGiveEveryCallItsOwnAnswer) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const auto name = std::to_string(i % 5);
        EXPECT_EQ(names(name).value().front(), name);
        if (thread == 0 && i % 7 == 0) ids->names_forget(name);
        if (thread == 1 && i % 31 == 0) ids->names_cache().forget_all();
      }
    });
  }
  threads.clear();
  const auto stats = ids->names_cache().stats();
  EXPECT_EQ(stats.hits + stats.misses, 800U);
  EXPECT_EQ(servant->calls().size(), stats.misses);
}

}  // namespace
}  // namespace mftest::cached_test
