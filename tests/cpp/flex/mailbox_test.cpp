// What a receiver gets: by value, kind and function, in the order of arrival, whichever thread asks first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "flex/in_one_node.hpp"
#include "support/wait.hpp"

namespace mftest::mailbox_test {
namespace {

using namespace std::chrono_literals;
using mf::Code;
using mf::flex::Kind;
using mf::flex::Message;
using mf::flex::Pattern;
using mf::flex::Value;
using testing::ElementsAre;

TEST(FlexReceivers, GetMessagesInTheOrderOfArrival) {
  InOneNode one;
  one.send_all({{{"n", 1}}, {{"n", 2}}, {{"n", 3}}});
  EXPECT_THAT(one.numbers(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(one.b.poll());
  EXPECT_FALSE(one.b.recv_nb());  // its name in MPI
}

TEST(FlexReceivers, LeaveWhatDoesNotMatchInItsPlace) {
  InOneNode one;
  one.send_all({{{"n", 1}, {"tag", "x"}}, {{"n", 2}, {"tag", "y"}}, {{"n", 3}, {"tag", "x"}}});
  EXPECT_EQ(one.b.recv(kLong, {{"tag", "y"}})["n"], 2);
  EXPECT_FALSE(one.b.poll({{"tag", "y"}}));
  EXPECT_EQ(one.b.recv(kLong, {{"src", "A"}, {"tag", "x"}})["n"], 1);
  EXPECT_THAT(one.numbers(), ElementsAre(3));
}

TEST(FlexReceivers, MatchAValueByItsEqualOfTheSameKindAlone) {
  InOneNode one;
  one.send_all({{{"n", 1}, {"tag", 1}},
                {{"n", 2}, {"tag", 1.0}},
                {{"n", 3}, {"tag", true}},
                {{"n", 4}, {"tag", "1"}}});
  EXPECT_EQ(one.b.recv(kLong, {{"tag", true}})["n"], 3);
  EXPECT_EQ(one.b.recv(kLong, {{"tag", 1.0}})["n"], 2);
  EXPECT_EQ(one.b.recv(kLong, {{"tag", 1}})["n"], 1);
  EXPECT_FALSE(one.b.poll({{"tag", 1}}));
  EXPECT_FALSE(one.b.poll({{"other", mf::flex::any}}));
}

TEST(FlexReceivers, AskForKindsAndForPresence) {
  InOneNode one;
  one.send_all({{{"n", 1}, {"x", mf::flex::Array(std::vector<float>{1})}},
                {{"n", 2}, {"x", {1, 2}}},
                {{"n", 3}, {"x", "text"}},
                {{"n", 4}, {"x", nullptr}},
                {{"n", 5}, {"y", 1}}});
  EXPECT_EQ(one.b.recv(kLong, {{"x", mf::flex::of<std::string>()}})["n"], 3);
  EXPECT_EQ(one.b.recv(kLong, {{"x", Kind::list}})["n"], 2);
  EXPECT_EQ(one.b.recv(kLong, {{"x", Kind::none}})["n"], 4);
  EXPECT_EQ(one.b.recv(kLong, {{"y", mf::flex::any}})["n"], 5);
  EXPECT_EQ(one.b.recv(kLong, {{"x", Kind::array}})["n"], 1);
}

TEST(FlexReceivers, AskAFunctionOnceForEachValueThatDiffers) {
  InOneNode one;
  for (int i = 0; i < 100; ++i) one.send_all({{{"n", i}, {"tag", i % 5}}});
  int asked = 0;
  const Pattern four{{"src", "A"}, {"tag", [&asked](const Value& tag) {
                                      ++asked;
                                      return tag == 4;
                                    }}};
  EXPECT_EQ(one.b.recv(kLong, four)["n"], 4);
  EXPECT_EQ(asked, 5);
  EXPECT_TRUE(one.b.peek(four));
  EXPECT_EQ(one.b.waiting(), 99U);
}

TEST(FlexReceivers, GetWhatAFunctionThrowsAndTheMessagesStay) {
  InOneNode one;
  one.send_all({{{"n", 1}}});
  const Pattern throwing{{"n", [](const Value&) -> bool { throw std::runtime_error("no idea"); }}};
  EXPECT_THROW((void)one.b.recv(kLong, throwing), std::runtime_error);
  EXPECT_THROW((void)one.b.poll(throwing), std::runtime_error);
  EXPECT_THAT(one.numbers(), ElementsAre(1));
}

TEST(FlexReceivers, WaitForWhatTheyAskForAndGiveUpAtTheirLimit) {
  InOneNode one;
  auto waiting = std::async(std::launch::async, [&] { return one.b.recv(kLong, {{"tag", 7}})["n"]; });
  one.send_all({{{"n", 1}, {"tag", 6}}, {{"n", 2}, {"tag", 7}}});
  EXPECT_EQ(waiting.get(), 2);
  EXPECT_FALSE(one.b.poll(1ms, {{"tag", 7}}));
  EXPECT_EQ(
      one.refusal([&] { (void)one.b.recv(1ms, {{"tag", 7}, {"n", [](const Value&) { return true; }}}); }),
      "DEADLINE_EXCEEDED: nothing that matches n=<function>, tag=7 came to 'B' within 0.001 s; 1 others wait "
      "(not executed)");
}

TEST(FlexReceivers, AreRefusedWhatNoMessageCanHave) {
  InOneNode one;
  EXPECT_EQ(one.refusal([&] { (void)one.b.peek({{"x", mf::flex::Array(std::vector<float>{1})}}); }),
            "INVALID_ARGUMENT: x: arrays are not compared; ask for the kind or by a function (not executed)");
  EXPECT_EQ(one.refusal([&] { (void)one.b.peek({{"", 1}}); }),
            "INVALID_ARGUMENT: the name of an attribute has 1 to 255 bytes (not executed)");
  EXPECT_EQ(one.refusal([&] { (void)one.b.peek({{"x", 1}, {"x", 2}}); }),
            "INVALID_ARGUMENT: the attribute 'x' is asked for twice (not executed)");
}

/// Whatever comes, goes and is asked for: the same as a walk through all that waits would find.
TEST(FlexReceivers, FindWhatAWalkWouldFind) {
  std::mt19937 dice(20'261'125);
  const auto below = [&dice](int end) { return std::uniform_int_distribution<int>(0, end - 1)(dice); };
  InOneNode one;
  struct Waiting {
    int n, tag, kind;
  };
  std::vector<Waiting> waiting;
  const auto value_of = [](int kind, int tag) { return kind == 0 ? Value(tag) : Value(std::to_string(tag)); };
  for (int step = 0; step < 4'000; ++step) {
    if (below(2) == 0) {
      const Waiting each{.n = step, .tag = below(4), .kind = below(2)};
      one.send_all({{{"n", each.n}, {"tag", value_of(each.kind, each.tag)}}});
      waiting.push_back(each);
      continue;
    }
    const int tag = below(4);
    const int kind = below(2);
    const int how = below(4);
    Pattern pattern;
    if (how == 0) pattern.add("tag", value_of(kind, tag));
    if (how == 1) pattern.add("tag", kind == 0 ? Kind::integer : Kind::text);
    if (how == 2) pattern.add("tag", [&](const Value& each) { return each == value_of(kind, tag); });
    if (how == 2) pattern.add("src", "A");
    const auto matches = [&](const Waiting& each) {
      return how == 3 || (each.kind == kind && (how == 1 || each.tag == tag));
    };
    const auto expected = std::ranges::find_if(waiting, matches);
    ASSERT_EQ(one.b.peek(pattern), expected != waiting.end());
    const auto found = one.b.poll(pattern);
    ASSERT_EQ(found.has_value(), expected != waiting.end());
    if (!found) continue;
    ASSERT_EQ((*found)["n"], expected->n);
    waiting.erase(expected);
  }
  EXPECT_EQ(one.b.waiting(), waiting.size());
}

TEST(FlexReceivers, AreAskedNothingOfMessagesThatDoNotMatch) {
  InOneNode one;
  for (int i = 0; i < 1'000; ++i) one.send_all({{{"n", i}, {"tag", i % 2}}});
  int asked = 0;
  EXPECT_FALSE(one.b.poll({{"tag", 2}, {"n", [&](const Value&) {
                                          ++asked;
                                          return true;
                                        }}}));
  EXPECT_EQ(asked, 0);
}

TEST(FlexReceivers, OfSeveralThreadsGetEachMessageOnce) {
  InOneNode one;
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  std::mutex mutex;
  std::multiset<std::int64_t> got;
  std::vector<std::thread> receivers;
  for (int t = 0; t < kThreads; ++t) {
    receivers.emplace_back([&, t] {
      std::int64_t last = -1;
      for (int i = 0; i < kEach; ++i) {
        const auto message = t % 2 == 0 ? one.b.recv(kLong, {{"src", "A"}})
                                        : one.b.recv(kLong, {{"n", [](const Value&) { return true; }}});
        const auto n = message["n"].to<std::int64_t>();
        EXPECT_GT(n, last);
        last = n;
        const std::scoped_lock lock(mutex);
        got.insert(n);
      }
    });
  }
  for (int i = 0; i < kThreads * kEach; ++i) one.send_all({{{"n", i}}});
  for (auto& each : receivers) each.join();
  ASSERT_EQ(got.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), got.size());
}

TEST(FlexReceivers, ThatAreAsynchronousCompleteOrGiveUpOrAreCancelled) {
  InOneNode one;
  std::promise<std::int64_t> came;
  one.b.async_recv({{"tag", 1}}, [&](mf::Outcome<Message>&& outcome) {
    came.set_value(outcome.value()["n"].to<std::int64_t>());
  });
  one.send_all({{{"n", 1}, {"tag", 2}}, {{"n", 2}, {"tag", 1}}});
  EXPECT_EQ(came.get_future().get(), 2);
  std::promise<Code> late;
  one.b.async_recv(1ms, {{"tag", 1}},
                   [&](mf::Outcome<Message>&& outcome) { late.set_value(outcome.failure().code); });
  EXPECT_EQ(late.get_future().get(), Code::deadline_exceeded);
  std::promise<Code> left;
  one.b.async_recv(mf::kInfinite, {{"tag", 1}},
                   [&](mf::Outcome<Message>&& outcome) { left.set_value(outcome.failure().code); });
  one.b.leave();
  EXPECT_EQ(left.get_future().get(), Code::cancelled);
}

TEST(FlexReceivers, MayNotHoldUpTheThreadThatTheyWaitFor) {
  InOneNode one;
  std::promise<std::string> said;
  one.send_all({{{"n", 1}}});
  one.b.async_recv({{"n", 1}},
                   [&](mf::Outcome<Message>&&) { said.set_value(one.refusal([&] { (void)one.b.recv(); })); });
  EXPECT_EQ(
      said.get_future().get(),
      "INVALID_ARGUMENT: this would hold up the thread that it waits for: use the function that begins with "
      "async_ (not executed)");
}

TEST(FlexReceivers, AreToldWhenTheirProcessLeaves) {
  InOneNode one;
  auto waiting =
      std::async(std::launch::async, [&] { return one.refusal([&] { (void)one.b.recv(kLong); }); });
  one.b.leave();
  EXPECT_EQ(waiting.get(), "CANCELLED: the mailbox of 'B' is closed (not executed)");
}

TEST(FlexCallbacks, AreCalledWithWhatMatchesBeforeAnybodyElseGetsIt) {
  InOneNode one;
  one.send_all({{{"n", 1}, {"tag", "log"}}, {{"n", 2}, {"tag", "other"}}});
  std::mutex mutex;
  std::vector<std::int64_t> got;
  auto registered = one.b.on_message(
      [&](const Message& message) {
        const std::scoped_lock lock(mutex);
        got.push_back(message["n"].to<std::int64_t>());
      },
      {{"tag", "log"}});
  one.send_all({{{"n", 3}, {"tag", "log"}}});
  EXPECT_TRUE(eventually([&] { return registered.calls() == 2; }));
  registered.unregister();
  one.send_all({{{"n", 4}, {"tag", "log"}}});
  EXPECT_THAT(got, ElementsAre(1, 3));
  EXPECT_THAT(one.numbers(), ElementsAre(2, 4));
}

TEST(FlexCallbacks, ThatThrowAreCalledAgainAndCounted) {
  InOneNode one;
  auto registered = one.b.on_message([](const Message&) { throw std::runtime_error("boom"); });
  one.send_all({{{"n", 1}}, {{"n", 2}}});
  EXPECT_TRUE(eventually([&] { return registered.raised() == 2; }));
  EXPECT_EQ(registered.calls(), 2U);
}

TEST(FlexCallbacks, ByFunctionGetWhatTheFunctionTakes) {
  InOneNode one;
  std::promise<std::int64_t> even;
  const auto registered =
      one.b.on_message([&](const Message& message) { even.set_value(message["n"].to<std::int64_t>()); },
                       {{"n", [](const Value& n) {
                           if (n == 5) throw std::runtime_error("five");
                           return n.to<int>() % 2 == 0;
                         }}});
  one.send_all({{{"n", 1}}, {{"n", 5}}, {{"n", 2}}});
  EXPECT_EQ(even.get_future().get(), 2);
  EXPECT_TRUE(eventually([&] { return registered.calls() == 1; }));
  EXPECT_EQ(registered.raised(), 1U);
  EXPECT_THAT(one.numbers(), ElementsAre(1, 5));
}

TEST(FlexCallbacks, GiveBackWhatTheyWereNotCalledWith) {
  InOneNode one;
  std::binary_semaphore entered(0);
  std::binary_semaphore goes_on(0);
  auto registered = one.b.on_message([&](const Message&) {
    entered.release();
    goes_on.acquire();
  });
  one.send_all({{{"n", 1}}, {{"n", 2}}, {{"n", 3}}});
  entered.acquire();
  EXPECT_EQ(one.b.waiting(), 0U);
  std::thread unregistering([&] { registered.unregister(); });
  EXPECT_TRUE(eventually([&] { return one.b.waiting() == 2; }));
  goes_on.release();
  unregistering.join();
  EXPECT_THAT(one.numbers(), ElementsAre(2, 3));
}

TEST(FlexCallbacks, MayUnregisterThemselvesAndLeave) {
  InOneNode one;
  std::promise<void> left;
  std::optional<mf::flex::Registered> registered;
  registered.emplace(one.b.regcb([&](const Message&) {
    registered->unregister();
    one.b.leave();
    left.set_value();
  }));
  one.send_all({{{"n", 1}}});
  left.get_future().get();
}

}  // namespace
}  // namespace mftest::mailbox_test
