// A server with limits, over real sockets. Its capacity is a semaphore that the test controls; the client is
// simulated frame by frame, so that nothing is repeated automatically.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <semaphore>

#include "mf/core/blocking.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest::overload_test {
namespace {

using mf::Code;
using mf::Execution;
using mf::Where;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

/// twice(), note() and wait() each take a permit, which the test gives.
class Held final : public Echo {
 public:
  std::int32_t twice(std::int32_t x) override {
    begin(x);
    return 2 * x;
  }
  void note(std::int32_t x) override { begin(x); }

  std::vector<std::int32_t> begun() const {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }

  std::counting_semaphore<> permits{0};

 private:
  void begin(std::int32_t x) {
    {
      const std::scoped_lock lock(mutex_);
      begun_.push_back(x);
    }
    mf::blocking();
    permits.acquire();
  }
  mutable std::mutex mutex_;
  std::vector<std::int32_t> begun_;
};

struct Answer {
  Code code = Code::ok;
  Execution execution = Execution::unknown;
  std::string message;
};

/// A client whose frames the test controls.
class Caller {
 public:
  explicit Caller(const mf::Server& server, const mf::ServiceInfo& service = calls::methods::kEchoService,
                  std::vector<std::string_view> methods = {"twice", "note"})
      : peer_(mf::protocol::Role::client, mftest::connect(server.address(), 5s).value()) {
    peer_.session.send_hello();
    peer_.session.send_bind(0, {.fingerprint = service.fingerprint,
                                .service = service.name,
                                .agent = "",
                                .methods = std::move(methods)});
    (void)peer_.next(mf::protocol::EventType::bound);
  }

  std::uint32_t twice(std::uint32_t x, std::chrono::nanoseconds left = mf::kInfinite) {
    return send({.route = 0, .deadline = deadline(left)}, bytes_of(x));
  }
  void name() { (void)send({.route = 0}, {}); }
  /// A message with this many items.
  std::uint32_t batch(std::uint32_t items) {
    mf::Buffer payload;
    for (std::uint32_t i = 0; i < items; ++i) {
      const auto one = bytes_of(i);
      std::memcpy(payload.append(one.size()), one.data(), one.size());
    }
    return send({.route = 0, .count = items}, payload);
  }
  void note(std::uint32_t x, std::chrono::nanoseconds left = mf::kInfinite) {
    (void)send({.route = 1, .flags = mf::protocol::kOneway, .deadline = deadline(left)}, bytes_of(x));
  }
  void cancel(std::uint32_t id) {
    peer_.session.send_cancel(id);
    peer_.flush();
  }
  void close() { peer_.close(); }
  /// This many answers, by their ids.
  std::map<std::uint32_t, Answer> answers(std::size_t count) {
    std::map<std::uint32_t, Answer> all;
    for (std::size_t i = 0; i < count; ++i) {
      const auto reply = peer_.next(mf::protocol::EventType::reply);
      Answer answer{.code = reply.header.code(), .execution = Execution::unknown, .message = ""};
      mf::protocol::FailureRecord record;
      if (answer.code != Code::ok && mf::protocol::parse_failure(reply.payload, record)) {
        answer.execution = record.execution;
        answer.message = record.message;
      }
      EXPECT_TRUE(all.emplace(reply.header.id, answer).second) << "answered twice";
    }
    return all;
  }

 private:
  static std::uint16_t deadline(std::chrono::nanoseconds left) {
    return left == mf::kInfinite ? mf::protocol::kNoDeadline : mf::protocol::encode_deadline(left);
  }
  std::uint32_t send(const mf::protocol::RequestHead& head, const mf::Buffer& payload) {
    const auto id = peer_.session.send_request(head, std::span<const std::byte>(payload.span()));
    peer_.flush();
    return id;
  }

  Peer peer_;
};

std::vector<Code> codes(const std::map<std::uint32_t, Answer>& answers) {
  std::vector<Code> all;
  for (const auto& [id, answer] : answers) all.push_back(answer.code);
  return all;
}

using Limits = std::map<std::string, mf::Limit, std::less<>>;

struct LimitedServer {
  explicit LimitedServer(Limits limits, Where where = Where::worker,
                         mf::ServerOptions options = {.workers = 8})
      : log(std::make_shared<KeptLog>()), server([&] {
          options.log = mf::Log(log);
          return std::move(options);
        }()) {
    server.offer(servant, {.where = where, .limits = std::move(limits)});
    server.start();
  }
  ~LimitedServer() { servant->permits.release(1000); }

  [[nodiscard]] mf::MethodStats of(std::string_view method) const {
    for (auto& one : server.stats().methods)
      if (one.method == method) return one;
    return {};
  }
  /// Waits until so many calls run, and so many wait.
  [[nodiscard]] bool busy(std::size_t running, std::size_t waiting) const {
    return eventually([&] {
      const auto now = server.stats();
      return now.running == running && now.waiting == waiting && servant->begun().size() >= running;
    });
  }

  std::shared_ptr<KeptLog> log;
  std::shared_ptr<Held> servant = std::make_shared<Held>();
  mf::Server server;
};

class Overload : public testing::TestWithParam<Where> {};

INSTANTIATE_TEST_SUITE_P(Where, Overload, testing::Values(Where::adaptive, Where::worker, Where::io_thread),
                         [](const auto& info) {
                           return info.param == Where::adaptive ? "Adaptive"
                                  : info.param == Where::worker ? "Worker"
                                                                : "IoThread";
                         });

TEST_P(Overload, SoManyRunSoManyWaitAndTheOthersAreRefusedAtOnceAndNeverRun) {
  LimitedServer test({{"twice", {.concurrent = 3, .queued = 2}}}, GetParam());
  Caller caller(test.server);
  for (std::uint32_t x = 1; x <= 8; ++x) caller.twice(x);
  const auto refused = caller.answers(3);
  for (const auto& [id, answer] : refused) {
    EXPECT_EQ(answer.code, Code::overloaded);
    EXPECT_EQ(answer.execution, Execution::not_executed);
    EXPECT_EQ(answer.message,
              "at most 3 calls of mftest.calls.Echo.twice run at once on this server, and 2 wait");
  }
  ASSERT_TRUE(test.busy(3, 2));
  EXPECT_EQ(test.servant->begun().size(), 3U);
  test.servant->permits.release(5);
  EXPECT_THAT(codes(caller.answers(5)), testing::Each(Code::ok));
  EXPECT_THAT(test.servant->begun(), UnorderedElementsAre(1, 2, 3, 4, 5));
  const auto stats = test.of("twice");
  EXPECT_EQ(stats.executed, 5U);
  EXPECT_EQ(stats.refused, 3U);
  EXPECT_EQ(stats.expired, 0U);
  EXPECT_TRUE(test.busy(0, 0));
}

TEST_P(Overload, OnewayCallsAreDroppedCountedAndLoggedOnceAndTheOthersKeepTheirOrder) {
  LimitedServer test({{"note", {.concurrent = 1, .queued = 4}}}, GetParam());
  Caller caller(test.server);
  for (std::uint32_t x = 1; x <= 8; ++x) caller.note(x);
  ASSERT_TRUE(test.busy(1, 4));
  ASSERT_TRUE(eventually([&] { return test.of("note").dropped == 3; }));
  test.servant->permits.release(5);
  ASSERT_TRUE(test.busy(0, 0));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(test.of("note").executed, 5U);
  EXPECT_EQ(test.of("note").refused, 0U);
  EXPECT_TRUE(test.log->has("oneway_calls_dropped"));
  EXPECT_TRUE(
      test.log->has("at most 1 calls of mftest.calls.Echo.note run at once on this server, and 4 wait"));
  EXPECT_EQ(test.log->warnings(), 1U);
  // The lane continues.
  test.servant->permits.release(1);
  caller.note(9);
  ASSERT_TRUE(eventually([&] { return test.of("note").executed == 6; }));
}

TEST_P(Overload, TheServersLimitCountsAllMethodsAndOnewayCallsToo) {
  LimitedServer test({}, GetParam(), {.workers = 8, .limit = {.concurrent = 2, .queued = 1}});
  Caller caller(test.server);
  caller.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  caller.note(2);
  ASSERT_TRUE(test.busy(2, 0));
  caller.note(3);  // waits for the previous one
  ASSERT_TRUE(test.busy(2, 1));
  Caller other(test.server);
  other.twice(4);
  const auto refused = other.answers(1);
  EXPECT_EQ(refused.begin()->second.code, Code::overloaded);
  EXPECT_EQ(refused.begin()->second.message, "at most 2 calls run at once on this server, and 1 wait");
  test.servant->permits.release(3);
  EXPECT_THAT(codes(caller.answers(1)), ElementsAre(Code::ok));
  ASSERT_TRUE(test.busy(0, 0));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 2, 3));
}

TEST(OverloadOrder, TheEarliestDeadlineRunsFirst) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 9}}});
  Caller caller(test.server);
  caller.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  caller.twice(2);
  caller.twice(3, 3h);
  caller.twice(4, 1h);
  caller.twice(5, 2h);
  ASSERT_TRUE(test.busy(1, 4));
  test.servant->permits.release(5);
  EXPECT_THAT(codes(caller.answers(5)), testing::Each(Code::ok));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 4, 5, 3, 2));
}

TEST(OverloadOrder, ACallWhoseDeadlinePassesInTheQueueIsNeverRun) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 2}}});
  Caller caller(test.server);
  caller.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  const auto late = caller.twice(2, 1ms);
  caller.twice(3, 1h);
  std::this_thread::sleep_for(20ms);
  const auto fourth = caller.twice(4, 2h);  // the expired one makes room for it
  const auto first = caller.answers(1);
  EXPECT_EQ(first.begin()->first, late);
  EXPECT_EQ(first.begin()->second.code, Code::deadline_exceeded);
  EXPECT_EQ(first.begin()->second.execution, Execution::not_executed);
  test.servant->permits.release(3);
  EXPECT_TRUE(caller.answers(3).contains(fourth));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 3, 4));
  EXPECT_EQ(test.of("twice").expired, 1U);
  EXPECT_EQ(test.of("twice").executed, 3U);
}

TEST(OverloadOrder, AnExpiredOnewayCallDoesNotHoldItsLaneUp) {
  LimitedServer test({{"note", {.concurrent = 1, .queued = 3}}});
  Caller caller(test.server);
  caller.note(1);
  caller.note(2, 1ms);
  caller.note(3);
  ASSERT_TRUE(test.busy(1, 2));
  std::this_thread::sleep_for(20ms);
  test.servant->permits.release(2);
  ASSERT_TRUE(test.busy(0, 0));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 3));
  EXPECT_EQ(test.of("note").expired, 1U);
}

TEST(OverloadOrder, ACallBehindAOnewayOneWaitsForItAndThenForItsOwnSlot) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 2}}});
  Caller holder(test.server);
  holder.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  Caller caller(test.server);
  caller.note(2);
  ASSERT_TRUE(eventually([&] { return test.servant->begun().size() == 2; }));
  caller.twice(3);
  ASSERT_TRUE(test.busy(1, 1));
  test.servant->permits.release(3);
  EXPECT_THAT(codes(holder.answers(1)), ElementsAre(Code::ok));
  EXPECT_THAT(codes(caller.answers(1)), ElementsAre(Code::ok));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 2, 3));
}

TEST(OverloadQueue, ACancelledCallGivesItsPlaceAwayAtOnce) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 1}}});
  Caller caller(test.server);
  const auto runs = caller.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  const auto given_up = caller.twice(2);
  ASSERT_TRUE(test.busy(1, 1));
  caller.cancel(given_up);
  const auto cancelled = caller.answers(1);
  EXPECT_EQ(cancelled.begin()->first, given_up);
  EXPECT_EQ(cancelled.begin()->second.code, Code::cancelled);
  const auto waits = caller.twice(3);
  ASSERT_TRUE(test.busy(1, 1));
  test.servant->permits.release(2);
  const auto rest = caller.answers(2);
  EXPECT_THAT(codes(rest), testing::Each(Code::ok));
  EXPECT_TRUE(rest.contains(runs) && rest.contains(waits));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1, 3));
}

TEST(OverloadQueue, CallsOfAConnectionThatHasEndedGiveTheirPlacesAway) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 3}}});
  Caller holder(test.server);
  holder.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  {
    Caller gone(test.server);
    gone.twice(2);
    gone.twice(3);
    ASSERT_TRUE(test.busy(1, 2));
    gone.close();
  }
  ASSERT_TRUE(test.busy(1, 0));
  test.servant->permits.release(1);
  EXPECT_THAT(codes(holder.answers(1)), ElementsAre(Code::ok));
  EXPECT_THAT(test.servant->begun(), ElementsAre(1));
}

TEST(OverloadQueue, AMessageOfABatchIsOneCallOfTheLimitAndAllItsItemsAreCounted) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 1}}});
  Caller caller(test.server);
  caller.batch(3);
  ASSERT_TRUE(test.busy(1, 0));
  caller.batch(4);
  caller.batch(5);
  EXPECT_EQ(caller.answers(1).begin()->second.code, Code::overloaded);
  test.servant->permits.release(7);
  EXPECT_THAT(codes(caller.answers(2)), testing::Each(Code::ok));
  EXPECT_EQ(test.of("twice").executed, 7U);
  EXPECT_EQ(test.of("twice").refused, 5U);
}

TEST(OverloadQueue, StoppingAnswersWhatWaits) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 1}}}, Where::worker,
                     {.workers = 8, .drain_timeout = 1ms});
  Caller caller(test.server);
  const auto runs = caller.twice(1);
  ASSERT_TRUE(test.busy(1, 0));
  const auto waits = caller.twice(2);
  ASSERT_TRUE(test.busy(1, 1));
  std::thread stopping([&] { test.server.stop(); });
  const auto dropped = caller.answers(1);
  test.servant->permits.release(1);
  const auto ended = caller.answers(1);
  stopping.join();
  ASSERT_EQ(dropped.begin()->first, waits);
  EXPECT_EQ(dropped.begin()->second.code, Code::shutting_down);
  EXPECT_EQ(dropped.begin()->second.execution, Execution::not_executed);
  EXPECT_EQ(ended.begin()->first, runs);
  EXPECT_EQ(ended.begin()->second.code, Code::ok);
  EXPECT_THAT(test.servant->begun(), ElementsAre(1));
}

// The slot is released before the answer is sent.
TEST_P(Overload, OneCallerThatWaitsForEachAnswerIsNeverRefused) {
  LimitedServer test({{"twice", {.concurrent = 1, .queued = 0}}}, GetParam());
  test.servant->permits.release(500);
  Caller caller(test.server);
  for (std::uint32_t x = 0; x < 500; ++x) {
    caller.twice(x);
    ASSERT_EQ(caller.answers(1).begin()->second.code, Code::ok) << x;
  }
}

/// Keeps its responders until the test answers.
class Keeping final : public calls::OtherAsyncServant {
 public:
  void note(calls::OtherNoteRequest /*request*/) override {}
  void name(calls::OtherNameRequest /*request*/, mf::Responder<std::string> responder) override {
    const std::scoped_lock lock(mutex);
    open.push_back(std::move(responder));
  }
  std::size_t count() {
    const std::scoped_lock lock(mutex);
    return open.size();
  }
  void answer_first() {
    const std::scoped_lock lock(mutex);
    open.front().respond(std::string("kept"));
    open.pop_front();
  }

  std::mutex mutex;
  std::deque<mf::Responder<std::string>> open;
};

TEST(OverloadAsync, ACallOfAnAsynchronousServantCountsUntilItIsAnswered) {
  const auto servant = std::make_shared<Keeping>();
  mf::Server server;
  server.offer(servant, {.limits = {{"name", {.concurrent = 2, .queued = 1}}}});
  server.start();
  Caller caller(server, calls::methods::kOtherService, {"name"});
  for (int i = 0; i < 4; ++i) caller.name();
  EXPECT_EQ(caller.answers(1).begin()->second.code, Code::overloaded);
  ASSERT_TRUE(eventually([&] { return servant->count() == 2; }));
  servant->answer_first();
  EXPECT_EQ(caller.answers(1).begin()->second.code, Code::ok);
  ASSERT_TRUE(eventually([&] { return servant->count() == 2; }));
  servant->answer_first();
  servant->answer_first();
  EXPECT_THAT(codes(caller.answers(2)), testing::Each(Code::ok));
}

TEST(OverloadOptions, ALimitForAMethodThatTheServiceDoesNotHaveIsRefused) {
  mf::Server server;
  const auto failure = failure_of([&] {
    server.offer(std::make_shared<Echo>(), {.limits = {{"twcie", {.concurrent = 1}}}});
    return 0;
  });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_THAT(failure.message, HasSubstr("twcie"));
}

TEST(OverloadStats, CountPerMethodAndAgentWithoutAnyLimit) {
  Calling calling;
  for (int i = 0; i < 100; ++i) (void)calling.stub.twice(i);
  const calls::PartClient part(calling.client);
  (void)part.at("books").name();
  std::vector<calls::EchoTwiceRequest> requests(300);
  (void)calling.stub.twice_bulk(requests);
  const auto stats = calling.server.stats();
  EXPECT_EQ(stats.executed, 401U);
  EXPECT_EQ(stats.running, 0U);
  std::map<std::string, std::uint64_t> executed;
  for (const auto& one : stats.methods) {
    if (one.executed != 0) executed[one.service + "/" + one.agent + "/" + one.method] = one.executed;
  }
  EXPECT_THAT(executed, ElementsAre(std::pair("mftest.calls.Echo//twice", 400U),
                                    std::pair("mftest.calls.Part/books/name", 1U)));
}

}  // namespace
}  // namespace mftest::overload_test
