// Interceptors of clients, servers and light: their order, what they see, and what they may do. It mirrors
// tests/python/interceptors/test_interceptors.py.
#include <functional>
#include <mutex>
#include <stdexcept>

#include "interceptors/ways.hpp"
#include "mf/core/failure.hpp"

namespace mftest::intercepted {
namespace {

using mf::Answer;
using mf::AnswerDone;
using mf::CallEnd;
using mf::CallKind;
using mf::Code;
using mf::Execution;
using mf::InterceptedCall;
using mf::Proceed;
using namespace std::chrono_literals;

class Notes {
 public:
  void add(std::string note) {
    const std::scoped_lock lock(mutex_);
    notes_.push_back(std::move(note));
  }
  std::vector<std::string> all() {
    const std::scoped_lock lock(mutex_);
    return notes_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

/// Notes each hook.
class Noting final : public mf::AroundInterceptor {
 public:
  Noting(std::string name, Notes& notes) : name_(std::move(name)), notes_(notes) {}
  void begin(InterceptedCall& /*call*/) override { notes_.add(name_ + " begin"); }
  Answer call(InterceptedCall& /*call*/, const Proceed& proceed) override {
    notes_.add(name_ + " in");
    auto answer = proceed();
    notes_.add(name_ + " out");
    return answer;
  }
  void call_async(InterceptedCall& /*call*/, Proceed proceed, AnswerDone done) override {
    notes_.add(name_ + " in");
    proceed.start(AnswerDone([this, done = std::move(done)](Answer&& answer) mutable {
      notes_.add(name_ + " out");
      done(std::move(answer));
    }));
  }
  void end(const InterceptedCall& /*call*/, const CallEnd& /*end*/) override { notes_.add(name_ + " end"); }

 private:
  const std::string name_;
  Notes& notes_;
};

class Beginning final : public mf::Interceptor {
 public:
  explicit Beginning(std::function<void(InterceptedCall&)> function) : function_(std::move(function)) {}
  void begin(InterceptedCall& call) override { function_(call); }

 private:
  const std::function<void(InterceptedCall&)> function_;
};

/// Answers without going on.
class Instead final : public mf::AroundInterceptor {
 public:
  explicit Instead(std::function<Answer(InterceptedCall&)> function) : function_(std::move(function)) {}
  Answer call(InterceptedCall& call, const Proceed& /*proceed*/) override { return function_(call); }
  void call_async(InterceptedCall& call, Proceed /*proceed*/, AnswerDone done) override {
    done(function_(call));
  }

 private:
  const std::function<Answer(InterceptedCall&)> function_;
};

/// Changes the answer.
class Around final : public mf::AroundInterceptor {
 public:
  explicit Around(std::function<Answer(Answer&&)> function) : function_(std::move(function)) {}
  Answer call(InterceptedCall& /*call*/, const Proceed& proceed) override { return function_(proceed()); }
  void call_async(InterceptedCall& /*call*/, Proceed proceed, AnswerDone done) override {
    proceed.start(AnswerDone(
        [this, done = std::move(done)](Answer&& answer) mutable { done(function_(std::move(answer))); }));
  }

 private:
  const std::function<Answer(Answer&&)> function_;
};

Answer plus_one(Answer&& answer) {
  if (auto* const value = answer.value<std::int32_t>()) ++*value;
  return std::move(answer);
}

[[noreturn]] void refuse(InterceptedCall& /*call*/) {
  throw mf::Error(Code::unauthenticated, Execution::not_executed, "not today");
}

class EveryWay : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(, EveryWay, testing::ValuesIn(kWays),
                         [](const auto& info) { return std::string(info.param.name); });

std::shared_ptr<mf::Interceptor> beginning(std::function<void(InterceptedCall&)> function) {
  return std::make_shared<Beginning>(std::move(function));
}

TEST_P(EveryWay, TheFirstOneGivenIsTheOutermost) {
  Notes notes;
  const auto noting = [&](const char* name) { return std::make_shared<Noting>(name, notes); };
  Ends ends(GetParam(), {noting("c1"), noting("c2")}, {noting("s1"), noting("s2")});

  EXPECT_EQ(ends.twice(21).value(), 42);
  (void)ends.behind->wait_for(1);
  (void)ends.before->wait_for(1);

  EXPECT_EQ(notes.all(), (std::vector<std::string>{"c1 begin", "c2 begin", "c1 in", "c2 in", "s1 begin",
                                                   "s2 begin", "s1 in", "s2 in", "s2 out", "s1 out", "s2 end",
                                                   "s1 end", "c2 out", "c1 out", "c2 end", "c1 end"}));
}

TEST_P(EveryWay, BothSidesSeeTheCallAndItsEnd) {
  std::vector<std::int32_t> seen;
  const auto look = [&](InterceptedCall& call) {
    for (const auto& request : call.requests<calls::methods::EchoTwice>()) seen.push_back(request.x);
  };
  Ends ends(GetParam(), {beginning(look)}, {beginning(look)});

  EXPECT_EQ(ends.twice(21, {.deadline = 9s, .metadata = {{"tenant", "acme"}}}).value(), 42);
  const auto client = Ends::the_call(*ends.before);
  const auto served = Ends::the_call(*ends.behind);

  EXPECT_EQ(seen, (std::vector<std::int32_t>{21, 21}));
  for (const auto& each : {client, served}) {
    EXPECT_EQ(each.service, "mftest.calls.Echo");
    EXPECT_EQ(each.method, "twice");
    EXPECT_EQ(each.kind, CallKind::call);
    EXPECT_EQ(each.items, 1U);
    ASSERT_NE(each.metadata.find("tenant"), nullptr);
    EXPECT_EQ(*each.metadata.find("tenant"), "acme");
    EXPECT_GT(each.deadline_left, 0s);
    EXPECT_LT(each.deadline_left, 10s);
    EXPECT_EQ(each.code, Code::ok);
    EXPECT_EQ(each.attempts, 1U);
    EXPECT_GT(each.duration, 0ns);
  }
  EXPECT_TRUE(client.is_client);
  EXPECT_FALSE(served.is_client);
  EXPECT_EQ(client.identity, "");
  EXPECT_NE(served.identity, "");
  EXPECT_NE(served.peer, "");
  if (GetParam().in_light) return;
  EXPECT_EQ(client.peer, ends.server->address().str());
  EXPECT_EQ(served.request_bytes, 4U);
  EXPECT_EQ(served.reply_bytes, 4U);
  EXPECT_EQ(client.reply_bytes, 4U);
  EXPECT_GT(client.request_bytes, 4U);  // with the metadata
}

TEST_P(EveryWay, TheValueIsPartOfTheEnd) {
  std::vector<std::int32_t> values;
  struct Looking final : mf::Interceptor {
    explicit Looking(std::vector<std::int32_t>& into) : values(into) {}
    void end(const InterceptedCall& /*call*/, const CallEnd& end) override {
      if (const auto* const value = end.value<std::int32_t>()) values.push_back(*value);
    }
    std::vector<std::int32_t>& values;
  };
  Ends ends(GetParam(), {std::make_shared<Looking>(values)}, {std::make_shared<Looking>(values)});

  EXPECT_EQ(ends.twice(21).value(), 42);
  (void)ends.before->wait_for(1);
  (void)ends.behind->wait_for(1);

  EXPECT_EQ(values, (std::vector<std::int32_t>{42, 42}));
}

TEST_P(EveryWay, ADeclaredErrorIsAnEnd) {
  Ends ends(GetParam());

  EXPECT_NE(ends.fail("nope").error_as<calls::Nope>(), nullptr);

  for (const auto& recorder : {ends.before, ends.behind}) {
    const auto seen = Ends::the_call(*recorder);
    EXPECT_EQ(seen.code, Code::declared);
    EXPECT_EQ(mf::Outcome<void>(seen.failure).error_as<calls::Nope>()->why, "because");
  }
}

TEST_P(EveryWay, AClientMayRefuseAndNothingIsSent) {
  Ends ends(GetParam(), {beginning(&refuse)});

  const auto outcome = ends.twice(21);

  EXPECT_EQ(outcome.failure().message, "not today");
  EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
  EXPECT_EQ(Ends::the_call(*ends.before).code, Code::unauthenticated);
  EXPECT_TRUE(ends.behind->calls().empty());
  EXPECT_EQ(ends.echo->ran, 0);
}

TEST_P(EveryWay, AServerMayRefuseAndTheCallerGetsItAsItIs) {
  Ends ends(GetParam(), {}, {beginning(&refuse)});

  const auto outcome = ends.twice(21);

  EXPECT_EQ(outcome.failure().code, Code::unauthenticated);
  EXPECT_TRUE(outcome.failure().message.ends_with("not today")) << outcome.failure().message;
  EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
  EXPECT_EQ(Ends::the_call(*ends.behind).code, Code::unauthenticated);
  EXPECT_EQ(ends.echo->ran, 0);
}

TEST_P(EveryWay, AnOverloadedServerIsAskedAgainAndSeesEachRequest) {
  const auto full = [](InterceptedCall& /*call*/) {
    throw mf::Error(Code::overloaded, Execution::not_executed, "too much");
  };
  Ends ends(GetParam(), {}, {beginning(full)});

  EXPECT_EQ(ends.twice(21).failure().code, Code::overloaded);

  const auto asked = ends.behind->calls().size();
  EXPECT_EQ(asked, GetParam().in_light ? 1U : 3U);
  if (!GetParam().in_light) {
    EXPECT_EQ(Ends::the_call(*ends.before).attempts, asked);
  }
}

TEST_P(EveryWay, AroundAHandlerItMayRefuseBeforeGoingOn) {
  Ends ends(GetParam(), {},
            {std::make_shared<Instead>([](InterceptedCall& call) -> Answer { refuse(call); })});

  const auto outcome = ends.twice(21);

  EXPECT_EQ(outcome.failure().code, Code::unauthenticated);
  EXPECT_TRUE(outcome.failure().message.ends_with("not today")) << outcome.failure().message;
  EXPECT_EQ(ends.echo->ran, 0);
}

TEST_P(EveryWay, ADeclaredErrorMayRefuseToo) {
  const auto nope = [](InterceptedCall& /*call*/) { throw calls::Nope("never"); };
  Ends ends(GetParam(), {}, {beginning(nope)});

  const auto outcome = ends.fail("fine");

  ASSERT_NE(outcome.error_as<calls::Nope>(), nullptr);
  EXPECT_EQ(outcome.error_as<calls::Nope>()->why, "never");
}

TEST_P(EveryWay, ItMayAnswerWithoutGoingOn) {
  for (const bool at_server : {false, true}) {
    const mf::Interceptors answering{
        std::make_shared<Instead>([](InterceptedCall& /*call*/) { return Answer::of(std::int32_t{7}); })};
    Ends ends(GetParam(), at_server ? mf::Interceptors{} : answering,
              at_server ? answering : mf::Interceptors{});

    EXPECT_EQ(ends.twice(21).value(), 7);

    EXPECT_EQ(Ends::the_call(*ends.before).code, Code::ok);
    EXPECT_EQ(ends.echo->ran, 0);
    if (!at_server) {
      EXPECT_TRUE(ends.behind->calls().empty());
    }
  }
}

TEST_P(EveryWay, ItMayChangeTheAnswer) {
  for (const bool at_server : {false, true}) {
    const mf::Interceptors changing{std::make_shared<Around>(&plus_one)};
    Ends ends(GetParam(), at_server ? mf::Interceptors{} : changing,
              at_server ? changing : mf::Interceptors{});

    EXPECT_EQ(ends.twice(21).value(), 43);
  }
}

TEST_P(EveryWay, AnAnswerOfAnotherTypeIsAMistake) {
  Ends ends(GetParam(), {std::make_shared<Instead>(
                            [](InterceptedCall& /*call*/) { return Answer::of(std::string("forty-two")); })});

  const auto outcome = ends.twice(21);

  EXPECT_EQ(outcome.failure().code, Code::internal);
  EXPECT_EQ(outcome.failure().message, "an interceptor has answered with a value of another type");
}

TEST_P(EveryWay, AClientAddsMetadataAndTakesTimeAway) {
  const auto change = [](InterceptedCall& call) {
    call.metadata.set("tenant", "acme");
    call.deadline = std::min(call.deadline, mf::now() + 5s);
  };
  Ends ends(GetParam(), {beginning(change)});

  EXPECT_EQ(ends.twice(21).value(), 42);

  const auto served = Ends::the_call(*ends.behind);
  ASSERT_NE(served.metadata.find("tenant"), nullptr);
  EXPECT_EQ(*served.metadata.find("tenant"), "acme");
  EXPECT_LT(served.deadline_left, 6s);
}

TEST_P(EveryWay, AOneWayCallEndsAtBothSides) {
  Ends ends(GetParam());

  ends.stub->note(3);

  EXPECT_EQ(Ends::the_call(*ends.before).code, Code::ok);
  EXPECT_EQ(Ends::the_call(*ends.behind).code, Code::ok);
  EXPECT_EQ(ends.echo->notes(), std::vector<std::int32_t>{3});
}

TEST_P(EveryWay, ABulkIsOneCallWithAnOutcomeForEachItem) {
  Ends ends(GetParam());

  const auto outcomes = ends.stub->fail_bulk(
      std::vector<calls::EchoFailRequest>{{.how = "fine"}, {.how = "nope"}, {.how = "fine"}});

  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_NE(outcomes[1].error_as<calls::Nope>(), nullptr);
  for (const auto& recorder : {ends.before, ends.behind}) {
    const auto seen = Ends::the_call(*recorder);
    EXPECT_EQ(seen.kind, CallKind::bulk);
    EXPECT_EQ(seen.items, 3U);
    EXPECT_EQ(seen.code, Code::ok);
    EXPECT_EQ(seen.outcomes, (std::vector<Code>{Code::ok, Code::declared, Code::ok}));
  }
}

TEST_P(EveryWay, ABatchIsOneCallOfItsClient) {
  Ends ends(GetParam());
  const std::vector<calls::EchoTwiceRequest> requests{{.x = 1}, {.x = 2}, {.x = 3}, {.x = 4}, {.x = 5}};

  auto batch = ends.stub->twice_batch(requests, {.size = 2});
  const auto outcomes = batch.results();

  EXPECT_EQ(outcomes[4].value(), 10);
  const auto seen = Ends::the_call(*ends.before);
  EXPECT_EQ(seen.kind, CallKind::batch);
  EXPECT_EQ(seen.items, 5U);
  EXPECT_EQ(seen.outcomes, std::vector<Code>(5, Code::ok));
  if (GetParam().in_light) {
    EXPECT_EQ(Ends::the_call(*ends.behind).items, 5U);
    return;
  }
  std::vector<std::size_t> items;
  for (const auto& each : ends.behind->wait_for(3)) items.push_back(each.items);
  std::ranges::sort(items);
  EXPECT_EQ(items, (std::vector<std::size_t>{1, 2, 2}));
}

TEST_P(EveryWay, ABatchThatIsDroppedHasEnded) {
  Ends ends(GetParam());
  {
    auto batch =
        ends.stub->wait_batch(std::vector<calls::EchoWaitRequest>{{.ms = GetParam().in_light ? 0U : 300U}});
  }
  EXPECT_EQ(ends.before->open(), 0U);
  EXPECT_EQ(Ends::the_call(*ends.before).code, GetParam().in_light ? Code::ok : Code::cancelled);
  EXPECT_TRUE(ends.behind->wait_until_idle());
}

TEST_P(EveryWay, SingleItemsMayBeAnsweredOtherwise) {
  const auto change = [](Answer&& answer) {
    if (auto* const outcomes = answer.value<mf::Outcomes<std::int32_t>>())
      outcomes->back() = mf::not_executed(Code::overloaded, "one too many");
    return std::move(answer);
  };
  Ends ends(GetParam(), {}, {std::make_shared<Around>(change)});

  const auto outcomes =
      ends.stub->twice_bulk(std::vector<calls::EchoTwiceRequest>{{.x = 1}, {.x = 2}, {.x = 3}});

  EXPECT_EQ(outcomes[0].value(), 2);
  EXPECT_EQ(outcomes[1].value(), 4);
  EXPECT_EQ(outcomes[2].failure().code, Code::overloaded);
}

TEST_P(EveryWay, AScatteredCallIsOneWithAnOutcomeForEachAgent) {
  Ends ends(GetParam());

  const auto found = calls::PartClient(*ends.client).on({"books", "nowhere"}).name();

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].outcome.value(), "books");
  const auto seen = Ends::the_call(*ends.before);
  EXPECT_EQ(seen.kind, CallKind::scattered);
  ASSERT_EQ(seen.outcomes.size(), 2U);
  EXPECT_EQ(seen.outcomes[0], Code::ok);
  EXPECT_NE(seen.outcomes[1], Code::ok);
}

TEST_P(EveryWay, AStreamOfResultsEndsOnBothSides) {
  Ends ends(GetParam());
  std::vector<std::uint32_t> values;

  auto reader = ends.flow->count(3);
  while (auto value = reader.next()) values.push_back(*value);

  EXPECT_EQ(values, (std::vector<std::uint32_t>{0, 1, 2}));
  for (const auto& recorder : {ends.before, ends.behind}) {
    const auto seen = Ends::the_call(*recorder);
    EXPECT_EQ(seen.kind, CallKind::stream);
    EXPECT_EQ(seen.code, Code::ok);
    EXPECT_EQ(recorder->open(), 0U);
  }
}

TEST_P(EveryWay, AStreamOfParametersEndsOnBothSides) {
  Ends ends(GetParam());

  auto stream = ends.flow->sum(10);
  for (const std::uint32_t value : {1U, 2U, 3U}) stream.write(value);

  EXPECT_EQ(stream.finish(), 16U);
  for (const auto& recorder : {ends.before, ends.behind}) {
    const auto seen = Ends::the_call(*recorder);
    EXPECT_EQ(seen.kind, CallKind::stream);
    EXPECT_EQ(seen.code, Code::ok);
  }
}

TEST_P(EveryWay, BothDirectionsEndOnBothSides) {
  Ends ends(GetParam());

  auto stream = ends.flow->echo();
  stream.write(mf::Bytes("sea"));
  stream.done_writing();
  EXPECT_EQ(stream.next(), mf::Bytes("sea"));
  EXPECT_EQ(stream.next(), std::nullopt);

  for (const auto& recorder : {ends.before, ends.behind}) EXPECT_EQ(Ends::the_call(*recorder).code, Code::ok);
}

TEST_P(EveryWay, AStreamThatFailsEndsWithItsFailure) {
  Ends ends(GetParam());

  auto reader = ends.flow->count(5, 2);
  EXPECT_THROW(
      {
        while (reader.next()) {
        }
      },
      flow::Broke);

  for (const auto& recorder : {ends.before, ends.behind})
    EXPECT_EQ(Ends::the_call(*recorder).code, Code::declared);
}

TEST_P(EveryWay, AStreamThatIsGivenUpEndsAsCancelled) {
  Ends ends(GetParam());
  {
    auto reader = ends.flow->endless();
    EXPECT_EQ(reader.next(), 0U);
  }
  for (const auto& recorder : {ends.before, ends.behind}) {
    EXPECT_EQ(Ends::the_call(*recorder).code, Code::cancelled);
    EXPECT_EQ(recorder->open(), 0U);
  }
}

TEST_P(EveryWay, AStreamMayBeRefused) {
  for (const bool at_server : {false, true}) {
    const mf::Interceptors refusing{beginning(&refuse)};
    Ends ends(GetParam(), at_server ? mf::Interceptors{} : refusing,
              at_server ? refusing : mf::Interceptors{});

    const auto outcome = mf::attempt([&] { return ends.flow->count(3).next(); });

    EXPECT_EQ(outcome.failure().code, Code::unauthenticated);
    EXPECT_EQ(outcome.failure().execution, Execution::not_executed);
    EXPECT_EQ(Ends::the_call(*ends.before).code, Code::unauthenticated);
  }
}

// Interceptors that misbehave

TEST_P(EveryWay, OneThatThrowsAtTheServerFailsTheCallAlone) {
  const auto fail = [](InterceptedCall& call) {
    if (call.method() == "twice") throw std::runtime_error("a mistake");
  };
  for (const mf::Interceptors& broken :
       {mf::Interceptors{beginning(fail)},
        mf::Interceptors{std::make_shared<Instead>(
            [](InterceptedCall&) -> Answer { throw std::runtime_error("a mistake"); })}}) {
    Ends ends(GetParam(), {}, broken);

    const auto outcome = ends.twice(13);

    EXPECT_EQ(outcome.failure().code, Code::handler_failed);
    const auto& said = outcome.failure().message;
    EXPECT_EQ(said.ends_with("a mistake"), GetParam().in_light) << said;
    EXPECT_EQ(said.starts_with("the handler has failed: the log of its server "), !GetParam().in_light)
        << said;
    EXPECT_TRUE(ends.behind->wait_until_idle());
  }
}

TEST_P(EveryWay, OneThatThrowsAtTheClientFailsTheCallAsInternal) {
  Ends ends(GetParam(), {beginning([](InterceptedCall&) { throw std::runtime_error("a mistake"); })});

  const auto outcome = ends.twice(21);

  EXPECT_EQ(outcome.failure().code, Code::internal);
  EXPECT_EQ(outcome.failure().message, "an interceptor has thrown: a mistake");
  EXPECT_EQ(Ends::the_call(*ends.before).code, Code::internal);
  EXPECT_EQ(ends.before->open(), 0U);
}

TEST_P(EveryWay, WhatTheEndThrowsChangesNothing) {
  struct Broken final : mf::Interceptor {
    void end(const InterceptedCall& /*call*/, const CallEnd& /*end*/) override {
      throw std::runtime_error("a mistake");
    }
  };
  const mf::Interceptors broken{std::make_shared<Broken>()};
  Ends ends(GetParam(), broken, broken);

  EXPECT_EQ(ends.twice(21).value(), 42);

  for (const auto& recorder : {ends.before, ends.behind}) EXPECT_EQ(Ends::the_call(*recorder).code, Code::ok);
}

TEST_P(EveryWay, OneThatDropsTheCallAnswersIt) {
  struct Dropping final : mf::AroundInterceptor {
    Answer call(InterceptedCall& /*call*/, const Proceed& /*proceed*/) override { return {}; }
    void call_async(InterceptedCall& /*call*/, Proceed /*proceed*/, AnswerDone /*done*/) override {}
  };
  for (const bool at_server : {false, true}) {
    const mf::Interceptors dropping{std::make_shared<Dropping>()};
    Ends ends(GetParam(), at_server ? mf::Interceptors{} : dropping,
              at_server ? dropping : mf::Interceptors{});

    EXPECT_FALSE(ends.twice(21).ok());
    EXPECT_FALSE(mf::attempt([&] { ends.stub->note(3); }).ok() && !at_server);

    EXPECT_TRUE(ends.before->wait_until_idle());
    EXPECT_TRUE(ends.behind->wait_until_idle());
    EXPECT_EQ(ends.echo->ran, 0);
  }
}

class Twice final : public mf::AroundInterceptor {
 public:
  Answer call(InterceptedCall& /*call*/, const Proceed& proceed) override {
    auto first = proceed();
    if (!first.ok()) return first;
    auto second = proceed();
    if (second.ok()) *second.value<std::int32_t>() += *first.value<std::int32_t>();
    return second;
  }
  void call_async(InterceptedCall& /*call*/, Proceed proceed, AnswerDone done) override {
    proceed.start(AnswerDone([proceed, done = std::move(done)](Answer&& first) mutable {
      if (!first.ok()) return done(std::move(first));
      proceed.start(AnswerDone([first, done = std::move(done)](Answer&& second) mutable {
        if (second.ok()) *second.value<std::int32_t>() += *first.value<std::int32_t>();
        done(std::move(second));
      }));
    }));
  }
};

TEST_P(EveryWay, AHandlerCannotBeRunTwice) {
  Ends ends(GetParam(), {}, {std::make_shared<Twice>()});

  const auto outcome = ends.twice(21);

  EXPECT_EQ(outcome.failure().code, Code::handler_failed);
  const auto seen = Ends::the_call(*ends.behind).failure.message;
  EXPECT_TRUE(seen.ends_with("`proceed` was used before: a handler runs once for a call")) << seen;
  EXPECT_EQ(ends.echo->ran, 1);
}

TEST_P(EveryWay, AClientMayMakeAnotherRequest) {
  Ends ends(GetParam(), {std::make_shared<Twice>()});

  EXPECT_EQ(ends.twice(21).value(), 84);

  EXPECT_EQ(ends.behind->wait_for(2).size(), 2U);
  if (!GetParam().in_light) {
    EXPECT_EQ(Ends::the_call(*ends.before).attempts, 2U);
  }
}

TEST(Interceptors, OneThatCallsItsOwnClientIsNotAroundThatCall) {
  struct Asking final : mf::AroundInterceptor {
    Answer call(InterceptedCall& /*call*/, const Proceed& proceed) override {
      auto answer = proceed();
      *answer.value<std::int32_t>() += stub->twice(100);
      return answer;
    }
    void call_async(InterceptedCall& /*call*/, Proceed proceed, AnswerDone done) override {
      proceed.start(std::move(done));
    }
    std::optional<calls::EchoClient> stub;
  };
  const auto asking = std::make_shared<Asking>();
  Ends ends(kWays[0], {asking});
  asking->stub.emplace(*ends.client);

  EXPECT_EQ(ends.twice(1).value(), 202);

  EXPECT_EQ(ends.before->calls().size(), 1U);
  asking->stub.reset();  // it keeps the client, which keeps the interceptor
}

TEST(Interceptors, AHandlersOwnCallsAreIntercepted) {
  struct Around final : Part {
    explicit Around(calls::OtherClient to) : Part("a"), inner(std::move(to)) {}
    std::string name() override { return inner->name(); }
    std::optional<calls::OtherClient> inner;
  };
  const auto recorder = std::make_shared<mf::interceptors::Recorder>();
  mf::Light light;
  mf::Client client(light, {.interceptors = {recorder}});
  light.offer(std::make_shared<Other>("inner"));
  const auto around = std::make_shared<Around>(calls::OtherClient(client));
  light.offer(around, {.agent = "a"});

  EXPECT_EQ(calls::PartClient(client).at("a").name(), "inner");
  around->inner.reset();  // it keeps the light, which keeps the servant

  const auto seen = recorder->calls();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].service, "mftest.calls.Other");
  EXPECT_EQ(seen[1].service, "mftest.calls.Part");
  EXPECT_EQ(seen[1].agent, "a");
}

TEST(Interceptors, ACallThatIsLateHasEndedSoAtTheServer) {
  Ends ends(kWays[0]);

  EXPECT_EQ(mf::attempt([&] { ends.stub->wait(150, {.deadline = 30ms}); }).failure().code,
            Code::deadline_exceeded);

  EXPECT_EQ(Ends::the_call(*ends.before).code, Code::deadline_exceeded);
  EXPECT_EQ(Ends::the_call(*ends.behind).code, Code::deadline_exceeded);
}

TEST(Interceptors, NullIsRefused) {
  EXPECT_THROW(mf::Client("tcp://127.0.0.1:1", {.interceptors = {nullptr}}), mf::Error);
  EXPECT_THROW(mf::Server({.interceptors = {nullptr}}), mf::Error);
  EXPECT_THROW(mf::Light(mf::Log(), {nullptr}), mf::Error);
}

}  // namespace
}  // namespace mftest::intercepted
