// All transitions of the finder: what is known of the source that lists the endpoints of a service, and the
// way of one endpoint from its address to a bound service. Pure data: finder.cpp fires the events and
// performs the steps, and nothing else changes a state.
//
// An endpoint is one address at which the service is offered. Its states:
//   unknown     it may be tried at once
//   connecting  the pool opens a connection, or has been asked for one
//   binding     the server has been asked to bind the service
//   describing  the server has another schema, and has been asked to describe it
//   bound       calls may go there
//   cooling     it is not tried before a given time: an attempt has failed with what may pass, or its
//               connections ended too soon
//   draining    its server takes no new calls on the connection, and finishes those in flight
//   refused     an attempt has failed with what does not pass by waiting; it is tried again for calls that
//               come later, and when it is announced anew
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mf::route {

enum class State : std::uint8_t {
  unknown,
  connecting,
  binding,
  describing,
  bound,
  cooling,
  draining,
  refused,
};
inline constexpr std::size_t kStates = 8;

enum class Event : std::uint8_t {
  start,      // it is wanted, and there is room for another attempt
  connected,  // there is a connection, at whose server the client's schema may be bound
  foreign,    // the same, and the endpoint was announced with another schema
  bound,
  failed,     // the attempt has failed with what may pass
  refused,    // the attempt has failed with what does not pass by waiting
  differs,    // the server has another schema, which it may be asked to describe
  described,  // it has said what may be bound
  kept,       // a repeated attempt has failed, and its earlier route is still there
  lost,       // the connection of the route has ended
  goaway,     // the server of the route takes no new calls
  rested,     // the time of rest is over
  asked,      // calls have come since it refused
  announced,  // the source has announced it anew
};
inline constexpr std::size_t kEvents = 14;

enum class Step : std::uint8_t {
  none,
  connect,
  bind,
  describe,
  ready,   // calls may take the route
  remove,  // no call may take the route any more
  rest,    // until the pool or the endpoint's own back-off allows another attempt
  again,   // the endpoint may be started at once
  wrong,   // in the table only: an error of the caller
};

struct Cell {
  State next = State::unknown;
  Step step = Step::wrong;
};

namespace table {

inline constexpr Cell kWrong{};
inline constexpr Cell kConnect{State::connecting, Step::connect};
inline constexpr Cell kBind{State::binding, Step::bind};
inline constexpr Cell kAsk{State::describing, Step::describe};
inline constexpr Cell kReady{State::bound, Step::ready};
inline constexpr Cell kKept{State::bound, Step::none};
inline constexpr Cell kRest{State::cooling, Step::rest};
inline constexpr Cell kRefuse{State::refused, Step::rest};
inline constexpr Cell kLost{State::unknown, Step::remove};
inline constexpr Cell kDrain{State::draining, Step::remove};
inline constexpr Cell kAgain{State::unknown, Step::again};

// An event that changes nothing in this state.
constexpr Cell same(State state) {
  return {state, Step::none};
}

using Row = std::array<Cell, kEvents>;
// clang-format off
inline constexpr Cell kU = same(State::unknown);
inline constexpr Cell kC = same(State::connecting);
inline constexpr Cell kB = same(State::binding);
inline constexpr Cell kD = same(State::describing);
inline constexpr Cell kO = same(State::bound);
inline constexpr Cell kZ = same(State::cooling);
inline constexpr Cell kG = same(State::draining);
inline constexpr Cell kR = same(State::refused);

inline constexpr std::array<Row, kStates> kEndpoint{{
  //               start     connected foreign bound   failed  refused  differs described kept    lost    goaway  rested  asked   announced
  /* unknown    */ {kConnect, kWrong,  kWrong, kWrong, kWrong, kWrong,  kWrong, kWrong,   kWrong, kU,     kU,     kU,     kU,     kU},
  /* connecting */ {kWrong,   kBind,   kAsk,   kWrong, kRest,  kRefuse, kWrong, kWrong,   kKept,  kC,     kC,     kC,     kC,     kC},
  /* binding    */ {kWrong,   kWrong,  kWrong, kReady, kRest,  kRefuse, kAsk,   kWrong,   kKept,  kB,     kB,     kB,     kB,     kB},
  /* describing */ {kWrong,   kWrong,  kWrong, kWrong, kRest,  kRefuse, kWrong, kBind,    kKept,  kD,     kD,     kD,     kD,     kD},
  /* bound      */ {kConnect, kWrong,  kWrong, kWrong, kWrong, kWrong,  kWrong, kWrong,   kWrong, kLost,  kDrain, kO,     kO,     kO},
  /* cooling    */ {kWrong,   kWrong,  kWrong, kWrong, kWrong, kWrong,  kWrong, kWrong,   kWrong, kZ,     kZ,     kAgain, kZ,     kAgain},
  /* draining   */ {kConnect, kWrong,  kWrong, kWrong, kWrong, kWrong,  kWrong, kWrong,   kWrong, kAgain, kG,     kAgain, kAgain, kAgain},
  /* refused    */ {kWrong,   kWrong,  kWrong, kWrong, kWrong, kWrong,  kWrong, kWrong,   kWrong, kR,     kR,     kR,     kAgain, kAgain},
}};
// clang-format on

}  // namespace table

[[nodiscard]] constexpr Cell next(State state, Event event) noexcept {
  return table::kEndpoint[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

/// An attempt is in progress, whose result is awaited.
[[nodiscard]] constexpr bool is_under_way(State state) noexcept {
  return state == State::connecting || state == State::binding || state == State::describing;
}

/// What is known from the source that lists the endpoints.
enum class Source : std::uint8_t {
  unknown,    // it has not been asked, since no call waits
  resolving,  // it has not answered
  empty,      // it has no endpoint
  offered,
  refused,  // it cannot be asked, for a reason that does not pass
};
inline constexpr std::size_t kSources = 5;

enum class SourceEvent : std::uint8_t { asked, silent, none, offers, refuses, idle };
inline constexpr std::size_t kSourceEvents = 6;

enum class SourceStep : std::uint8_t { none, look_up, leave, compare };

struct SourceCell {
  Source next;
  SourceStep step;
};

namespace table {

inline constexpr SourceCell kLookUp{Source::resolving, SourceStep::look_up};
inline constexpr SourceCell kSilent{Source::resolving, SourceStep::compare};
inline constexpr SourceCell kEmpty{Source::empty, SourceStep::compare};
inline constexpr SourceCell kOffers{Source::offered, SourceStep::compare};
inline constexpr SourceCell kRefuses{Source::refused, SourceStep::compare};
inline constexpr SourceCell kLeave{Source::unknown, SourceStep::leave};
inline constexpr SourceCell kNoted{Source::unknown, SourceStep::compare};

constexpr SourceCell same(Source source) {
  return {source, SourceStep::none};
}

using SourceRow = std::array<SourceCell, kSourceEvents>;
// clang-format off
inline constexpr std::array<SourceRow, kSources> kSource{{
  //              asked                     silent   none     offers   refuses   idle
  /* unknown   */ {kLookUp,                 kNoted,  kNoted,  kNoted,  kNoted,   same(Source::unknown)},
  /* resolving */ {same(Source::resolving), kSilent, kEmpty, kOffers, kRefuses, kLeave},
  /* empty     */ {same(Source::empty),     kSilent, kEmpty, kOffers, kRefuses, kLeave},
  /* offered   */ {same(Source::offered),   kSilent, kEmpty, kOffers, kRefuses, kLeave},
  /* refused   */ {same(Source::refused),   kSilent, kEmpty, kOffers, kRefuses, kLeave},
}};
// clang-format on

}  // namespace table

[[nodiscard]] constexpr SourceCell next(Source source, SourceEvent event) noexcept {
  return table::kSource[static_cast<std::size_t>(source)][static_cast<std::size_t>(event)];
}

}  // namespace mf::route
