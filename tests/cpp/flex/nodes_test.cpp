// Flexible messages between nodes: found by address and by a controller, followed, lost and reported as lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "flex/in_one_node.hpp"
#include "support/folder.hpp"
#include "support/running_controller.hpp"

namespace mftest::nodes_test {
namespace {

using namespace std::chrono_literals;
using mf::Code;
using mf::Execution;
using mf::flex::Full;
using mf::flex::Message;
using mf::flex::Node;
using mf::flex::Process;
using mf::flex::Undelivered;
using mf::flex::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// Two nodes, of which the near one has the far one's address.
struct Pair {
  explicit Pair(std::chrono::nanoseconds patience = kLong)
      : near(far.address(), {.patience = patience, .log = mf::Log(mf::Level::off)}) {}
  Node far{"", kQuiet};
  Node near;
};

Undelivered undelivered(const mf::flex::Sent& sent) {
  try {
    sent.wait(kLong);
  } catch (const Undelivered& error) {
    return error;
  }
  throw std::logic_error("it was delivered");
}

TEST(FlexNodes, ReachEachOtherByAddress) {
  Pair pair;
  auto b = pair.far.process("B");
  auto a = pair.near.process("A");
  const auto sent = a.send({{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3, 4, 5}}});
  a.send({{"dest", "B"}, {"tag", 42}, {"text", "the answer"}});
  const auto m = b.recv(kLong, {{"src", "A"}, {"tag", [](const Value& t) { return t == 23 || t == 42; }}});
  EXPECT_EQ(m.src(), "A");
  EXPECT_EQ(m["text"], "the answer");
  EXPECT_EQ(to_string(b.recv(kLong)),
            "mf::flex::Message(src='A', dest='B', data=[1, 2, 3, 4, 5], tag='input')");
  sent.wait(kLong);
  EXPECT_TRUE(sent.done());
  EXPECT_EQ(sent.copies(), 1U);
}

/// Two nodes over a unix socket; the far one has an access file.
struct Ruled {
  explicit Ruled(const std::string& rules)
      : file((folder.path() / "access.conf").string()), written(write(rules)) {}
  bool write(const std::string& rules) const { return static_cast<bool>(std::ofstream(file) << rules); }

  const Folder folder;
  const std::string file;
  const bool written;
  Node far{
      "",
      {.listen = "unix:" + (folder.path() / "far").string(), .access = file, .log = mf::Log(mf::Level::off)}};
  Node near{far.address(),
            {.listen = "unix:" + (folder.path() / "near").string(),
             .patience = kLong,
             .log = mf::Log(mf::Level::off)}};
};

std::string own_user() {
  return "uid:" + std::to_string(::geteuid());
}

TEST(FlexNodes, ANameThatTheIdentityMayHaveSendsAndAnotherIsRefused) {
  Ruled pair("allow " + own_user() + " send B\nallow " + own_user() + " register mf.flex.Mailbox per A\n");
  auto b = pair.far.process("B", {.groups = {"team"}});
  auto other = pair.far.process("other", {.groups = {"team"}});
  auto a = pair.near.process("A");
  auto c = pair.near.process("C");
  a.send({{"dest", "B"}, {"tag", "first"}});
  EXPECT_EQ(b.recv(kLong).src(), "A");
  const auto as_another = undelivered(c.send({{"dest", "B"}, {"tag", "x"}}));
  EXPECT_EQ(as_another.code(), Code::permission_denied);
  EXPECT_THAT(as_another.message(), HasSubstr(own_user() + " may not send as 'C'"));
  a.send({{"dest", "team/B"}, {"tag", "second"}});
  EXPECT_EQ(b.recv(kLong)["tag"], "second");
  for (const auto* const dest : {"other", "team/other"}) {
    const auto to_another = undelivered(a.send({{"dest", dest}, {"tag", "x"}}));
    EXPECT_EQ(to_another.code(), Code::permission_denied);
    EXPECT_EQ(to_another.execution(), Execution::not_executed);
  }
  EXPECT_FALSE(other.poll());
}

TEST(FlexNodes, ReadTheirAccessFileAgain) {
  const auto one =
      "allow " + own_user() + " send B\nallow " + own_user() + " register mf.flex.Mailbox per A\n";
  const auto other =
      "allow " + own_user() + " send C\nallow " + own_user() + " register mf.flex.Mailbox per A\n";
  Ruled pair(one);
  auto b = pair.far.process("B");
  auto c = pair.far.process("C");
  auto a = pair.near.process("A");
  a.send({{"dest", "B"}, {"tag", "allowed"}});
  EXPECT_EQ(b.recv(kLong)["tag"], "allowed");
  EXPECT_EQ(undelivered(a.send({{"dest", "C"}})).code(), Code::permission_denied);
  ASSERT_TRUE(pair.write(other));
  EXPECT_TRUE(pair.far.reload());
  a.send({{"dest", "C"}, {"tag", "allowed"}});
  EXPECT_EQ(c.recv(kLong)["tag"], "allowed");
  EXPECT_TRUE(eventually([&] {  // what the earlier connection carries may arrive until it is closed
    try {
      a.send({{"dest", "B"}, {"tag", "denied"}}).wait(500ms);
      return false;
    } catch (const mf::Error& error) {
      return error.code() == Code::permission_denied;
    }
  }));
  ASSERT_TRUE(pair.write("allow nonsense\n"));
  EXPECT_FALSE(pair.far.reload());
  a.send({{"dest", "C"}, {"tag", "still allowed"}});
  EXPECT_EQ(c.recv(kLong)["tag"], "still allowed");
}

TEST(FlexNodes, AreFoundAtAController) {
  const RunningController controller;
  Node one(controller.address().str(), kQuiet);
  Node two(controller.address().str(), kQuiet);
  auto a = one.process("A");
  auto b = two.process("B");
  a.send({{"dest", "B"}, {"n", 1}});
  EXPECT_EQ(b.recv(kLong)["n"], 1);
  b.send({{"dest", "A"}, {"n", 2}});
  EXPECT_EQ(a.recv(kLong)["n"], 2);
}

TEST(FlexNodes, AreFollowedWhenAProcessMoves) {
  const RunningController controller;
  Node one(controller.address().str(), {.patience = kLong, .log = mf::Log(mf::Level::off)});
  Node two(controller.address().str(), kQuiet);
  Node three(controller.address().str(), kQuiet);
  auto a = one.process("A");
  {
    auto b = two.process("B");
    a.send({{"dest", "B"}, {"n", 1}});
    EXPECT_EQ(b.recv(kLong)["n"], 1);
  }
  auto b = three.process("B");
  for (int n = 2;; ++n) {  // until the one that has left is forgotten
    const auto sent = a.send({{"dest", "B"}, {"n", n}});
    const auto found = b.poll(kLong);
    ASSERT_TRUE(found);
    if ((*found)["n"] == n) break;
  }
}

TEST(FlexNodes, DeliverInTheOrderOfSending) {
  Pair pair;
  auto b = pair.far.process("B");
  auto a = pair.near.process("A");
  constexpr int kMany = 20'000;
  std::thread sender([&] {
    for (int i = 0; i < kMany; ++i) a.send({{"dest", "B"}, {"i", i}});
  });
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(b.recv(kLong)["i"], i);
  sender.join();
}

TEST(FlexNodes, CarryLargeArraysWithoutACopyForEach) {
  Pair pair;
  auto b = pair.far.process("B");
  auto a = pair.near.process("A");
  std::vector<double> numbers(1'000'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  a.send({{"dest", "B"}, {"x", mf::flex::Array(numbers, {1000, 1000})}});
  const auto message = b.recv(kLong);
  const auto x = message["x"].get<mf::flex::Array>();
  EXPECT_EQ(x.shape(), (mf::flex::Array::Shape{1000, 1000}));
  EXPECT_EQ(x.view<double>().to_vector(), numbers);
}

TEST(FlexNodes, SendToAllMembersOfAGroup) {
  const RunningController controller;
  Node one(controller.address().str(), {.patience = kLong, .log = mf::Log(mf::Level::off)});
  Node two(controller.address().str(), kQuiet);
  auto a = one.process("A");
  auto w1 = one.process("w1", {.groups = {"workers"}});
  auto w2 = two.process("w2", {.groups = {"workers", "others"}});
  EXPECT_TRUE(eventually([&] { return one.members("workers").size() == 2; }));
  EXPECT_THAT(one.members("workers"), UnorderedElementsAre("workers/w1", "workers/w2"));
  EXPECT_THAT(one.members("others"), ElementsAre("others/w2"));
  const auto sent = a.send({{"dest", "workers/*"}, {"n", 1}});
  EXPECT_EQ(sent.copies(), 2U);
  for (auto* each : {&w1, &w2}) {
    const auto message = each->recv(kLong);
    EXPECT_EQ(message.dest(), "workers/*");
    EXPECT_EQ(message["n"], 1);
  }
  sent.wait(kLong);
  a.send({{"dest", "workers/w2"}, {"n", 2}});
  EXPECT_EQ(w2.recv(kLong)["n"], 2);
  EXPECT_FALSE(w1.peek());
}

TEST(FlexNodes, RefuseWhatCannotBeSent) {
  InOneNode one;
  EXPECT_EQ(
      refusal_of([&] { one.a.send({{"n", 1}}); }),
      "INVALID_ARGUMENT: name the receiver: {\"dest\", \"B\"}, or {\"dest\", \"GROUP/*\"} (not executed)");
  EXPECT_THAT(refusal_of([&] { one.a.send({{"dest", "B"}, {"src", "C"}}); }),
              HasSubstr("the runtime sets it"));
  EXPECT_THAT(refusal_of([&] { one.a.send({{"dest", "nobody"}}); }),
              HasSubstr("UNKNOWN_AGENT: this node has no process 'nobody', and has no other nodes to ask"));
  EXPECT_THAT(refusal_of([&] { one.a.send({{"dest", "nobody/*"}}); }),
              HasSubstr("UNKNOWN_AGENT: no process is in the group 'nobody'"));
  EXPECT_THAT(refusal_of([&] { one.a.send({{"dest", "B"}, {"x", std::string(16 << 20, 'x')}}); }),
              HasSubstr("MESSAGE_TOO_LARGE"));
  EXPECT_THAT(refusal_of([&] { one.a.send({{"dest", std::string(600, 'x')}}); }),
              HasSubstr("INVALID_ARGUMENT"));
  for (const auto* name : {"a/b", "*", "\xff"})
    EXPECT_THAT(refusal_of([&] { (void)one.node.process(name); }), HasSubstr("a name has 1 to 255 bytes"));
  EXPECT_THAT(refusal_of([&] { (void)one.node.process("A"); }), HasSubstr("has a process 'A' already"));
  EXPECT_EQ(one.node.process().name().size(), 36U);
}

TEST(FlexNodes, HaveEmptyMessages) {
  InOneNode one;
  one.a.send({{"dest", "B"}});
  const auto message = one.b.recv(kLong);
  EXPECT_EQ(message.size(), 0U);
  EXPECT_EQ(message["src"], "A");
  EXPECT_THAT(refusal_of([&] { (void)message["tag"]; }),
              HasSubstr("this message has no attribute 'tag': mf::flex::Message(src='A', dest='B')"));
}

TEST(FlexSenders, WaitFailOrDropWhereThereIsNoRoom) {
  InOneNode one({.max_messages = 4});
  one.send_all({{{"n", 1}}, {{"n", 2}}});  // half of it is for one sender
  const mf::flex::Attributes third{{"dest", "B"}, {"n", 3}};
  EXPECT_THAT(
      refusal_of([&] { one.a.send(third, {.when_full = Full::fail}); }),
      HasSubstr(
          "OVERLOADED: there is no room for this message on the way to 'B': the mailbox of 'B' is full"));
  EXPECT_THAT(
      refusal_of([&] { one.a.send(third, {.timeout = 1ms}); }),
      HasSubstr("DEADLINE_EXCEEDED: there was no room for the message on the way to 'B' in time: the mailbox "
                "of 'B' is full"));
  EXPECT_TRUE(one.a.send(third, {.when_full = Full::drop}).dropped());
  auto blocked = std::async(std::launch::async, [&] { return one.a.send(third).dropped(); });
  std::promise<bool> went;
  one.a.async_send(third, [&](mf::Outcome<mf::flex::Sent>&& sent) { went.set_value(sent.ok()); });
  std::promise<Code> late;
  one.a.async_send(third, {.timeout = 1ms},
                   [&](mf::Outcome<mf::flex::Sent>&& sent) { late.set_value(sent.failure().code); });
  EXPECT_EQ(late.get_future().get(), Code::deadline_exceeded);
  EXPECT_EQ(one.b.recv(kLong)["n"], 1);
  EXPECT_EQ(one.b.recv(kLong)["n"], 2);
  EXPECT_FALSE(blocked.get());
  EXPECT_TRUE(went.get_future().get());
  EXPECT_EQ(one.b.recv(kLong)["n"], 3);
  EXPECT_EQ(one.b.recv(kLong)["n"], 3);
  EXPECT_FALSE(one.b.peek());
}

TEST(FlexSenders, ThatFloodLeaveRoomForOthers) {
  InOneNode one({.max_messages = 4}, {.when_full = Full::drop});
  auto c = one.node.process("C");
  for (int n = 0; n < 100; ++n) one.send_all({{{"n", n}}});
  c.send({{"dest", "B"}, {"n", 7}}, {.when_full = Full::fail});
  EXPECT_THAT(one.numbers(), ElementsAre(0, 1, 7));
}

/// The failure of waiting for a message that was not taken yet.
std::string late(const mf::flex::Sent& sent) {
  return refusal_of([&] { sent.wait(0s); });
}

TEST(FlexSenders, FiveThatFloodAProcessLeaveRoomForASixthAndAreNotified) {
  constexpr int kFlood = 3'000;
  constexpr int kMatching = 100;
  const auto log = std::make_shared<KeptLog>();
  Node far("", {.log = mf::Log(log)});
  auto b = far.process("B", {.max_messages = 4'096});
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Process> senders;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back(std::make_unique<Node>(
        far.address(), mf::flex::NodeOptions{.patience = kLong, .log = mf::Log(mf::Level::off)}));
    senders.push_back(nodes.back()->process());
  }
  std::optional<mf::flex::Sent> last;
  for (int i = 0; i < 5; ++i) {
    for (int n = 0; n < kFlood; ++n)
      last = senders[static_cast<std::size_t>(i)].send({{"dest", "B"}, {"tag", "unmatched"}, {"n", n}});
  }
  EXPECT_TRUE(eventually([&] { return late(*last).find("is full") != std::string::npos; }));
  EXPECT_THAT(late(*last),
              HasSubstr("its receiver has not taken the message within 0 s: the mailbox of 'B' is full"));

  for (int n = 0; n < kMatching; ++n) senders[5].send({{"dest", "B"}, {"tag", "matching"}, {"n", n}});
  for (int n = 0; n < kMatching; ++n) ASSERT_EQ(b.recv(kLong, {{"tag", "matching"}})["n"], n);
  EXPECT_TRUE(log->has("mailbox_full mailbox=B messages="));

  for (int n = 0; n < 5 * kFlood; ++n) (void)b.recv(kLong, {{"tag", "unmatched"}});
  last->wait(kLong);
}

TEST(FlexSenders, ThatFloodAProcessLeaveRoomForOneWhoseMessagesAreTaken) {
  InOneNode one({.max_messages = 8'192}, {.when_full = Full::drop});
  std::vector<Process> floods;
  for (int i = 0; i < 40; ++i) {
    auto& flood = floods.emplace_back(one.node.process());
    while (!flood.send({{"dest", "B"}, {"tag", "flood"}}, {.when_full = Full::drop}).dropped()) {
    }
  }
  for (int n = 0; n < 100; ++n) {
    one.a.send({{"dest", "B"}, {"n", n}}, {.when_full = Full::fail});
    ASSERT_TRUE(floods[0].send({{"dest", "B"}, {"tag", "flood"}}, {.when_full = Full::drop}).dropped());
    ASSERT_EQ(one.b.recv(kLong, {{"src", "A"}})["n"], n);
  }
}

TEST(FlexSenders, AreHeldUpByAReceiverElsewhereThatTakesNothing) {
  Pair pair;
  auto b = pair.far.process("B", {.max_messages = 10});
  auto a = pair.near.process("A");
  int sent = 0;
  while (true) {
    const auto each = a.send({{"dest", "B"}, {"n", sent}}, {.when_full = Full::drop});
    if (each.dropped()) break;
    ASSERT_LT(++sent, 20'000);
  }
  EXPECT_EQ(sent, 16'384);  // the window of what was not taken yet
  EXPECT_TRUE(eventually([&] {
    const auto refused = refusal_of([&] { a.send({{"dest", "B"}}, {.when_full = Full::fail}); });
    return refused.find("on the way to 'B': the mailbox of 'B' is full") != std::string::npos;
  }));
  EXPECT_LE(b.waiting(), 5U);
  for (int n = 0; n < sent; ++n) ASSERT_EQ(b.recv(kLong)["n"], n);
}

TEST(FlexSenders, LearnWhatAProcessThatLeavesHasNotTaken) {
  for (const bool elsewhere : {false, true}) {
    Pair pair;
    auto& node = elsewhere ? pair.near : pair.far;
    auto b = pair.far.process("B");
    std::mutex mutex;
    std::vector<std::int64_t> lost;
    auto a = node.process("A", {.on_undelivered = [&](const Undelivered& undelivered) {
                            EXPECT_EQ(undelivered.execution(), Execution::not_executed);
                            const std::scoped_lock lock(mutex);
                            for (const auto& each : undelivered.messages())
                              lost.push_back(each["n"].to<std::int64_t>());
                          }});
    std::vector<mf::flex::Sent> sent;
    for (int n = 0; n < 4; ++n) sent.push_back(a.send({{"dest", "B"}, {"n", n}}));
    EXPECT_TRUE(eventually([&] { return b.waiting() == 4; }));
    EXPECT_EQ(b.recv(kLong, {{"n", 1}})["n"], 1);
    sent[1].wait(kLong);
    b.leave();
    EXPECT_THAT(undelivered(sent[0]).what(), HasSubstr("has closed its mailbox without taking the message"));
    for (const int n : {2, 3})
      EXPECT_EQ(undelivered(sent[static_cast<std::size_t>(n)]).code(), Code::cancelled);
    const std::scoped_lock lock(mutex);
    EXPECT_THAT(lost, ElementsAre(0, 2, 3));
  }
}

TEST(FlexSenders, LearnThatThereIsNobody) {
  Pair pair(50ms);
  auto a = pair.near.process("A");
  const auto sent = a.send({{"dest", "nobody"}, {"n", 1}});
  const auto error = undelivered(sent);
  EXPECT_EQ(error.execution(), Execution::not_executed);
  EXPECT_EQ(error.messages().front()["n"], 1);
  EXPECT_EQ(a.undelivered().size(), 1U);
  EXPECT_EQ(a.undelivered().size(), 0U);
  std::promise<Code> told;
  sent.async_wait([&](mf::Outcome<void>&& outcome) { told.set_value(outcome.failure().code); });
  EXPECT_EQ(told.get_future().get(), error.code());
}

TEST(FlexSenders, ReachAProcessThatComesInTime) {
  Pair pair;
  auto a = pair.near.process("A");
  a.send({{"dest", "B"}, {"n", 1}});
  auto b = pair.far.process("B");
  EXPECT_EQ(b.recv(kLong)["n"], 1);
}

TEST(FlexSenders, ReachTheNextProcessOfANameWithWhatIsSentFromThenOn) {
  Pair pair;
  auto a = pair.near.process("A");
  auto b = pair.far.process("B");
  const auto first = a.send({{"dest", "B"}, {"n", 1}});
  EXPECT_TRUE(eventually([&] { return b.waiting() == 1; }));
  b.leave();
  b = pair.far.process("B");
  EXPECT_EQ(undelivered(first).messages().front()["n"], 1);
  a.send({{"dest", "B"}, {"n", 2}});
  EXPECT_EQ(b.recv(kLong)["n"], 2);
}

TEST(FlexSenders, OfAMessageThatNeverHasRoomAreToldSo) {
  Pair pair;
  auto b = pair.far.process("B", {.max_bytes = 4096});
  auto a = pair.near.process("A");
  const auto large = a.send({{"dest", "B"}, {"x", std::string(4096, 'x')}});
  a.send({{"dest", "B"}, {"n", 1}});
  EXPECT_EQ(b.recv(kLong)["n"], 1);
  EXPECT_EQ(undelivered(large).code(), Code::message_too_large);
}

TEST(FlexNodes, ThatCloseLetWhatTheyHaveSentArrive) {
  Node far("", kQuiet);
  auto b = far.process("B");
  {
    Node near(far.address(), kQuiet);
    auto a = near.process("A");
    for (int n = 0; n < 1'000; ++n) a.send({{"dest", "B"}, {"n", n}});
  }
  for (int n = 0; n < 1'000; ++n) ASSERT_EQ(b.recv(kLong)["n"], n);
}

TEST(FlexNodes, ThatCloseTellWhatHasNotArrived) {
  Pair pair;
  auto a = pair.near.process("A");
  const auto sent = a.send({{"dest", "nobody"}, {"n", 1}});
  pair.near.close(1ms);
  const auto error = undelivered(sent);
  EXPECT_EQ(error.code(), Code::cancelled);
  EXPECT_EQ(error.execution(), Execution::not_executed);
  EXPECT_THAT(refusal_of([&] { a.send({{"dest", "B"}}); }), HasSubstr("the mailbox of 'A' is closed"));
  EXPECT_THAT(refusal_of([&] { (void)pair.near.process("C"); }), HasSubstr("the node is closed"));
}

TEST(FlexNodes, FreeTheNameOfAProcessThatCouldNotBeOffered) {
  Node node("", kQuiet);
  EXPECT_THAT(refusal_of([&] { (void)node.process("A", {.groups = {"all", "all"}}); }), HasSubstr("offered"));
  EXPECT_THAT(node.processes(), testing::IsEmpty());
  auto a = node.process("A", {.groups = {"all"}});
  auto b = node.process("B");
  b.send({{"dest", "A"}, {"n", 1}});
  EXPECT_EQ(a.recv(kLong)["n"], 1);
}

TEST(FlexNodes, ShareThreadsThatSendAndReceiveAtOnce) {
  Pair pair;
  auto b = pair.far.process("B");
  constexpr int kThreads = 3;
  constexpr int kEach = 2'000;
  std::vector<Process> senders;
  for (int t = 0; t < kThreads; ++t) senders.push_back(pair.near.process("A" + std::to_string(t)));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kEach; ++n) senders[static_cast<std::size_t>(t)].send({{"dest", "B"}, {"n", n}});
    });
    threads.emplace_back([&, t] {
      for (int n = 0; n < kEach; ++n) ASSERT_EQ(b.recv(kLong, {{"src", "A" + std::to_string(t)}})["n"], n);
    });
  }
  for (auto& each : threads) each.join();
}

}  // namespace
}  // namespace mftest::nodes_test
