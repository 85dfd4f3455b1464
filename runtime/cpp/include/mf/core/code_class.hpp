#pragma once
// What the code of a failure means for the caller that received it: the one table of the classes of codes,
// and a function for each class. Every question of the kind "may this failure pass?" is answered here; no
// other file lists codes for one.
//
// The callers' own sets differed before there was a table. What was decided:
//  - passes: a search for a connection goes on after DEADLINE_EXCEEDED, which is a server that did not answer
//    BIND in time, in clients as in relays. It does not go on after OVERLOADED: the server's answer asks the
//    caller to come later, and waiting would hide that.
//  - comes_back: a standing stream, such as one to a mailbox, is also opened again after UNKNOWN_SERVICE and
//    UNKNOWN_AGENT, after OVERLOADED, and after CANCELLED, which is how a server that stops ends it. A single
//    call is not repeated for these reasons.
//  - same_everywhere: one of several publishers may be broken or have another schema. So for a subscription
//    only what concerns the request and its sender is final. This class is a part of is_for_good.
//  - is_for_good: MESSAGE_TOO_LARGE and the codes of a mismatch belong to it, since the same bytes to the
//    same server fail again.
//  - refuses_only_this: UNAUTHENTICATED and PERMISSION_DENIED concern all requests of their sender, so they
//    do not refuse one request among several.

#include <array>
#include <cstddef>
#include <cstdint>

#include "mf/core/error.hpp"

namespace mf {

enum class CodeClass : std::uint16_t {
  lost = 1U << 0U,
  elsewhere = 1U << 1U,
  passes = 1U << 2U,
  comes_back = 1U << 3U,
  may_run = 1U << 4U,
  goes_away = 1U << 5U,
  only_this = 1U << 6U,
  everywhere = 1U << 7U,
  for_good = 1U << 8U,
  by_handler = 1U << 9U,
};

namespace detail {

/// Of the table's columns, which have the order of CodeClass.
consteval std::uint16_t code_row(const char (&marks)[11]) {
  std::uint16_t row = 0;
  for (unsigned column = 0; column < 10; ++column)
    if (marks[column] == 'x') row = static_cast<std::uint16_t>(row | (1U << column));
  return row;
}

// clang-format off
inline constexpr std::array<std::uint16_t, kLastCode + 1> kCodeClasses{
  // lost, elsewhere, passes, comes_back, may_run, goes_away, only_this, everywhere, for_good, by_handler:
  //                               lepcmgoefh
  /* ok                */ code_row("----------"),
  /* declared          */ code_row("----------"),
  /* invalid_argument  */ code_row("------xxxx"),
  /* unknown_service   */ code_row("---x----x-"),
  /* unknown_agent     */ code_row("---x------"),
  /* unknown_method    */ code_row("--------x-"),
  /* schema_mismatch   */ code_row("--------x-"),
  /* handler_failed    */ code_row("----------"),
  /* deadline_exceeded */ code_row("--xxx-----"),
  /* cancelled         */ code_row("---xxx----"),
  /* overloaded        */ code_row("-x-x--x--x"),
  /* unavailable       */ code_row("xxxxxx----"),
  /* connection_lost   */ code_row("xxxxxx----"),
  /* message_too_large */ code_row("--------x-"),
  /* decode_error      */ code_row("----------"),
  /* protocol_error    */ code_row("--------x-"),
  /* unauthenticated   */ code_row("-------xxx"),
  /* permission_denied */ code_row("-------xxx"),
  /* shutting_down     */ code_row("-xxx-x----"),
  /* internal          */ code_row("----------"),
};
// clang-format on

}  // namespace detail

/// A code outside the set, of a later version of the protocol, is in no class.
[[nodiscard]] constexpr bool is_in(Code code, CodeClass of) noexcept {
  const auto number = static_cast<std::size_t>(code);
  return number < detail::kCodeClasses.size() &&
         (detail::kCodeClasses[number] & static_cast<std::uint16_t>(of)) != 0;
}

/// There is no way to the server, or it has broken: what was in flight has ended with it.
[[nodiscard]] constexpr bool is_lost(Code code) noexcept {
  return is_in(code, CodeClass::lost);
}
/// Another server may be tried with a call that certainly was not executed.
[[nodiscard]] constexpr bool may_go_elsewhere(Code code) noexcept {
  return is_in(code, CodeClass::elsewhere);
}
/// The same server may be reached in a moment: a search for a connection tries again until its deadline.
[[nodiscard]] constexpr bool may_pass(Code code) noexcept {
  return is_in(code, CodeClass::passes);
}
/// A stream that stays and has ended so may be opened again, within the patience of its user.
[[nodiscard]] constexpr bool may_come_back(Code code) noexcept {
  return is_in(code, CodeClass::comes_back);
}
/// A call that ended so on this side, and may have run, may still be in execution at the server.
[[nodiscard]] constexpr bool may_still_run(Code code) noexcept {
  return is_in(code, CodeClass::may_run);
}
/// A stream ends so when its server or its connection goes away: nothing that needs a line in a log.
[[nodiscard]] constexpr bool is_going_away(Code code) noexcept {
  return is_in(code, CodeClass::goes_away);
}
/// The server works and has accepted the sender: it refuses this one request, and may accept others.
[[nodiscard]] constexpr bool refuses_only_this(Code code) noexcept {
  return is_in(code, CodeClass::only_this);
}
/// The request is refused for its content or its sender: every server gives the same answer.
[[nodiscard]] constexpr bool is_same_everywhere(Code code) noexcept {
  return is_in(code, CodeClass::everywhere);
}
/// The same request to the same server fails until a person changes something.
[[nodiscard]] constexpr bool is_for_good(Code code) noexcept {
  return is_in(code, CodeClass::for_good);
}
/// A handler may raise it for its caller; any other code that leaves a handler becomes HANDLER_FAILED.
[[nodiscard]] constexpr bool is_raised_by_handlers(Code code) noexcept {
  return is_in(code, CodeClass::by_handler);
}

}  // namespace mf
