// Values that readers refuse are never sent: a client refuses them before sending, a server answers with the
// reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mf/server/server.hpp"
#include "support/joined.hpp"

namespace mftest::unreadable_test {
namespace {

using mf::Code;
using mf::Execution;

const std::string kNoText = "a\xff";

calls::Loose nested(int levels) {
  calls::Loose loose;
  for (; levels > 0; --levels) {
    calls::Loose outer;
    outer.inside.push_back(std::move(loose));
    loose = std::move(outer);
  }
  return loose;
}

mf::Graph<calls::Node> node(bool ring) {
  mf::Graph<calls::Node> graph(calls::Node{.name = "n"});
  if (ring) graph->next = graph.root();
  return graph;
}

class OddServant final : public calls::OddServant {
 public:
  std::uint32_t take(const calls::Loose& /*loose*/) override { return ++taken; }
  calls::Loose give(const std::string& what) override {
    calls::Loose loose;
    if (what == "error") throw calls::Careless(kNoText);
    if (what == "text") loose.inside.push_back({.text = kNoText});
    if (what == "mood") loose.mood = static_cast<calls::Mood>(2);
    if (what == "deep") loose = nested(32);
    if (what == "deepest") loose = nested(1000);
    if (what == "null") loose.node = node(false);
    return loose;
  }
  mf::Graph<calls::Node> node(bool ring) override { return unreadable_test::node(ring); }
  calls::OddTextsResult texts() override { return {.first = "a", .second = kNoText}; }

  std::atomic<std::uint32_t> taken = 0;
};

struct Odd {
  std::shared_ptr<OddServant> servant = std::make_shared<OddServant>();
  mf::Server server;
  mf::Client client{[this] {
    server.offer(servant);
    server.start();
    return server.address().str();
  }()};
  calls::OddClient stub{client};
};

void expect_refused(const mf::Failure& failure, Code code, std::string_view text) {
  EXPECT_EQ(failure.code, code) << failure.message;
  EXPECT_EQ(failure.message, text);
}

TEST(Unreadable, ArgumentsAreRefusedBeforeTheyAreSent) {
  Odd odd;
  const std::string method = "mftest.calls.Odd.take: ";
  const auto refused = [&](const calls::Loose& loose, std::string_view text) {
    const auto failure = failure_of([&] { return odd.stub.take(loose); });
    expect_refused(failure, Code::invalid_argument, method + std::string(text));
    EXPECT_EQ(failure.execution, Execution::not_executed);
  };
  refused({.text = kNoText}, "loose.text: a string is not UTF-8");
  refused({.mood = static_cast<calls::Mood>(2)},
          "loose.mood: an enum has a value that its type does not know");
  refused({.node = node(false)}, "loose.node.node[0].next: the reference is null");
  const auto deep = failure_of([&] { return odd.stub.take(nested(32)); });
  EXPECT_EQ(deep.code, Code::invalid_argument);
  EXPECT_THAT(deep.message, testing::HasSubstr("loose.inside[0].inside[0]."));
  const std::string too_deep = "structs and containers are nested too deep";
  refused(nested(1000), too_deep);
  std::vector<calls::OddTakeRequest> last(2);
  last.back().loose = nested(1000);
  expect_refused(failure_of([&] { return odd.stub.take_bulk(last); }), Code::invalid_argument,
                 method + "item 1: " + too_deep);
  const std::vector<calls::OddTakeRequest> requests{{}, {.loose = {.text = kNoText}}};
  expect_refused(failure_of([&] { return odd.stub.take_bulk(requests); }), Code::invalid_argument,
                 method + "item 1: loose.text: a string is not UTF-8");
  EXPECT_EQ(odd.servant->taken, 0U);
  EXPECT_EQ(odd.stub.take(nested(30)), 1U);
  EXPECT_EQ(odd.stub.take({.text = "é", .node = node(true)}), 2U);
}

TEST(Unreadable, ResultsAndErrorsAreAnsweredWithWhatIsWrong) {
  Odd odd;
  const std::string result = "the handler's result breaks the schema: ";
  const auto given = [&](const std::string& what) { return failure_of([&] { return odd.stub.give(what); }); };
  expect_refused(given("text"), Code::handler_failed, result + "Loose.inside[0].text: a string is not UTF-8");
  expect_refused(given("mood"), Code::handler_failed,
                 result + "Loose.mood: an enum has a value that its type does not know");
  expect_refused(given("null"), Code::handler_failed,
                 result + "the result.node.node[0].next: the reference is null");
  EXPECT_EQ(given("deep").code, Code::handler_failed);
  expect_refused(given("deepest"), Code::handler_failed,
                 result + "structs and containers are nested too deep");
  expect_refused(given("error"), Code::handler_failed,
                 "the handler's error breaks the schema: Careless.why: a string is not UTF-8");
  expect_refused(failure_of([&] { return odd.stub.node(false); }), Code::handler_failed,
                 result + "the result.node[0].next: the reference is null");
  expect_refused(failure_of([&] { return odd.stub.texts(); }), Code::handler_failed,
                 result + "the result.second: a string is not UTF-8");
  EXPECT_EQ(odd.stub.node(true)->name, "n");
  EXPECT_EQ(given("").code, Code::ok);
}

TEST(Unreadable, OneItemOfABatchDoesNotSpoilTheOthers) {
  Odd odd;
  const std::vector<calls::OddGiveRequest> requests{{.what = ""}, {.what = "text"}, {.what = "error"}, {}};
  const auto outcomes = odd.stub.give_bulk(requests);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_TRUE(outcomes[0].ok() && outcomes[3].ok());
  EXPECT_EQ(outcomes[1].failure().code, Code::handler_failed);
  EXPECT_EQ(outcomes[2].failure().code, Code::handler_failed);
}

}  // namespace
}  // namespace mftest::unreadable_test
