// Limits as data: which calls get slots, which wait, in which order, and which are refused. No thread, no
// socket.
#include "server/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace mf::server {
namespace {

using namespace std::chrono_literals;
using Entry = Admission::Entry;
using End = QueuedCall::End;
using testing::ElementsAre;
using testing::IsEmpty;

const auto kNow = std::chrono::steady_clock::now();

/// What happened to calls, by their ids.
struct Seen {
  std::vector<std::uint32_t> went;
  std::vector<std::pair<std::uint32_t, End>> ended;
};

class Waiting final : public QueuedCall {
 public:
  Waiting(Seen& seen, std::uint32_t id, TimePoint deadline, bool oneway = false)
      : QueuedCall(deadline, 1, id, oneway), seen_(seen), id_(id) {}
  void go(std::unique_ptr<QueuedCall> /*self*/, std::shared_ptr<Gate> gate) override {
    EXPECT_NE(gate, nullptr);
    seen_.went.push_back(id_);
  }
  void end(std::unique_ptr<QueuedCall> /*self*/, End why) override { seen_.ended.emplace_back(id_, why); }

 private:
  Seen& seen_;
  const std::uint32_t id_;
};

class Limits : public testing::Test {
 protected:
  void server(Limit limit) { admission = std::make_shared<Admission>(limit); }
  ~Limits() override { admission->stop(); }

  std::shared_ptr<Gate> gate(Limit limit) const { return admission->gate(limit, "test.Index.query"); }
  Entry enter(Gate& gate) const { return admission->enter(gate, kNow, true); }
  /// A call that has to wait.
  void wait(const std::shared_ptr<Gate>& gate, std::uint32_t id, TimePoint deadline = kNever,
            bool oneway = false) {
    ASSERT_EQ(enter(*gate), Entry::waits);
    auto call = std::make_unique<Waiting>(seen, id, deadline, oneway);
    call->set_place(gate);
    admission->queue(std::move(call));
  }

  Seen seen;
  std::shared_ptr<Admission> admission = std::make_shared<Admission>(Limit());
};

TEST_F(Limits, WithoutAnyThereIsNoGate) {
  EXPECT_EQ(gate({}), nullptr);
  server({.concurrent = 1});
  EXPECT_NE(gate({}), nullptr);
}

TEST_F(Limits, SoManyRunSoManyWaitAndTheOthersAreRefused) {
  const auto method = gate({.concurrent = 3, .queued = 2});
  std::vector<Entry> entries;
  for (int i = 0; i < 7; ++i) entries.push_back(enter(*method));
  EXPECT_THAT(entries, ElementsAre(Entry::runs, Entry::runs, Entry::runs, Entry::waits, Entry::waits,
                                   Entry::refused, Entry::refused));
  EXPECT_EQ(admission->refusal(*method),
            "at most 3 calls of test.Index.query run at once on this server, and 2 wait");
}

TEST_F(Limits, AsManyWaitAsMayRunUnlessSaid) {
  const auto method = gate({.concurrent = 2});
  std::vector<Entry> entries;
  for (int i = 0; i < 5; ++i) entries.push_back(enter(*method));
  EXPECT_THAT(entries, ElementsAre(Entry::runs, Entry::runs, Entry::waits, Entry::waits, Entry::refused));
}

TEST_F(Limits, TheEarliestDeadlineRunsFirstAndEqualOnesAsTheyCame) {
  const auto method = gate({.concurrent = 1, .queued = 9});
  ASSERT_EQ(enter(*method), Entry::runs);
  wait(method, 1);
  wait(method, 2, kNow + 3h);
  wait(method, 3, kNow + 1h);
  wait(method, 4, kNow + 2h);
  wait(method, 5, kNow + 1h);
  EXPECT_THAT(seen.went, IsEmpty());
  for (int i = 0; i < 6; ++i) admission->leave(*method);
  EXPECT_THAT(seen.went, ElementsAre(3, 5, 4, 2, 1));
  EXPECT_EQ(admission->gauges().running, 0U);
  EXPECT_EQ(admission->gauges().waiting, 0U);
}

TEST_F(Limits, AnExpiredCallNeverRunsAndItsPlaceIsFree) {
  const auto method = gate({.concurrent = 1, .queued = 2});
  ASSERT_EQ(enter(*method), Entry::runs);
  wait(method, 1, kNow - 1s);
  wait(method, 2, kNow + 1h);
  EXPECT_THAT(seen.ended, IsEmpty());
  wait(method, 3, kNow + 2h);  // there was no room
  EXPECT_THAT(seen.ended, ElementsAre(std::pair(1U, End::expired)));
  EXPECT_EQ(enter(*method), Entry::refused);
  admission->leave(*method);
  EXPECT_THAT(seen.went, ElementsAre(2));
}

TEST_F(Limits, ASlotThatIsFreeEndsTheExpiredAndGoesToTheNext) {
  const auto method = gate({.concurrent = 1, .queued = 3});
  ASSERT_EQ(enter(*method), Entry::runs);
  wait(method, 1, kNow - 2s);
  wait(method, 2, kNow - 1s);
  wait(method, 3, kNow + 1h);
  admission->leave(*method);
  EXPECT_THAT(seen.ended, ElementsAre(std::pair(1U, End::expired), std::pair(2U, End::expired)));
  EXPECT_THAT(seen.went, ElementsAre(3));
}

TEST_F(Limits, TheServersLimitHoldsForAllMethodsTogether) {
  server({.concurrent = 2, .queued = 2});
  const auto first = gate({.concurrent = 1, .queued = 5});
  const auto second = gate({});
  ASSERT_EQ(enter(*first), Entry::runs);
  ASSERT_EQ(enter(*second), Entry::runs);
  wait(second, 1, kNow + 2h);
  wait(first, 2, kNow + 1h);
  EXPECT_EQ(enter(*first), Entry::refused);
  EXPECT_EQ(admission->refusal(*first), "at most 2 calls run at once on this server, and 2 wait");
  admission->leave(*second);  // the earlier one waits for its method's slot
  EXPECT_THAT(seen.went, ElementsAre(1));
  admission->leave(*first);
  EXPECT_THAT(seen.went, ElementsAre(1, 2));
}

TEST_F(Limits, AMethodThatIsFullDoesNotKeepOthersFromRunning) {
  server({.concurrent = 9});
  const auto full = gate({.concurrent = 1, .queued = 0});
  const auto other = gate({});
  ASSERT_EQ(enter(*full), Entry::runs);
  EXPECT_EQ(enter(*full), Entry::refused);
  EXPECT_EQ(enter(*other), Entry::runs);
}

TEST_F(Limits, ACancelledCallLosesItsPlaceAtOnce) {
  const auto method = gate({.concurrent = 1, .queued = 1});
  ASSERT_EQ(enter(*method), Entry::runs);
  wait(method, 7);
  admission->cancel(1, 8);
  admission->cancel(2, 7);
  EXPECT_THAT(seen.ended, IsEmpty());
  admission->cancel(1, 7);
  EXPECT_THAT(seen.ended, ElementsAre(std::pair(7U, End::cancelled)));
  wait(method, 9);
  admission->leave(*method);
  EXPECT_THAT(seen.went, ElementsAre(9));
}

TEST_F(Limits, OfALostConnectionOnlyOnewayCallsGoOnWaiting) {
  const auto method = gate({.concurrent = 1, .queued = 3});
  ASSERT_EQ(enter(*method), Entry::runs);
  wait(method, 1);
  wait(method, 2, kNever, true);
  wait(method, 3);
  admission->cancel_all(1);
  EXPECT_THAT(seen.ended, ElementsAre(std::pair(1U, End::cancelled), std::pair(3U, End::cancelled)));
  admission->leave(*method);
  EXPECT_THAT(seen.went, ElementsAre(2));
}

TEST_F(Limits, AStoppedServerEndsWhatWaitsAndLetsNobodyWait) {
  const auto method = gate({.concurrent = 1, .queued = 3});
  ASSERT_EQ(enter(*method), Entry::runs);
  wait(method, 1);
  ASSERT_EQ(enter(*method), Entry::waits);
  auto late = std::make_unique<Waiting>(seen, 2, kNever);
  late->set_place(method);
  admission->stop();
  admission->queue(std::move(late));
  EXPECT_EQ(enter(*method), Entry::refused);
  EXPECT_THAT(seen.ended, ElementsAre(std::pair(1U, End::stopped), std::pair(2U, End::stopped)));
  admission->leave(*method);
  EXPECT_THAT(seen.went, IsEmpty());
  EXPECT_EQ(admission->gauges().waiting, 0U);
}

TEST_F(Limits, ACallThatIsDroppedGivesItsPlaceBack) {
  const auto method = gate({.concurrent = 1, .queued = 1});
  ASSERT_EQ(enter(*method), Entry::runs);
  ASSERT_EQ(admission->enter(*method, kNow, false), Entry::waits);
  auto dropped = std::make_unique<Waiting>(seen, 1, kNever);
  dropped->set_place(method);
  EXPECT_EQ(enter(*method), Entry::refused);
  dropped.reset();
  EXPECT_EQ(enter(*method), Entry::waits);
}

TEST_F(Limits, ACallBehindOthersHasNoSlotEvenIfOneIsFree) {
  const auto method = gate({.concurrent = 1, .queued = 1});
  ASSERT_EQ(admission->enter(*method, kNow, false), Entry::waits);
  auto next = std::make_unique<Waiting>(seen, 1, kNever);
  next->set_place(method);
  EXPECT_THAT(seen.went, IsEmpty());
  admission->queue(std::move(next));  // its turn has come
  EXPECT_THAT(seen.went, ElementsAre(1));
}

}  // namespace
}  // namespace mf::server
