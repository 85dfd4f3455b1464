#include "mf/protocol/call.hpp"
#include "mf/core/failure.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace mf::protocol {
namespace {

constexpr TimePoint kNow{std::chrono::hours(1)};
constexpr TimePoint kLater{std::chrono::hours(2)};

Failure failure(Code code, Execution execution) {
  return mf::make_failure(code, execution, name(code));
}

/// A call in the given state, reached by the shortest way.
Call call_in(CallState state, RetryBudget& budget, CallRules rules = {}) {
  Call call(rules, kLater, budget);
  const std::vector<CallEvent> way{CallEvent::begin, CallEvent::resolved, CallEvent::bound,
                                   CallEvent::written, CallEvent::replied};
  for (std::size_t i = 0; i < static_cast<std::size_t>(state); ++i) {
    if (i == 0) {
      EXPECT_EQ(call.begin(), CallStep::resolve);
    } else {
      call.on(way[i]);
    }
  }
  EXPECT_EQ(call.state(), state);
  return call;
}

// The table of docs/decisions/0019, cell by cell: state, event, next state, step. All other cells are errors.
TEST(Call, GoesThroughEveryCellOfItsTable) {
  using S = CallState;
  using E = CallEvent;
  using T = CallStep;
  struct Cell {
    S state;
    E event;
    S next;
    T step;
  };
  std::vector<Cell> cells{
      {S::start, E::begin, S::resolving, T::resolve}, {S::start, E::expired, S::ended, T::end},
      {S::start, E::cancelled, S::ended, T::end},     {S::resolving, E::resolved, S::binding, T::bind},
      {S::resolving, E::bound, S::sending, T::send},  {S::resolving, E::unreachable, S::ended, T::end},
      {S::resolving, E::expired, S::ended, T::end},   {S::resolving, E::cancelled, S::ended, T::end},
      {S::binding, E::bound, S::sending, T::send},    {S::binding, E::unreachable, S::ended, T::end},
      {S::binding, E::lost, S::ended, T::end},        {S::binding, E::expired, S::ended, T::end},
      {S::binding, E::cancelled, S::ended, T::end},   {S::sending, E::refused, S::ended, T::end},
      {S::sending, E::written, S::sent, T::wait},     {S::sending, E::lost, S::ended, T::end},
      {S::sending, E::expired, S::ended, T::end},     {S::sending, E::cancelled, S::ended, T::end},
      {S::sent, E::data, S::sent, T::deliver},        {S::sent, E::credit, S::sent, T::deliver},
      {S::sent, E::stopped, S::sent, T::deliver},     {S::sent, E::replied, S::ended, T::end},
      {S::sent, E::lost, S::ended, T::end},           {S::sent, E::expired, S::ended, T::cancel},
      {S::sent, E::cancelled, S::ended, T::cancel},
  };
  for (const E late : {E::refused, E::written, E::data, E::credit, E::stopped, E::replied, E::lost,
                       E::expired, E::cancelled})
    cells.push_back({S::ended, late, S::ended, T::none});
  for (std::size_t s = 0; s < kCallStates; ++s) {
    for (std::size_t e = 0; e < kCallEvents; ++e) {
      const auto state = static_cast<S>(s);
      const auto event = static_cast<E>(e);
      SCOPED_TRACE(std::string(name(state)) + " " + name(event));
      RetryBudget budget;
      auto call = call_in(state, budget);
      const auto cell = std::ranges::find_if(
          cells, [&](const Cell& each) { return each.state == state && each.event == event; });
      if (cell == cells.end()) {
        EXPECT_THROW(call.on(event), std::logic_error);
        EXPECT_EQ(call.state(), state);
        continue;
      }
      EXPECT_EQ(call.on(event), cell->step);
      EXPECT_EQ(call.state(), cell->next);
    }
  }
}

TEST(Call, IsSentAgainIfItSurelyWasNotExecutedOrIsIdempotent) {
  struct Case {
    Code code;
    Execution execution;
    bool idempotent;
    bool again;
  };
  const std::vector<Case> cases{
      {Code::connection_lost, Execution::not_executed, false, true},
      {Code::connection_lost, Execution::unknown, false, false},
      {Code::connection_lost, Execution::unknown, true, true},
      {Code::unavailable, Execution::not_executed, false, true},
      {Code::shutting_down, Execution::not_executed, false, true},
      {Code::shutting_down, Execution::unknown, true, false},
      {Code::overloaded, Execution::not_executed, true, false},
      {Code::deadline_exceeded, Execution::not_executed, true, false},
      {Code::handler_failed, Execution::unknown, true, false},
      {Code::decode_error, Execution::not_executed, true, false},
  };
  for (const auto& [code, execution, idempotent, again] : cases) {
    SCOPED_TRACE(std::string(name(code)) + " " + name(execution) + (idempotent ? " idempotent" : ""));
    RetryBudget budget;
    auto call = call_in(CallState::sent, budget, {.idempotent = idempotent});
    auto why = failure(code, execution);
    EXPECT_EQ(call.fail(CallEvent::lost, why, kNow), again ? CallStep::resolve : CallStep::end);
    EXPECT_EQ(call.state(), again ? CallState::resolving : CallState::ended);
    EXPECT_EQ(call.attempt(), again ? 2 : 1);
  }
}

TEST(Call, IsSentAgainAfterAnOverloadedServerRefusedItAndKeepsItsWords) {
  RetryBudget budget;
  auto call = call_in(CallState::sent, budget);
  EXPECT_EQ(call.refusal(), nullptr);
  auto why = failure(Code::overloaded, Execution::not_executed);
  why.message = "full";
  ASSERT_EQ(call.fail(CallEvent::replied, why, kNow), CallStep::resolve);
  ASSERT_NE(call.refusal(), nullptr);
  EXPECT_EQ(call.refusal()->message, "full");
  call.on_rested();
  EXPECT_EQ(call.refusal(), nullptr);
}

TEST(Call, EndsWhereOverloadedMayHaveRunOrIsALimitOfThisClientOrOfAStream) {
  const auto step = [](CallState state, CallEvent event, Execution execution, CallRules rules = {}) {
    RetryBudget budget;
    auto call = call_in(state, budget, rules);
    auto why = failure(Code::overloaded, execution);
    return call.fail(event, why, kNow);
  };
  EXPECT_EQ(step(CallState::sent, CallEvent::replied, Execution::unknown, {.idempotent = true}),
            CallStep::end);
  EXPECT_EQ(step(CallState::sending, CallEvent::refused, Execution::not_executed), CallStep::end);
  EXPECT_EQ(step(CallState::sent, CallEvent::replied, Execution::not_executed, {.stream = true}),
            CallStep::end);
}

TEST(Call, RepeatsAfterOverloadedTakeFromTheBudget) {
  RetryBudget budget;
  while (budget.take()) continue;
  auto call = call_in(CallState::sent, budget);
  auto why = failure(Code::overloaded, Execution::not_executed);
  EXPECT_EQ(call.fail(CallEvent::replied, why, kNow), CallStep::end);
}

TEST(Call, IsNotSentAgainAfterItsDeadlineNorAFourthTime) {
  RetryBudget budget;
  auto why = failure(Code::connection_lost, Execution::not_executed);
  auto late = call_in(CallState::sent, budget);
  EXPECT_EQ(late.fail(CallEvent::lost, why, kLater), CallStep::end);
  auto call = call_in(CallState::sending, budget);
  for (int attempt = 2; attempt <= 3; ++attempt) {
    why = failure(Code::connection_lost, Execution::not_executed);
    ASSERT_EQ(call.fail(CallEvent::refused, why, kNow), CallStep::resolve);
    EXPECT_EQ(call.attempt(), attempt);
    ASSERT_EQ(call.on(CallEvent::bound), CallStep::send);
  }
  EXPECT_EQ(call.fail(CallEvent::refused, why, kNow), CallStep::end);
}

TEST(Call, AStreamIsSentAgainIfItsRequestNeverLeftOrNothingOfItHasRunWasSentOrHasCome) {
  struct Case {
    CallState state;
    bool sends;
    bool heard;
    Execution execution;
    bool again;
  };
  const std::vector<Case> cases{
      {CallState::sending, true, false, Execution::not_executed, true},
      {CallState::sent, false, false, Execution::not_executed, true},
      {CallState::sent, false, false, Execution::unknown, false},
      {CallState::sent, false, true, Execution::not_executed, false},
      {CallState::sent, true, false, Execution::not_executed, false},
  };
  for (const auto& [state, sends, heard, execution, again] : cases) {
    for (const auto code : {Code::connection_lost, Code::shutting_down}) {
      if (state == CallState::sending && code == Code::shutting_down) continue;
      SCOPED_TRACE(std::string(name(state)) + (sends ? " sends" : "") + (heard ? " heard " : " ") +
                   name(execution) + " " + name(code));
      RetryBudget budget;
      auto call = call_in(state, budget, {.idempotent = true, .stream = true, .sends = sends});
      if (heard) call.heard();
      auto why = failure(code, execution);
      EXPECT_EQ(call.fail(state == CallState::sent ? CallEvent::lost : CallEvent::refused, why, kNow),
                again ? CallStep::resolve : CallStep::end);
    }
  }
}

TEST(Call, WhatMayHaveRunNeverEndsAsNotExecuted) {
  RetryBudget budget;
  auto call = call_in(CallState::sent, budget, {.idempotent = true});
  auto first = failure(Code::connection_lost, Execution::unknown);
  first.message = "the first attempt";
  ASSERT_EQ(call.fail(CallEvent::lost, first, kNow), CallStep::resolve);
  auto second = failure(Code::unavailable, Execution::not_executed);
  EXPECT_EQ(call.fail(CallEvent::unreachable, second, kNow), CallStep::end);
  EXPECT_EQ(second.code, Code::connection_lost);
  EXPECT_EQ(second.execution, Execution::unknown);
  EXPECT_EQ(second.message, "the first attempt");
}

TEST(Call, RepeatsAreBoundedByTheClientsBudget) {
  RetryBudget budget;
  int repeats = 0;
  for (int i = 0; i < 3000; ++i) {
    auto call = call_in(CallState::sent, budget, {.idempotent = true});
    auto why = failure(Code::connection_lost, Execution::unknown);
    if (call.fail(CallEvent::lost, why, kNow) == CallStep::resolve) ++repeats;
  }
  EXPECT_GE(repeats, 1000);
  EXPECT_LE(repeats, 1000 + 3000 / 5 + 1);
  auto draining = call_in(CallState::sent, budget);
  auto why = failure(Code::shutting_down, Execution::not_executed);
  EXPECT_EQ(draining.fail(CallEvent::replied, why, kNow), CallStep::resolve) << "that costs no budget";
}

// Any order of events that a driver can see: the call ends once, at most three attempts are made, and each
// accepted request is cancelled at its connection or ended by it.
TEST(Call, EndsOnceInWhateverOrderThingsHappen) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RetryBudget budget;
    Call call({.idempotent = random() % 2 == 0, .stream = random() % 3 == 0}, kLater, budget);
    int ends = 0;
    int sends = 0;
    auto step = call.begin();
    for (int i = 0; i < 60; ++i) {
      std::vector<CallEvent> possible{CallEvent::expired, CallEvent::cancelled};
      switch (call.state()) {
        case CallState::resolving:
          possible.insert(possible.end(), {CallEvent::resolved, CallEvent::bound, CallEvent::unreachable});
          break;
        case CallState::binding:
          possible.insert(possible.end(), {CallEvent::bound, CallEvent::unreachable, CallEvent::lost});
          break;
        case CallState::sending:
          possible = {CallEvent::written, CallEvent::written, CallEvent::refused};
          break;
        default:
          possible.insert(possible.end(), {CallEvent::data, CallEvent::credit, CallEvent::stopped,
                                           CallEvent::replied, CallEvent::lost});
      }
      const auto event = possible[random() % possible.size()];
      const bool failed =
          event == CallEvent::unreachable || event == CallEvent::refused || event == CallEvent::lost;
      auto why = failure(
          random() % 2 == 0 ? Code::connection_lost : Code::unavailable,
          random() % 2 == 0 || event == CallEvent::refused ? Execution::not_executed : Execution::unknown);
      const bool before = call.ended();
      const bool sent = call.state() == CallState::sent;
      step = failed ? call.fail(event, why, kNow) : call.on(event);
      if (step == CallStep::send) ++sends;
      if (before) {
        ASSERT_EQ(step, CallStep::none);
      }
      if (!before && call.ended()) {
        ++ends;
        ASSERT_EQ(step == CallStep::cancel,
                  sent && (event == CallEvent::expired || event == CallEvent::cancelled));
      }
    }
    ASSERT_EQ(ends, call.ended() ? 1 : 0);
    ASSERT_LE(sends, Call::kMostAttempts);
  }
}

}  // namespace
}  // namespace mf::protocol
