#include "mf/controller/controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "mf/core/current_call.hpp"
#include "support/wait.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;

template <class T>
struct Answer {
  std::shared_ptr<std::optional<Outcome<T>>> outcome = std::make_shared<std::optional<Outcome<T>>>();

  [[nodiscard]] Responder<T> responder() const {
    return Responder<T>([to = outcome](Outcome<T>&& given) { to->emplace(std::move(given)); });
  }
  [[nodiscard]] bool given() const { return outcome->has_value(); }
  [[nodiscard]] auto value() const { return (*outcome)->value(); }
  [[nodiscard]] Code code() const { return (*outcome)->failure().code; }
};

Uuid nonce(std::uint8_t number) {
  Uuid nonce;
  nonce.bytes[0] = number;
  return nonce;
}

Instance offer(std::string service, std::string agent) {
  Instance instance;
  instance.service = std::move(service);
  instance.agent = std::move(agent);
  instance.addresses = {"tcp://h:1"};
  return instance;
}

struct ControllerTest : testing::Test {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  std::shared_ptr<mftest::KeptLog> log = std::make_shared<mftest::KeptLog>();
  Controller controller{options()};

  [[nodiscard]] ControllerOptions options() const {
    ControllerOptions options;
    options.store = store;
    options.clock = clock;
    options.own_thread = false;
    options.log = Log(log);
    return options;
  }

  /// Calls a function as if it came over that connection.
  template <class Call>
  void over(std::uint64_t connection, Call&& call) {
    CallInfo info;
    info.connection = connection;
    const CallScope scope(info);
    call();
  }
  Answer<std::uint32_t> add(std::uint64_t connection, std::uint8_t process, std::vector<Instance> instances) {
    Answer<std::uint32_t> answer;
    over(connection,
         [&] { controller.register_({nonce(process), std::move(instances)}, answer.responder()); });
    return answer;
  }
  Answer<bool> keep(std::uint64_t connection, std::uint8_t process, std::uint32_t wait_ms = 5000) {
    Answer<bool> answer;
    over(connection, [&] { controller.keep({nonce(process), wait_ms}, answer.responder()); });
    return answer;
  }
  Answer<View> watch(std::string service, std::uint64_t epoch = 0, std::uint64_t revision = 0,
                     std::uint32_t wait_ms = 20'000) {
    return watch_over(0, std::move(service), epoch, revision, wait_ms);
  }
  Answer<View> watch_over(std::uint64_t connection, std::string service, std::uint64_t epoch,
                          std::uint64_t revision, std::uint32_t wait_ms = 20'000) {
    Answer<View> answer;
    over(connection,
         [&] { controller.watch({std::move(service), epoch, revision, wait_ms}, answer.responder()); });
    return answer;
  }
  Answer<View> watch_from(const View& known) { return watch("Index", known.epoch, known.revision); }
  void pass(std::chrono::nanoseconds time) {
    clock->advance(time);
    controller.tick();
  }
};

TEST_F(ControllerTest, TheFirstQuestionIsAnsweredAtOnce) {
  const auto answer = watch("Index");
  ASSERT_TRUE(answer.given());
  EXPECT_NE(answer.value().epoch, 0U);
  EXPECT_TRUE(answer.value().instances.empty());
}

TEST_F(ControllerTest, AClientIsToldWhenAServerRegisters) {
  const auto waiting = watch_from(watch("Index").value());
  EXPECT_FALSE(waiting.given());
  EXPECT_EQ(add(1, 1, {offer("Index", "books")}).value(), 30'000U);
  ASSERT_TRUE(waiting.given());
  ASSERT_EQ(waiting.value().instances.size(), 1U);
  EXPECT_EQ(waiting.value().instances[0].agent, "books");
}

TEST_F(ControllerTest, ItsLogNamesWhatAServerOffersButNotHundreds) {
  add(1, 1, {offer("Index", "books"), offer("Clock", "")});
  EXPECT_TRUE(log->has(
      "registered nonce=01000000000000000000000000000000 offers=2 which=\"Index for books, Clock\""));
  add(1, 2, std::vector<Instance>(9, offer("Rank", "a")));
  EXPECT_TRUE(log->has("offers=9"));
  EXPECT_TRUE(log->has("Rank for a and others\""));
}

TEST_F(ControllerTest, AChangeOfAnotherServiceWakesNobody) {
  const auto waiting = watch_from(watch("Index").value());
  add(1, 1, {offer("Rank", "")});
  EXPECT_FALSE(waiting.given());
}

TEST_F(ControllerTest, AWatchEndsWithItsTimeAndWhatItWas) {
  const View known = watch("Index").value();
  const auto waiting = watch_from(known);
  pass(19'999ms);
  EXPECT_FALSE(waiting.given());
  pass(1ms);
  ASSERT_TRUE(waiting.given());
  EXPECT_EQ(waiting.value(), known);
}

TEST_F(ControllerTest, AChangeBetweenTwoQuestionsIsNotLost) {
  const View known = watch("Index").value();
  add(1, 1, {offer("Index", "books")});
  EXPECT_EQ(watch_from(known).value().instances.size(), 1U);
}

TEST_F(ControllerTest, AnEpochOfAnotherControllerIsAnsweredAtOnce) {
  const View known = watch("Index").value();
  EXPECT_TRUE(watch("Index", known.epoch + 1, known.revision).given());
}

TEST_F(ControllerTest, AServerWhoseConnectionEndsIsGoneAtOnce) {
  add(1, 1, {offer("Index", "books")});
  const auto waiting = watch_from(watch("Index").value());
  controller.connection_ended(1);
  ASSERT_TRUE(waiting.given());
  EXPECT_TRUE(waiting.value().instances.empty());
}

TEST_F(ControllerTest, WhatWaitsOverAConnectionEndsWithIt) {
  add(1, 1, {offer("Rank", "")});
  const View known = watch("Index").value();
  const auto left = watch_over(1, "Index", known.epoch, known.revision);
  const auto kept = keep(1, 1);
  const auto other = watch_over(2, "Index", known.epoch, known.revision);
  controller.connection_ended(1);
  ASSERT_TRUE(left.given() && kept.given());
  EXPECT_EQ(left.code(), Code::cancelled);
  EXPECT_EQ(kept.code(), Code::cancelled);
  EXPECT_FALSE(other.given());
  const auto late = watch_over(1, "Index", known.epoch, known.revision);
  ASSERT_TRUE(late.given()) << "nobody would ever take it away";
  EXPECT_EQ(late.code(), Code::cancelled);
}

TEST_F(ControllerTest, OneConnectionHasSoManyCallsWaitingAndOthersHaveTheirOwn) {
  add(1, 1, {offer("Rank", "")});
  const View known = watch("Index").value();
  std::vector<Answer<View>> waiting;
  for (std::size_t i = 0; i + 1 < Controller::kMaxWaits; ++i)
    waiting.push_back(watch_over(1, "Index", known.epoch, known.revision));
  EXPECT_FALSE(keep(1, 1).given());
  const auto watched = watch_over(1, "Index", known.epoch, known.revision);
  const auto kept = keep(1, 1);
  ASSERT_TRUE(watched.given() && kept.given());
  EXPECT_EQ(watched.code(), Code::overloaded);
  EXPECT_EQ(kept.code(), Code::overloaded);
  EXPECT_EQ((*watched.outcome)->failure().execution, Execution::not_executed);
  EXPECT_EQ((*watched.outcome)->failure().message,
            "the controller lets at most 1024 calls of one connection wait");
  EXPECT_TRUE(watch_over(1, "Index", 0, 0).value().instances.empty())
      << "what is answered at once does not wait";
  EXPECT_FALSE(watch_over(2, "Index", known.epoch, known.revision).given());
  pass(10s);  // the keep has ended
  EXPECT_FALSE(watch_over(1, "Index", known.epoch, known.revision).given());
}

TEST_F(ControllerTest, ARegistrationThatComesAfterTheEndOfItsConnectionDoesNotCount) {
  controller.connection_ended(1);
  EXPECT_FALSE((*add(1, 1, {offer("Index", "books")}).outcome)->ok());
  EXPECT_TRUE(watch("Index").value().instances.empty());
}

TEST_F(ControllerTest, AServerThatKeepsItselfStays) {
  add(1, 1, {offer("Index", "books")});
  for (int i = 0; i < 20; ++i) {
    const auto kept = keep(1, 1);
    EXPECT_FALSE(kept.given());
    pass(5s);
    ASSERT_TRUE(kept.given());
    ASSERT_TRUE(kept.value());
  }
  EXPECT_EQ(watch("Index").value().instances.size(), 1U);
}

TEST_F(ControllerTest, AServerThatIsNotHeardOfLosesItsLease) {
  add(1, 1, {offer("Index", "books")});
  const auto waiting = watch_from(watch("Index").value());
  pass(30s);
  ASSERT_TRUE(waiting.given());
  EXPECT_TRUE(waiting.value().instances.empty());
}

TEST_F(ControllerTest, AServerLearnsAtOnceThatItHasToRegisterAgain) {
  EXPECT_FALSE(keep(1, 1).value()) << "never registered";
  add(1, 1, {offer("Index", "books")});
  EXPECT_FALSE(keep(2, 1).value()) << "over another connection";
  const auto kept = keep(1, 1);
  over(9, [&] { controller.deregister({nonce(1)}, Answer<void>().responder()); });
  ASSERT_TRUE(kept.given());
  EXPECT_FALSE(kept.value());
}

TEST_F(ControllerTest, ALongKeepIsCutToAThirdOfTheLease) {
  add(1, 1, {offer("Index", "books")});
  const auto kept = keep(1, 1, 3'600'000);
  pass(10s);
  ASSERT_TRUE(kept.given());
  EXPECT_TRUE(kept.value());
}

TEST_F(ControllerTest, DeregisteringTwiceIsADeclaredError) {
  add(1, 1, {offer("Index", "books")});
  Answer<void> first;
  Answer<void> second;
  controller.deregister({nonce(1)}, first.responder());
  controller.deregister({nonce(1)}, second.responder());
  EXPECT_TRUE((*first.outcome)->ok());
  ASSERT_NE((*second.outcome)->error_as<NotRegistered>(), nullptr);
  EXPECT_EQ((*second.outcome)->error_as<NotRegistered>()->nonce, nonce(1));
}

TEST_F(ControllerTest, ClientIdsDifferAndAreNeverZero) {
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 1000; ++i) {
    Answer<std::uint32_t> answer;
    controller.client_id({}, answer.responder());
    EXPECT_NE(answer.value(), 0U);
    ids.insert(answer.value());
  }
  EXPECT_EQ(ids.size(), 1000U);
}

TEST_F(ControllerTest, NobodyIsLeftWaitingWhenItCloses) {
  add(1, 1, {offer("Index", "books")});
  const auto waiting = watch_from(watch("Index").value());
  const auto kept = keep(1, 1);
  controller.close();
  ASSERT_TRUE(waiting.given() && kept.given());
  EXPECT_EQ(waiting.code(), Code::shutting_down);
  EXPECT_EQ(watch("Index").code(), Code::shutting_down);
  EXPECT_EQ(add(1, 2, {}).code(), Code::shutting_down);
}

TEST_F(ControllerTest, WhatItsStoreKeptCountsUntilTheLeaseIsOver) {
  add(1, 1, {offer("Index", "books")});
  add(1, 2, {offer("Index", "news")});
  Controller restarted(options());
  const auto seen = [&] {
    Answer<View> answer;
    restarted.watch({"Index", 0, 0, 0}, answer.responder());
    return answer.value().instances.size();
  };
  EXPECT_EQ(seen(), 2U);
  over(1, [&] {
    restarted.register_({nonce(2), {offer("Index", "news")}}, Answer<std::uint32_t>().responder());
  });
  clock->advance(20s);
  over(1, [&] { restarted.keep({nonce(2), 0}, Answer<bool>().responder()); });
  clock->advance(10s);
  restarted.tick();
  EXPECT_EQ(seen(), 1U);
}

TEST(ControllerThread, AnswersAWatchInItsOwnTime) {
  ControllerOptions options;
  options.log = Log(Level::off);
  Controller controller(options);
  Answer<View> first;
  controller.watch({"Index", 0, 0, 0}, first.responder());
  std::mutex mutex;
  std::condition_variable done;
  bool answered = false;
  controller.watch({"Index", first.value().epoch, first.value().revision, 20},
                   Responder<View>([&](Outcome<View>&&) {
                     const std::scoped_lock lock(mutex);
                     answered = true;
                     done.notify_all();
                   }));
  std::unique_lock lock(mutex);
  EXPECT_TRUE(done.wait_for(lock, 10s, [&] { return answered; }));
}

}  // namespace
}  // namespace mf::controller
