// Replicated calls with interceptors of their client around them.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/failure.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/interceptors/recorder.hpp"
#include "replicated/group.hpp"

namespace mftest {
namespace {

using mf::Answer;
using mf::AnswerDone;
using mf::CallEnd;
using mf::InterceptedCall;
using mf::Proceed;
using mf::interceptors::Recorder;
using namespace std::chrono_literals;

using OneHop = journal::methods::JournalOneHop;

/// Sees the text and the result, and answers one text itself.
class Watching final : public mf::AroundInterceptor {
 public:
  void begin(InterceptedCall& call) override {
    const auto requests = call.requests<OneHop>();
    text = requests.empty() ? "" : requests[0].text;
    if (text == "refuse")
      throw mf::Error(mf::Code::permission_denied, mf::Execution::not_executed, "not this one");
  }
  Answer call(InterceptedCall& /*call*/, const Proceed& proceed) override {
    return text == "known" ? known() : proceed();
  }
  void call_async(InterceptedCall& /*call*/, Proceed proceed, AnswerDone done) override {
    if (text == "known") return done(known());
    proceed.start(std::move(done));
  }
  void end(const InterceptedCall& /*call*/, const CallEnd& end) override {
    const auto* const given = end.value<Result>();
    version = given == nullptr ? 0 : given->version.counter;
  }

  static Answer known() {
    Result result;
    result.value = 77;
    return Answer::of(std::move(result));
  }

  std::string text;
  std::uint64_t version = 0;
};

/// One call, by a caller that blocks or that does not.
struct Caller {
  const char* name;
  mf::Outcome<Result> (*one_hop)(const journal::JournalClient& to, const std::string& text);
};

const Caller kCallers[] = {
    {"Blocking", [](const journal::JournalClient& to,
                    const std::string& text) { return mf::attempt([&] { return to.one_hop(text); }); }},
    {"Callback",
     [](const journal::JournalClient& to, const std::string& text) {
       std::promise<mf::Outcome<Result>> ended;
       to.async_one_hop(text, [&](mf::Outcome<Result>&& outcome) { ended.set_value(std::move(outcome)); });
       return ended.get_future().get();
     }},
};

class InterceptedReplicas : public testing::TestWithParam<Caller> {
 protected:
  mf::Outcome<Result> one_hop(const std::string& text) {
    return GetParam().one_hop(journal::JournalClient(client).at("s"), text);
  }

  Group group;
  const std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  const std::shared_ptr<Watching> watching = std::make_shared<Watching>();
  mf::Client client{group.where(), {.interceptors = {recorder, watching}}};
};
INSTANTIATE_TEST_SUITE_P(All, InterceptedReplicas, testing::ValuesIn(kCallers),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(InterceptedReplicas, SeeACallOfTheirOwnKind) {
  const auto outcome = one_hop("a page");

  ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
  const auto calls = recorder->wait_for(1);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].kind, mf::CallKind::replicated);
  EXPECT_STREQ(mf::name(calls[0].kind), "REPLICATED");
  EXPECT_EQ(calls[0].method, "one_hop");
  EXPECT_EQ(calls[0].agent, "s");
  EXPECT_EQ(calls[0].code, mf::Code::ok);
  EXPECT_EQ(calls[0].attempts, 1U);
  EXPECT_GT(calls[0].request_bytes, 0U);
  EXPECT_EQ(watching->text, "a page");
  EXPECT_EQ(watching->version, outcome.value().version.counter);
}

TEST_P(InterceptedReplicas, MayBeRefusedAndAnsweredWithoutAnyReplica) {
  const auto refused = one_hop("refuse");
  EXPECT_EQ(refused.failure().code, mf::Code::permission_denied);
  EXPECT_EQ(refused.failure().execution, mf::Execution::not_executed);
  EXPECT_EQ(one_hop("known").value().value, 77U);
  for (const auto& [name, pages] : group.pages) EXPECT_TRUE(pages->state().kept.empty()) << name;
}

TEST_P(InterceptedReplicas, SeeTheErrorsOfServants) {
  const auto failed = one_hop("bug");

  EXPECT_EQ(failed.failure().code, mf::Code::handler_failed);
  const auto calls = recorder->wait_for(1);
  EXPECT_EQ(calls[0].code, mf::Code::handler_failed);
  EXPECT_EQ(calls[0].failure.message, failed.failure().message);
}

TEST(InterceptedReplicas, HaveADeadlineThatInterceptorsMayChange) {
  struct Hurrying final : mf::Interceptor {
    void begin(InterceptedCall& call) override {
      EXPECT_EQ(call.deadline, mf::kNever);
      call.deadline = call.began() + 300ms;
    }
  };
  Group group;
  mf::Client client(group.where(), {.interceptors = {std::make_shared<Hurrying>()}});
  group.stop("a");
  group.stop("b");

  const auto late = mf::attempt(
      [&] { return journal::JournalClient(client).at("s").one_hop("x", {.deadline = mf::kInfinite}); });

  ASSERT_FALSE(late.ok()) << "one of three is no majority";
  EXPECT_EQ(late.failure().code, mf::Code::deadline_exceeded) << late.failure().message;
}

}  // namespace
}  // namespace mftest
