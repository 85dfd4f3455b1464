// The finder, driven step by step without a socket: what it asks for, what it answers, and when.
#include "mf/route/finder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "mf/core/failure.hpp"

namespace mf::route {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Kind = Command::Kind;

constexpr TimePoint kBegin{1h};

Instance instance(int number) {
  Instance made;
  made.address = Address::parse("tcp://10.0.0.1:" + std::to_string(1'000 + number));
  return made;
}

Offered offers(std::initializer_list<int> numbers) {
  Offered offered;
  offered.answered = true;
  offered.words = "no server offers demo";
  for (const int number : numbers) offered.instances.push_back(instance(number));
  return offered;
}

Failure refused() {
  return not_executed(Code::unavailable, "connection refused");
}

/// A finder with its clock, and what it has asked for since the latest look.
struct Driven {
  explicit Driven(Rules rules = {}) : finder(rules, "demo", false, 7) {}

  void wait(WaiterId id, TimePoint deadline = kNever, std::optional<std::uint16_t> method = 0) {
    finder.wait(id, method, deadline, now);
  }
  /// Time passes, and the finder is called whenever it has asked for it.
  void pass(std::chrono::nanoseconds time) {
    const auto until = now + time;
    while (finder.timer() <= until) {
      now = std::max(now, finder.timer());
      finder.on_time(now);
    }
    now = until;
  }
  std::vector<Kind> kinds() {
    look();
    std::vector<Kind> all;
    for (const auto& command : std::exchange(seen, {})) all.push_back(command.kind);
    return all;
  }
  /// The latest attempt to connect.
  Attempt attempt() {
    look();
    for (auto at = seen.rbegin(); at != seen.rend(); ++at)
      if (at->kind == Kind::connect) return at->attempt;
    ADD_FAILURE() << "no attempt";
    return 0;
  }
  std::size_t count(Kind kind) {
    look();
    return static_cast<std::size_t>(std::ranges::count(seen, kind, &Command::kind));
  }
  const Command& last(Kind kind) {
    look();
    for (auto at = seen.rbegin(); at != seen.rend(); ++at)
      if (at->kind == kind) return *at;
    ADD_FAILURE() << "no such command";
    return seen.front();
  }
  void look() { std::ranges::move(finder.take(), std::back_inserter(seen)); }
  void forget() {
    look();
    seen.clear();
  }
  /// Makes the only endpoint a route.
  Attempt bind() {
    const auto made = attempt();
    finder.on_connected(made, false, now);
    finder.on_bound(made, nullptr, false, now);
    return made;
  }

  Finder finder;
  TimePoint now = kBegin;
  std::vector<Command> seen;
};

TEST(Finder, LooksUpConnectsAndBindsForTheFirstCall) {
  Driven driven;
  EXPECT_THAT(driven.kinds(), IsEmpty());
  driven.wait(1);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::look_up));
  driven.finder.on_offers(offers({1}), driven.now);
  EXPECT_EQ(driven.last(Kind::connect).instance, instance(1));
  const auto attempt = driven.attempt();
  driven.forget();
  driven.finder.on_connected(attempt, false, driven.now);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::bind));
  driven.finder.on_bound(attempt, nullptr, false, driven.now);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::ready, Kind::found, Kind::leave));
  EXPECT_EQ(driven.finder.timer(), kNever);
  EXPECT_FALSE(driven.finder.missing());
}

TEST(Finder, TriesAnAddressThatRefusesWhenItsRestIsOver) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 30ms, driven.now);
  EXPECT_EQ(driven.finder.state_of(instance(1).address), State::cooling);
  EXPECT_EQ(driven.last(Kind::unreached).failure->message, "connection refused");
  driven.forget();
  driven.pass(29ms);
  EXPECT_EQ(driven.count(Kind::connect), 0U);
  driven.pass(1ms);
  EXPECT_EQ(driven.count(Kind::connect), 1U);
  driven.bind();
  EXPECT_EQ(driven.count(Kind::found), 1U);
}

TEST(Finder, EndsACallAtItsDeadlineWithTheReasonOfTheLatestAttempt) {
  Driven driven;
  driven.wait(1, driven.now + 100ms);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 2s, driven.now);
  driven.pass(100ms);
  EXPECT_EQ(driven.last(Kind::failed).failure->message, "gave up at the deadline: connection refused");
  EXPECT_EQ(driven.finder.waiting(), 0U);
}

TEST(Finder, DoesNotExplainASilentServerByAnEarlierFailure) {
  Driven driven;
  driven.wait(1, driven.now + 10ms);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 20ms, driven.now);
  driven.pass(30ms);
  driven.forget();
  driven.wait(2, driven.now + 700ms);
  EXPECT_EQ(driven.count(Kind::connect), 1U);
  driven.pass(500ms);
  EXPECT_EQ(driven.last(Kind::unreached).failure->message, "it has not answered yet");
  driven.pass(200ms);
  EXPECT_EQ(driven.last(Kind::failed).failure->message,
            "gave up at the deadline: connect tcp://10.0.0.1:1001: no answer within the deadline");
}

TEST(Finder, FailsAtOnceIfAServerThatWasReachedIsThereNoLonger) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  const auto route = driven.bind();
  driven.finder.on_lost(route, driven.now);
  driven.forget();
  driven.wait(2);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 50ms, driven.now);
  EXPECT_EQ(driven.last(Kind::failed).failure->message, "connection refused");
  EXPECT_EQ(driven.count(Kind::unreached), 0U) << "no call goes on waiting";
  driven.forget();
  driven.wait(3);  // while the address rests, its failure is remembered
  EXPECT_EQ(driven.count(Kind::failed), 1U);
  EXPECT_EQ(driven.count(Kind::connect), 0U);
}

TEST(Finder, WaitsForAServerThatBindsLateEvenIfItWasReachedBefore) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  const auto route = driven.bind();
  driven.finder.on_lost(route, driven.now);
  driven.wait(2);
  const auto slow = driven.attempt();
  driven.finder.on_connected(slow, false, driven.now);
  driven.pass(2s);
  driven.finder.on_bind_failed(slow, not_executed(Code::deadline_exceeded, "did not answer"), driven.now);
  EXPECT_EQ(driven.count(Kind::failed), 0U);
  driven.forget();
  driven.finder.on_bound(slow, nullptr, false, driven.now);  // later than it was waited for
  EXPECT_THAT(driven.kinds(), IsEmpty());
  driven.pass(60ms);
  driven.bind();
  EXPECT_EQ(driven.count(Kind::found), 1U);
}

TEST(Finder, AsksAServerThatRefusedAgainForLaterCallsOnly) {
  Driven driven;
  const auto unknown = not_executed(Code::unknown_agent, "no such agent");
  driven.wait(1);
  driven.wait(2);
  driven.finder.on_offers(offers({1}), driven.now);
  const auto first = driven.attempt();
  driven.finder.on_connected(first, false, driven.now);
  driven.pass(1ms);
  driven.finder.on_bind_failed(first, unknown, driven.now);
  EXPECT_EQ(driven.count(Kind::failed), 2U);
  EXPECT_EQ(driven.last(Kind::failed).failure->code, Code::unknown_agent);
  EXPECT_EQ(driven.finder.state_of(instance(1).address), State::refused);
  driven.pass(1ms);
  driven.forget();
  driven.wait(3);
  driven.bind();
  EXPECT_EQ(driven.count(Kind::found), 1U);
}

TEST(Finder, ReplacesAConnectionThatTakesNoNewCalls) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  const auto route = driven.bind();
  driven.forget();
  driven.finder.on_goaway(route, driven.now);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::remove));
  EXPECT_EQ(driven.finder.state_of(instance(1).address), State::draining);
  driven.wait(2);
  const auto second = driven.bind();
  EXPECT_NE(second, route);
  EXPECT_EQ(driven.count(Kind::found), 1U);
}

// A server that flaps, or floods with GOAWAY: its address rests, and calls wait for that.
TEST(Finder, LetsCallsWaitWhileAnAddressRestsWhoseConnectionsEndTooSoon) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.finder.on_goaway(driven.bind(), driven.now);
  driven.wait(2);
  driven.finder.on_unconnected(driven.attempt(), std::nullopt, driven.now + 40ms, driven.now);
  driven.forget();
  driven.pass(39ms);
  EXPECT_THAT(driven.kinds(), IsEmpty());
  driven.pass(1ms);
  driven.bind();
  EXPECT_EQ(driven.count(Kind::found), 1U);
}

TEST(Finder, FindsTheOneServerAmongManyDeadOnes) {
  Driven driven;
  driven.wait(1, driven.now + 5s);
  auto all = offers({});
  for (int i = 0; i < 200; ++i) all.instances.push_back(instance(i));
  driven.finder.on_offers(all, driven.now);
  EXPECT_EQ(driven.count(Kind::connect), kMostRoutes);
  driven.pass(600ms);  // none of them answers
  EXPECT_EQ(driven.count(Kind::connect), 200U);
  EXPECT_EQ(driven.finder.under_way(), 200U);
  driven.bind();  // the last one
  driven.pass(50ms);
  EXPECT_EQ(driven.count(Kind::found), 1U);
  driven.forget();
  driven.pass(10s);
  EXPECT_EQ(driven.count(Kind::connect), 0U) << "no call waits";
}

TEST(Finder, BeginsNoMoreAttemptsThanItsRulesAllow) {
  Driven driven({.most_attempts = 10});
  driven.wait(1, driven.now + 5s);
  auto all = offers({});
  for (int i = 0; i < 200; ++i) all.instances.push_back(instance(i));
  driven.finder.on_offers(all, driven.now);
  driven.pass(3s);
  EXPECT_EQ(driven.finder.under_way(), 10U);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 1s, driven.now);
  EXPECT_EQ(driven.finder.under_way(), 10U) << "the next one has taken its place";
}

TEST(Finder, WaitsAMomentForOthersOnceTheFirstIsBound) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1, 2}), driven.now);
  driven.bind();
  EXPECT_EQ(driven.count(Kind::found), 0U);
  driven.pass(50ms);
  EXPECT_EQ(driven.count(Kind::found), 1U);
  EXPECT_TRUE(driven.finder.missing());
}

TEST(Finder, TriesMissingEndpointsWhileCallsAreMade) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1, 2}), driven.now);
  const auto second = driven.attempt();
  driven.look();
  const auto first = driven.seen[1].attempt;
  driven.finder.on_connected(first, false, driven.now);
  driven.finder.on_bound(first, nullptr, false, driven.now);
  driven.finder.on_unconnected(second, refused(), driven.now + 100ms, driven.now);
  EXPECT_EQ(driven.count(Kind::found), 1U) << "nothing else is under way";
  driven.forget();
  driven.finder.want(driven.now);
  EXPECT_EQ(driven.count(Kind::connect), 0U) << "it rests";
  driven.pass(100ms);
  EXPECT_EQ(driven.count(Kind::connect), 0U) << "no call is made";
  driven.finder.want(driven.now);
  driven.bind();
  EXPECT_FALSE(driven.finder.missing());
}

TEST(Finder, AdaptsToAServerWithAnotherSchema) {
  Driven driven;
  driven.wait(1);
  driven.wait(2, kNever, 1);
  driven.finder.on_offers(offers({1}), driven.now);
  const auto attempt = driven.attempt();
  driven.finder.on_connected(attempt, false, driven.now);
  driven.forget();
  driven.finder.on_bind_failed(attempt, not_executed(Code::schema_mismatch, "differs"), driven.now);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::describe));
  driven.finder.on_described(attempt, {Description::Kind::bind_adapted}, driven.now);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::bind_adapted));
  const auto allowed = std::make_shared<const std::vector<bool>>(std::vector{true, false});
  driven.finder.on_bound(attempt, allowed, false, driven.now);
  EXPECT_EQ(driven.last(Kind::found).waiter, 1U);
  EXPECT_EQ(driven.last(Kind::failed).waiter, 2U);
  EXPECT_EQ(driven.last(Kind::failed).refused, Command::Refused::by_all);
}

TEST(Finder, AsksForASchemaAtMostTwice) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1, 2}), driven.now);
  driven.look();
  for (const auto& command : std::vector(driven.seen)) {
    if (command.kind != Kind::connect) continue;
    driven.forget();
    driven.finder.on_connected(command.attempt, true, driven.now);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(driven.count(Kind::describe), 1U);
      driven.forget();
      driven.finder.on_described(command.attempt, {Description::Kind::bind_adapted}, driven.now);
      driven.finder.on_bind_failed(command.attempt, not_executed(Code::schema_mismatch, "differs"),
                                   driven.now);
    }
    EXPECT_EQ(driven.count(Kind::describe), 0U);
  }
  EXPECT_EQ(driven.last(Kind::failed).failure->message, "all servers of demo have another schema: differs");
}

TEST(Finder, TakesARefusalOfOneForMoreTellingThanTheSilenceOfAnother) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1, 2, 3}), driven.now);
  driven.look();
  std::vector<Attempt> attempts;
  for (const auto& command : driven.seen)
    if (command.kind == Kind::connect) attempts.push_back(command.attempt);
  driven.finder.on_unconnected(attempts[0], not_executed(Code::unauthenticated, "who are you?"), driven.now,
                               driven.now);
  driven.finder.on_unconnected(attempts[1], refused(), driven.now + 1s, driven.now);
  EXPECT_EQ(driven.count(Kind::failed), 0U);
  driven.finder.on_unconnected(attempts[2], refused(), driven.now + 1s, driven.now);
  EXPECT_EQ(driven.last(Kind::failed).failure->message, "who are you?");
}

TEST(Finder, GivesUpAfterItsPatienceIfTheSourceKnowsNobody) {
  Driven driven({.for_endpoint = 300ms});
  driven.wait(1);
  driven.finder.on_offers({}, driven.now);  // it has not answered
  driven.pass(10s);
  EXPECT_EQ(driven.count(Kind::failed), 0U);
  driven.finder.on_offers(offers({}), driven.now);
  driven.pass(299ms);
  EXPECT_EQ(driven.count(Kind::failed), 0U);
  driven.pass(1ms);
  EXPECT_EQ(driven.last(Kind::failed).failure->message, "no server offers demo");
  driven.finder.set_seen();
  driven.wait(2);
  driven.finder.on_offers(offers({}), driven.now);
  EXPECT_EQ(driven.last(Kind::failed).waiter, 2U) << "it was there, and has gone";
}

TEST(Finder, GivesUpAtOnceIfTheSourceCannotBeAsked) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(
      {.refused = Code::unauthenticated, .words = "the controller refuses", .instances = {}}, driven.now);
  EXPECT_EQ(driven.last(Kind::failed).failure->code, Code::unauthenticated);
}

TEST(Finder, GivesUpAfterThePatienceOfARelay) {
  Driven driven({.moment = 0ns, .for_answer = 1'500ms, .for_endpoint = 250ms, .for_recovery = 1'500ms});
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  for (int i = 0; driven.count(Kind::failed) == 0 && i < 1'000; ++i) {
    if (driven.finder.under_way() != 0)
      driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 100ms, driven.now);
    driven.pass(10ms);
  }
  EXPECT_EQ(driven.now - kBegin, 1'500ms);
}

TEST(Finder, EndsAWaitForASingleServerWithItsFirstFailure) {
  Driven driven({.single = true});
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 30ms, driven.now);
  EXPECT_EQ(driven.last(Kind::failed).failure->message, "connection refused");
  EXPECT_EQ(driven.count(Kind::unreached), 0U);
}

TEST(Finder, TriesAnAddressAtOnceThatIsAnnouncedAnew) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  EXPECT_FALSE(driven.last(Kind::connect).announced) << "all addresses are new at first";
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 2s, driven.now);
  driven.finder.on_offers(offers({2}), driven.now);
  driven.finder.on_offers(offers({1}), driven.now);
  EXPECT_TRUE(driven.last(Kind::connect).announced);
  driven.finder.on_unconnected(driven.attempt(), refused(), driven.now + 2s, driven.now);
  driven.forget();
  auto other = offers({1});
  other.instances[0].nonce[0] = std::byte{1};  // another process at the same address
  driven.finder.on_offers(other, driven.now);
  EXPECT_TRUE(driven.last(Kind::connect).announced);
}

TEST(Finder, ForgetsAnEndpointThatIsOfferedNoLonger) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1, 2}), driven.now);
  const auto route = driven.bind();
  driven.pass(60ms);
  driven.forget();
  driven.finder.on_offers(offers({}), driven.now);
  EXPECT_THAT(driven.kinds(), testing::UnorderedElementsAre(Kind::remove, Kind::abandon));
  driven.finder.on_lost(route, driven.now);
  EXPECT_THAT(driven.kinds(), IsEmpty());
}

TEST(Finder, BindsAgainWhereTheRouteIsProvisionalAndKeepsItMeanwhile) {
  Driven driven;
  driven.wait(1);
  driven.finder.on_offers(offers({1}), driven.now);
  const auto first = driven.attempt();
  driven.finder.on_connected(first, false, driven.now);
  driven.finder.on_bound(first, nullptr, true, driven.now);
  EXPECT_TRUE(driven.finder.missing());
  driven.forget();
  driven.finder.want(driven.now);
  EXPECT_THAT(driven.kinds(), IsEmpty());
  driven.pass(200ms);
  driven.finder.want(driven.now);
  const auto second = driven.attempt();
  driven.finder.on_unconnected(second, refused(), driven.now, driven.now);
  EXPECT_EQ(driven.count(Kind::remove), 0U);
  EXPECT_EQ(driven.finder.state_of(instance(1).address), State::bound);
  driven.pass(200ms);
  driven.finder.want(driven.now);
  driven.forget();
  driven.finder.on_connected(4, false, driven.now);
  driven.finder.on_connected(second + 1, false, driven.now);
  driven.finder.on_bound(second + 1, nullptr, false, driven.now);
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::bind, Kind::remove, Kind::ready));
  EXPECT_FALSE(driven.finder.missing());
}

TEST(Finder, StopEndsAllAndLaterCallsAtOnce) {
  Driven driven;
  driven.wait(1);
  driven.wait(2);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.forget();
  driven.finder.stop(not_executed(Code::cancelled, "closed"));
  EXPECT_THAT(driven.kinds(), ElementsAre(Kind::failed, Kind::failed, Kind::abandon, Kind::leave));
  driven.wait(3);
  EXPECT_EQ(driven.last(Kind::failed).failure->code, Code::cancelled);
  EXPECT_EQ(driven.finder.timer(), kNever);
}

TEST(Finder, OfACallThatLeavesIsHeardNothingMore) {
  Driven driven;
  driven.wait(1, driven.now + 1s);
  driven.finder.on_offers(offers({1}), driven.now);
  driven.finder.leave(1, driven.now);
  driven.bind();
  driven.pass(2s);
  EXPECT_EQ(driven.count(Kind::found) + driven.count(Kind::failed), 0U);
}

// ---- a random order of events

/// A world of servers that come, go, refuse, are silent, flap and answer late, and a pool with pauses.
class World {
 public:
  explicit World(std::uint32_t seed)
      : random_(seed), rules_(make_rules()), finder_(rules_, "demo", false, seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      settle();
    }
    now_ += 100s;
    finder_.on_time(now_);
    settle();
    EXPECT_THAT(deadlines_, IsEmpty()) << "each waiter has ended by its deadline";
    finder_.stop(not_executed(Code::cancelled, "closed"));
    settle();
    EXPECT_THAT(waiting_, IsEmpty());
    EXPECT_THAT(routes_, IsEmpty());
  }

 private:
  struct Pause {
    link::Backoff backoff{5};
    TimePoint until{};
    TimePoint connected{};
  };

  Rules make_rules() {
    return {.most_attempts = 1 + below(12),
            .moment = std::chrono::milliseconds(below(60)),
            .for_answer = below(2) != 0 ? kInfinite : std::chrono::nanoseconds(1s),
            .for_endpoint = std::chrono::milliseconds(below(2'000)),
            .for_recovery = below(2) != 0 ? kInfinite : std::chrono::nanoseconds(1s),
            .single = below(8) == 0};
  }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  void step() {
    switch (below(9)) {
      case 0: {
        const auto id = ++last_waiter_;
        const auto deadline = below(4) == 0 ? kNever : now_ + std::chrono::milliseconds(below(3'000));
        waiting_.insert(id);
        if (deadline != kNever) deadlines_.emplace(id, deadline);
        finder_.wait(id, static_cast<std::uint16_t>(below(2)), deadline, now_);
        break;
      }
      case 1:
        if (!waiting_.empty()) {
          const auto id = *waiting_.begin();
          ended(id);
          finder_.leave(id, now_);
        }
        break;
      case 2: {
        Offered offered;
        offered.answered = below(5) != 0;
        if (below(20) == 0) offered.refused = Code::permission_denied;
        const auto count = offered.answered ? below(30) : 0;
        for (std::uint32_t i = 0; i < count; ++i) {
          offered.instances.push_back(instance(static_cast<int>(below(30))));
          offered.instances.back().nonce[0] = static_cast<std::byte>(below(20) == 0);
        }
        finder_.on_offers(std::move(offered), now_);
        break;
      }
      case 3:
      case 4:
      case 5:
        if (!attempts_.empty())
          answer(std::next(attempts_.begin(), below(static_cast<std::uint32_t>(attempts_.size())))->first);
        break;
      case 6:
        if (!routes_.empty()) {
          const auto route = *std::next(routes_.begin(), below(static_cast<std::uint32_t>(routes_.size())));
          if (below(2) == 0) {
            finder_.on_lost(route, now_);
          } else {
            finder_.on_goaway(route, now_);
          }
        }
        break;
      case 7:
        finder_.want(now_);
        break;
      default:
        now_ += std::chrono::milliseconds(below(80));
        finder_.on_time(now_);
    }
  }

  // Late answers are given, too: to attempts that were abandoned, or have ended.
  void answer(Attempt attempt) {
    auto& of = attempts_.at(attempt);
    auto& pause = pauses_[of.address];
    const auto how = below(8);
    if (!of.connected) {
      if (how < 5 && of.wanted) {
        of.connected = true;
        pause.connected = now_;
        return finder_.on_connected(attempt, below(5) == 0, now_);
      }
      std::optional<Failure> why = not_executed(how == 5 ? Code::unauthenticated : Code::unavailable, "no");
      if (how == 7) why.reset();
      const auto until = now_ + pause.backoff.next();
      if (of.wanted) pause.until = until;  // otherwise the finder ignores it
      of.wanted = false;
      return finder_.on_unconnected(attempt, why, until, now_);
    }
    if (of.describing) {
      of.describing = of.wanted = false;
      const auto kind = how < 3   ? Description::Kind::bind_own
                        : how < 6 ? Description::Kind::bind_adapted
                                  : Description::Kind::failed;
      return finder_.on_described(
          attempt, {kind, not_executed(how == 6 ? Code::schema_mismatch : Code::deadline_exceeded, "no")},
          now_);
    }
    static constexpr std::array kCodes{Code::schema_mismatch, Code::deadline_exceeded, Code::unknown_agent,
                                       Code::connection_lost};
    of.wanted = false;
    if (how >= kCodes.size()) {
      Allowed allowed;
      if (how == 4) allowed = std::make_shared<const std::vector<bool>>(std::vector{true, false});
      return finder_.on_bound(attempt, allowed, how == 5, now_);
    }
    finder_.on_bind_failed(attempt, not_executed(kCodes.at(how), "no"), now_);
  }

  /// Executes the commands, and checks that they are in order.
  void settle() {
    for (auto commands = finder_.take(); !commands.empty(); commands = finder_.take())
      for (const auto& command : commands) execute(command);
    EXPECT_LE(finder_.under_way(), rules_.most_attempts);
    for (const auto& [id, deadline] : deadlines_) EXPECT_GT(deadline, now_) << "ends at its deadline";
    EXPECT_GT(finder_.timer(), now_);
  }

  void execute(const Command& command) {
    switch (command.kind) {
      case Kind::look_up:
        EXPECT_FALSE(std::exchange(looks_, true));
        break;
      case Kind::leave:
        EXPECT_TRUE(std::exchange(looks_, false));
        break;
      case Kind::connect: {
        auto& pause = pauses_[command.instance.address];
        if (command.announced) pause = {};
        EXPECT_GE(now_, pause.until) << "it knocks although the address rests";
        for (const auto& [attempt, of] : attempts_)
          EXPECT_FALSE(of.address == command.instance.address && of.wanted) << "two attempts at one address";
        attempts_[command.attempt] = {.address = command.instance.address};
        break;
      }
      case Kind::describe:
        attempts_.at(command.attempt).describing = true;
        [[fallthrough]];
      case Kind::bind:
      case Kind::bind_adapted:
        EXPECT_TRUE(attempts_.at(command.attempt).connected);
        EXPECT_FALSE(attempts_.at(command.attempt).abandoned);
        attempts_.at(command.attempt).wanted = true;
        break;
      case Kind::ready:
        EXPECT_TRUE(routes_.insert(command.attempt).second);
        EXPECT_LE(routes_.size(), 30U);
        break;
      case Kind::remove:
        EXPECT_EQ(routes_.erase(command.attempt), 1U);
        break;
      case Kind::abandon:
        attempts_.at(command.attempt).wanted = false;
        attempts_.at(command.attempt).abandoned = true;
        break;
      case Kind::found:
        EXPECT_THAT(routes_, testing::Not(IsEmpty()));
        ended(command.waiter);
        break;
      case Kind::failed:
        if (command.refused == Command::Refused::no) {
          EXPECT_NE(command.failure, nullptr);
          EXPECT_EQ(command.failure->execution, Execution::not_executed);
        }
        ended(command.waiter);
        break;
      case Kind::unreached:
        EXPECT_NE(command.failure, nullptr);
        EXPECT_THAT(waiting_, testing::Not(IsEmpty()));
    }
  }

  void ended(WaiterId id) {
    EXPECT_EQ(waiting_.erase(id), 1U) << "a waiter ends once";
    deadlines_.erase(id);
  }

  struct Of {
    Address address;
    bool connected = false;
    bool describing = false;
    bool wanted = true;  // its result is awaited
    bool abandoned = false;
  };

  std::mt19937 random_;
  const Rules rules_;
  Finder finder_;
  TimePoint now_ = kBegin;
  WaiterId last_waiter_ = 0;
  std::set<WaiterId> waiting_;
  std::map<WaiterId, TimePoint> deadlines_;
  std::map<Attempt, Of> attempts_;
  std::set<Attempt> routes_;
  std::map<Address, Pause> pauses_;
  bool looks_ = false;
};

class RandomOrder : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomOrder, KeepsThePromisesOfTheFinder) {
  for (std::uint32_t i = 0; i < 100 && !HasFailure(); ++i) {
    SCOPED_TRACE(GetParam() * 100 + i);
    World(GetParam() * 100 + i).run(400);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrder, testing::Range(0U, 5U));

// ---- the table

TEST(FinderTable, NoEventOfARouteOrOfTheSourceIsAnErrorInAnyState) {
  for (std::size_t state = 0; state < kStates; ++state)
    for (const auto event : {Event::lost, Event::goaway, Event::rested, Event::asked, Event::announced})
      EXPECT_NE(next(static_cast<State>(state), event).step, Step::wrong) << state;
}

TEST(FinderTable, AnAttemptAlwaysEndsAndCanAlwaysBeBegunAgain) {
  for (std::size_t state = 0; state < kStates; ++state) {
    const auto from = static_cast<State>(state);
    if (is_under_way(from)) {
      EXPECT_EQ(next(from, Event::failed).next, State::cooling);
      EXPECT_EQ(next(from, Event::refused).next, State::refused);
    } else {
      auto to = from;
      for (const auto event : {Event::lost, Event::rested, Event::asked}) to = next(to, event).next;
      EXPECT_EQ(next(to, Event::start).next, State::connecting) << state;
    }
  }
}

}  // namespace
}  // namespace mf::route
