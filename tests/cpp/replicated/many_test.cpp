// Many calls of one client at once, in virtual time: each ends well by itself, however many there are.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "replicated/world.hpp"

namespace mf::replicated::testing::many_test {
namespace {

using Origins = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

constexpr double kPause = 3.0;
constexpr double kInterval = 0.002;
constexpr double kWithin = 60.0;
constexpr double kLongDeadline = 1'000.0;

class ManyCalls : public ::testing::TestWithParam<Pattern> {
 protected:
  ManyCalls() {
    EXPECT_TRUE(world.run_until([&] { return world.ready(); }, 5.0));
    caller = &world.client();
    world.run(0.01);
  }
  void call() { world.call(*caller, GetParam(), Require::all, kLongDeadline); }
  void check_that_all_end_well() {
    EXPECT_TRUE(world.run_until([&] { return world.results.size() == world.begun.size(); }, kWithin))
        << world.describe();
    for (const auto& [made, result] : world.results) {
      const auto* const failure = std::get_if<Failure>(&result);
      EXPECT_EQ(failure, nullptr) << made.second << ": " << failure->message;
    }
    for (const auto& [name, process] : world.processes)
      EXPECT_EQ(process->held.size(), world.begun.size()) << name;
  }

  World world;
  Caller* caller = nullptr;
};

TEST_P(ManyCalls, AllThatBeginAtOnceEndWell) {
  for (const std::uint64_t count : {kMostAhead + 76, std::uint64_t{5'000}}) {
    for (std::uint64_t i = 0; i < count; ++i) call();

    check_that_all_end_well();
  }
}

TEST_P(ManyCalls, TheQueueOfASteadyClientIsEmptyAgainAfterAPauseOfTheLeader) {
  bool steady = true;
  std::function<void()> go_on = [&] {
    if (!steady) return;
    call();
    world.at(kInterval, go_on);
  };
  go_on();
  world.pause(world.leader->name, kPause);
  world.run(kPause);
  EXPECT_GT(world.begun.size() - world.results.size(), kMostAhead);

  // The client goes on at its rate meanwhile, and its latest call is under way.
  EXPECT_TRUE(world.run_until([&] { return world.results.size() + 1 >= world.begun.size(); }, kWithin))
      << world.describe();
  steady = false;
  check_that_all_end_well();
}

INSTANTIATE_TEST_SUITE_P(All, ManyCalls,
                         ::testing::Values(Pattern::no_versioning, Pattern::version_request,
                                           Pattern::message_returns_version, Pattern::one_hop,
                                           Pattern::one_hop_ack_client, Pattern::wait_for_version,
                                           Pattern::chain),
                         [](const auto& each) { return std::string(name(each.param)); });

/// The machine of one client; the test acts as its versioning server.
class CallerAlone : public ::testing::Test {
 protected:
  [[nodiscard]] Caller connected(std::uint64_t window) const {
    Caller caller(uuid(1000), {"a", "b", "c"}, uuid(7), window);
    caller.connected("a", now);
    caller.receive("a", Message::of_leading({.epoch = 1, .member = "a"}), now);
    return caller;
  }
  std::uint64_t start(Caller& caller, std::chrono::seconds patience = std::chrono::seconds(100)) const {
    return caller.start("put", Bytes(), Pattern::one_hop, Require::one, now + patience, now);
  }
  void acknowledge(Caller& caller, std::uint64_t sequence) const {
    caller.receive("a",
                   Message::of_ack({.client = uuid(1000),
                                    .sequence = sequence,
                                    .version = {.epoch = 1, .counter = sequence},
                                    .under = 1,
                                    .applied = {"a"},
                                    .outcome = {}}),
                   now);
  }
  /// Sequence and oldest of the messages that are sent now.
  [[nodiscard]] static Origins origins(Caller& caller) {
    Origins found;
    for (const auto& effect : caller.take()) {
      const auto* const send = std::get_if<SendTo>(&effect);
      const auto origin = send == nullptr ? std::nullopt : origin_of(send->message);
      if (origin) found.emplace_back(origin->sequence, origin->oldest);
    }
    return found;
  }

  const TimePoint now{std::chrono::hours(1)};
};

TEST_F(CallerAlone, NamesTheOldestAwaitedCallWhenACallIsFirstSent) {
  auto caller = connected(2);
  for (int i = 0; i < 4; ++i) start(caller);
  EXPECT_EQ(origins(caller), (Origins{{1, 1}, {2, 1}}));

  acknowledge(caller, 1);
  EXPECT_EQ(origins(caller), (Origins{{3, 2}}));
  caller.cancel(2);
  caller.tick(now);
  EXPECT_EQ(origins(caller), (Origins{{4, 3}}));

  acknowledge(caller, 3);
  caller.tick(now + std::chrono::seconds(10));
  EXPECT_EQ(origins(caller), (Origins{{4, 3}})) << "each sending has the same bytes";
}

TEST_F(CallerAlone, ACallThatBeginsDoesNotOvertakeThoseThatWait) {
  auto caller = connected(2);
  for (int i = 0; i < 4; ++i) start(caller);
  (void)origins(caller);

  caller.cancel(1);
  caller.cancel(2);
  start(caller);

  EXPECT_EQ(origins(caller), (Origins{{3, 3}, {4, 3}}));
}

TEST_F(CallerAlone, HasNoLongerWindowThanReplicasAccept) {
  auto caller = connected(10 * kMostAhead);

  for (std::uint64_t i = 0; i < kMostAhead + 10; ++i) start(caller);

  EXPECT_EQ(origins(caller).back(), std::pair(kMostAhead, std::uint64_t{1}));
}

TEST_F(CallerAlone, ACallThatWaitedForOthersUntilItsDeadlineSaysSo) {
  auto caller = connected(1);
  start(caller);
  const auto waiting = start(caller, std::chrono::seconds(1));
  (void)caller.take();

  caller.tick(now + std::chrono::seconds(1));

  const auto effects = caller.take();
  const auto& done = std::get<Done>(effects.back());
  EXPECT_EQ(done.sequence, waiting);
  const auto& failure = std::get<Failure>(done.result);
  EXPECT_EQ(failure.code, Code::deadline_exceeded);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_TRUE(
      std::string_view(failure.message).ends_with("; it waited for earlier calls of this client to end"))
      << failure.message;
}

TEST(Versioning, RefusesForGoodWhatNoCallerSends) {
  World world;
  ASSERT_TRUE(world.run_until([&] { return world.ready(); }, 5.0));
  auto& replica = world.processes.at("a")->replica;
  const PeerId client(uuid(1000));
  const TimePoint now{std::chrono::hours(2)};
  replica.connected(client, now);
  (void)replica.take();
  const auto refused_when = [&](std::uint64_t sequence, std::uint64_t oldest) {
    replica.receive(client, Message::of_ask({.origin = {uuid(1000), sequence, oldest}}), now);
    const auto effects = replica.take();
    const auto& message = std::get<Send>(effects.front()).message;
    return message.is_refused() ? std::optional(message.refused()) : std::nullopt;
  };

  const auto refused = refused_when(5'000, 5'000 - kMostAhead);

  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code, static_cast<std::uint8_t>(Code::invalid_argument));
  EXPECT_EQ(refused->text, "message 5000 of a client that still awaits 3976: at most 1024 may be under way");
  EXPECT_TRUE(refused_when(5'000, 5'001).has_value());
  EXPECT_FALSE(refused_when(kMostAhead, 1).has_value());
}

}  // namespace
}  // namespace mf::replicated::testing::many_test
