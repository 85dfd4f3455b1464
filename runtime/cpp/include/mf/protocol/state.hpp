#pragma once
// Which frame may be sent when: one table for both roles, for sent and received frames alike. It does not
// know which side it is. Each direction of a connection has its own state, which only frames of its sender
// change.

#include <array>
#include <cstdint>

#include "mf/protocol/frame.hpp"

namespace mf::protocol {

enum class Role : std::uint8_t { client = 0, server = 1 };
[[nodiscard]] constexpr Role other(Role role) noexcept {
  return role == Role::client ? Role::server : Role::client;
}

enum class State : std::uint8_t {
  fresh = 0,      // nothing sent: HELLO, or REFUSE
  open = 1,       // HELLO was sent
  draining = 2,   // GOAWAY was sent: what was begun is finished
  closed = 3,     // REFUSE was sent: nothing more
  forbidden = 4,  // not a state: the sender may not send that now
};

[[nodiscard]] const char* name(State state) noexcept;

namespace detail {
using StateRow = std::array<State, kLastFrameType + 1>;
inline constexpr State kNo = State::forbidden;
inline constexpr State kOpen = State::open;
inline constexpr State kDrain = State::draining;
inline constexpr State kEnd = State::closed;
// clang-format off
//                                            -    HELLO  REFUSE BIND   BOUND   REQUEST REPLY   CANCEL  PING    PONG    GOAWAY  DESCRIBE DESCRIPTOR DATA    CREDIT  END    UNBIND
inline constexpr std::array<std::array<StateRow, 4>, 2> kTransitions{{
  {{ /* client */
    /* fresh    */ StateRow{kNo, kOpen, kEnd, kNo,   kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,   kNo,    kNo,    kNo,    kNo,   kNo},
    /* open     */ StateRow{kNo, kNo,   kEnd, kOpen, kNo,    kOpen,  kNo,    kOpen,  kOpen,  kOpen,  kNo,    kOpen, kNo,    kOpen,  kOpen,  kOpen, kOpen},
    /* draining */ StateRow{kNo, kNo,   kNo,  kNo,   kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,   kNo,    kNo,    kNo,    kNo,   kNo},
    /* closed   */ StateRow{kNo, kNo,   kNo,  kNo,   kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,   kNo,    kNo,    kNo,    kNo,   kNo},
  }},
  {{ /* server */
    /* fresh    */ StateRow{kNo, kOpen, kEnd, kNo,   kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,   kNo,    kNo,    kNo,    kNo,   kNo},
    /* open     */ StateRow{kNo, kNo,   kEnd, kNo,   kOpen,  kNo,    kOpen,  kOpen,  kOpen,  kOpen,  kDrain, kNo,   kOpen,  kOpen,  kOpen,  kNo,   kNo},
    /* draining */ StateRow{kNo, kNo,   kEnd, kNo,   kDrain, kNo,    kDrain, kDrain, kDrain, kDrain, kDrain, kNo,   kDrain, kDrain, kDrain, kNo,   kNo},
    /* closed   */ StateRow{kNo, kNo,   kNo,  kNo,   kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,    kNo,   kNo,    kNo,    kNo,    kNo,   kNo},
  }},
}};
// clang-format on
}  // namespace detail

/// The state of the sender's direction after the frame, or State::forbidden. `type` may be any number.
[[nodiscard]] constexpr State after(Role sender, State state, FrameType type) noexcept {
  const auto number = static_cast<std::uint8_t>(type);
  if (number > kLastFrameType || state == State::forbidden) return State::forbidden;
  return detail::kTransitions[static_cast<std::uint8_t>(sender)][static_cast<std::uint8_t>(state)][number];
}

/// Whether a frame may arrive that the receiver skips because it does not know its type.
[[nodiscard]] constexpr bool may_be_skipped(State state, FrameType type) noexcept {
  return static_cast<std::uint8_t>(type) >= kFirstSkippable &&
         (state == State::open || state == State::draining);
}

}  // namespace mf::protocol
