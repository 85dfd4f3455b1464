#include "mf/protocol/server_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace mf::protocol {
namespace {

using S = ServerCallState;
using E = ServerCallEvent;
using T = ServerCallStep;

void bring_to(ServerCall& call, S state) {
  if (state == S::waiting) call.on(E::queued);
  if (state == S::running || state == S::stopping) call.on(E::started);
  if (state == S::stopping) call.on(E::cancelled);
  if (state == S::ended) call.on(E::answered);
  EXPECT_EQ(call.state(), state);
}

// The server's table of docs/decisions/0019, cell by cell. All other cells are errors of the driver.
TEST(ServerCall, GoesThroughEveryCellOfItsTable) {
  struct Cell {
    S state;
    E event;
    S next;
    T step;
  };
  std::vector<Cell> cells{
      {S::received, E::started, S::running, T::run},    {S::received, E::queued, S::waiting, T::wait},
      {S::received, E::answered, S::ended, T::answer},  {S::received, E::cancelled, S::ended, T::refuse},
      {S::received, E::expired, S::ended, T::refuse},   {S::received, E::lost, S::ended, T::drop},
      {S::waiting, E::started, S::running, T::run},     {S::waiting, E::answered, S::ended, T::answer},
      {S::waiting, E::cancelled, S::ended, T::refuse},  {S::waiting, E::expired, S::ended, T::refuse},
      {S::waiting, E::lost, S::ended, T::drop},         {S::running, E::answered, S::ended, T::answer},
      {S::running, E::cancelled, S::stopping, T::stop}, {S::running, E::expired, S::stopping, T::stop},
      {S::running, E::lost, S::stopping, T::stop},      {S::stopping, E::answered, S::ended, T::drop},
  };
  for (const S state : {S::received, S::waiting, S::running})
    for (const E event : {E::data, E::end_of_stream, E::credit})
      cells.push_back({state, event, state, T::deliver});
  for (const E event : {E::data, E::end_of_stream, E::credit, E::cancelled, E::expired, E::lost}) {
    cells.push_back({S::stopping, event, S::stopping, T::none});
    cells.push_back({S::ended, event, S::ended, T::none});
  }
  for (const E event : {E::started, E::queued, E::answered})
    cells.push_back({S::ended, event, S::ended, T::none});
  for (std::size_t s = 0; s < kServerCallStates; ++s) {
    for (std::size_t e = 0; e < kServerCallEvents; ++e) {
      const auto state = static_cast<S>(s);
      const auto event = static_cast<E>(e);
      SCOPED_TRACE(std::string(name(state)) + " " + name(event));
      ServerCall call;
      bring_to(call, state);
      const auto cell = std::ranges::find_if(
          cells, [&](const Cell& each) { return each.state == state && each.event == event; });
      if (cell == cells.end()) {
        EXPECT_THROW(call.on(event), std::logic_error);
        continue;
      }
      EXPECT_EQ(call.on(event), cell->step);
      EXPECT_EQ(call.state(), cell->next);
    }
  }
}

TEST(ServerCall, AOneWayCallRunsThoughItsClientHasGone) {
  ServerCall call(true);
  call.on(E::queued);
  EXPECT_EQ(call.on(E::lost), T::wait);
  EXPECT_EQ(call.on(E::started), T::run);
}

TEST(ServerCall, IsAnsweredRefusedOrDroppedOnceInWhateverOrder) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ServerCall call;
    int ends = 0;
    int runs = 0;
    int stops = 0;
    for (int i = 0; i < 40; ++i) {
      std::vector<E> possible{E::data, E::end_of_stream, E::credit, E::cancelled, E::expired, E::lost};
      if (call.state() == S::received) possible.insert(possible.end(), {E::queued, E::queued, E::started});
      if (call.state() == S::waiting) possible.push_back(E::started);
      if (call.state() == S::running || call.state() == S::stopping) possible.push_back(E::answered);
      const auto step = call.on(possible[random() % possible.size()]);
      runs += step == T::run ? 1 : 0;
      stops += step == T::stop ? 1 : 0;
      ends += step == T::answer || step == T::refuse || step == T::drop ? 1 : 0;
      if (step == T::refuse) {
        ASSERT_EQ(runs, 0) << "a call that was refused never ran";
      }
    }
    ASSERT_EQ(ends, call.ended() ? 1 : 0);
    ASSERT_LE(runs, 1);
    ASSERT_LE(stops, runs);
  }
}

}  // namespace
}  // namespace mf::protocol
