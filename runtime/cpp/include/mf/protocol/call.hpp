#pragma once
// The client's state machine of one call (decision 0019): drivers report events, it returns the next step. It
// alone decides whether a call is sent again, and it ends a call once. It has no socket, no clock and no
// lock, and allocates only for failures of attempts that count; the state of a single call is on its caller's
// stack.
//
//     for (auto step = call.begin();;) switch (step) {
//       case CallStep::resolve:  // step = call.on(CallEvent::resolved), or, with `why` and the time,
//                                // call.fail(CallEvent::unreachable, why, now)
//       case CallStep::bind:     // likewise
//       case CallStep::send:     // likewise
//       case CallStep::end:
//         return;
//     }

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"

namespace mf::protocol {

enum class CallState : std::uint8_t { start, resolving, binding, sending, sent, ended };
inline constexpr std::size_t kCallStates = 6;

enum class CallEvent : std::uint8_t {
  begin,
  resolved,     // a connection to an instance is available
  bound,        // the service is bound on it
  unreachable,  // no instance is available, or the service cannot be bound
  refused,      // the connection did not accept the request: nothing was sent
  written,      // the connection has accepted the request
  data,         // of a stream, as are the next two
  credit,
  stopped,  // the server reads no more of the parameter stream
  replied,  // a REPLY has arrived
  lost,     // the connection has ended
  expired,
  cancelled,
};
inline constexpr std::size_t kCallEvents = 13;

enum class CallStep : std::uint8_t {
  none,     // too late: the call has ended
  resolve,  // find an instance and a connection to it
  bind,
  send,
  wait,
  deliver,  // pass what has arrived to the user of the stream
  end,
  cancel,  // end, and tell the server
  again,   // in the table only: resolve, or end
  wrong,   // in the table only: an error of the driver
};

[[nodiscard]] const char* name(CallState state) noexcept;
[[nodiscard]] const char* name(CallEvent event) noexcept;
[[nodiscard]] const char* name(CallStep step) noexcept;

namespace detail {
struct CallCell {
  CallState state = CallState::ended;
  CallStep step = CallStep::wrong;
};
using CallRow = std::array<CallCell, kCallEvents>;
inline constexpr CallCell kWrong{};
inline constexpr CallCell kResolve{CallState::resolving, CallStep::resolve};
inline constexpr CallCell kBind{CallState::binding, CallStep::bind};
inline constexpr CallCell kSend{CallState::sending, CallStep::send};
inline constexpr CallCell kWait{CallState::sent, CallStep::wait};
inline constexpr CallCell kGive{CallState::sent, CallStep::deliver};
inline constexpr CallCell kAgain{CallState::ended, CallStep::again};
inline constexpr CallCell kEnds{CallState::ended, CallStep::end};
inline constexpr CallCell kTell{CallState::ended, CallStep::cancel};
inline constexpr CallCell kLate{CallState::ended, CallStep::none};
// clang-format off
inline constexpr std::array<CallRow, kCallStates> kCallTable{{
  //              begin     resolved bound   unreachable refused written data    credit  stopped replied lost    expired cancelled
  /* start     */ {kResolve, kWrong, kWrong, kWrong,     kWrong, kWrong, kWrong, kWrong, kWrong, kWrong, kWrong, kEnds,  kEnds},
  /* resolving */ {kWrong,   kBind,  kSend,  kEnds,      kWrong, kWrong, kWrong, kWrong, kWrong, kWrong, kWrong, kEnds,  kEnds},
  /* binding   */ {kWrong,   kWrong, kSend,  kAgain,     kWrong, kWrong, kWrong, kWrong, kWrong, kWrong, kAgain, kEnds,  kEnds},
  /* sending   */ {kWrong,   kWrong, kWrong, kWrong,     kAgain, kWait,  kWrong, kWrong, kWrong, kWrong, kAgain, kEnds,  kEnds},
  /* sent      */ {kWrong,   kWrong, kWrong, kWrong,     kWrong, kWrong, kGive,  kGive,  kGive,  kAgain, kAgain, kTell,  kTell},
  /* ended     */ {kWrong,   kWrong, kWrong, kWrong,     kLate,  kLate,  kLate,  kLate,  kLate,  kLate,  kLate,  kLate,  kLate},
}};
// clang-format on
}  // namespace detail

/// Limits the repetitions of all calls of a client, so that a broken network does not multiply their load: it
/// starts with 1,000; a repetition takes 1, and each started call returns 0.2, up to 1,000. Thread-safe.
class RetryBudget {
 public:
  void on_begin() noexcept {
    if (fifths_.load(std::memory_order_relaxed) < kMost) fifths_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool take() noexcept {
    if (fifths_.fetch_sub(kRepeat, std::memory_order_relaxed) >= kRepeat) return true;
    fifths_.fetch_add(kRepeat, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr std::int32_t kRepeat = 5;
  static constexpr std::int32_t kMost = 1000 * kRepeat;
  std::atomic<std::int32_t> fifths_{kMost};
};

struct CallRules {
  bool idempotent = false;
  bool stream = false;  // in either direction
  bool sends = false;   // a stream of parameters, whose values are not kept for another attempt
};

class Call {
 public:
  static constexpr int kMostAttempts = 3;

  Call(CallRules rules, TimePoint deadline, RetryBudget& budget) noexcept
      : budget_(&budget), deadline_(deadline), rules_(rules) {}

  /// Later calls have to keep their order: an attempt that may still run is not repeated. Before begin().
  void keep_order() noexcept { rules_.idempotent = false; }

  CallStep begin() {
    budget_->on_begin();
    return on(CallEvent::begin);
  }
  /// For events that are no failures, and a successful REPLY. Throws std::logic_error for an event that is
  /// invalid in this state: an error of the driver.
  CallStep on(CallEvent event) {
    const auto next = cell(event);
    state_ = next.state;
    return next.step == CallStep::again ? CallStep::end : next.step;
  }
  /// For failures. If the call ends, `failure` becomes its failure: that of an earlier attempt, if that one
  /// may have run and this one certainly was not executed.
  CallStep fail(CallEvent event, Failure& failure, TimePoint now);

  /// Data of its stream have arrived, so that no other attempt may start it again.
  void heard() noexcept { heard_ = true; }

  [[nodiscard]] CallState state() const noexcept { return state_; }
  [[nodiscard]] bool ended() const noexcept { return state_ == CallState::ended; }
  [[nodiscard]] TimePoint deadline() const noexcept { return deadline_; }
  /// The number of attempts so far, from 1.
  [[nodiscard]] int attempt() const noexcept { return attempt_; }
  /// The failure of the server that refused the latest attempt as OVERLOADED, if one did: the driver sends
  /// the call to another instance, or waits first. Then it calls on_rested().
  [[nodiscard]] const Failure* refusal() const noexcept { return refusal_.get(); }
  void on_rested() noexcept { refusal_.reset(); }

 private:
  [[nodiscard]] detail::CallCell cell(CallEvent event) const {
    const auto cell = detail::kCallTable[static_cast<std::size_t>(state_)][static_cast<std::size_t>(event)];
    if (cell.step == CallStep::wrong) [[unlikely]]
      refuse(event);
    return cell;
  }
  [[noreturn]] void refuse(CallEvent event) const;
  [[nodiscard]] bool may_repeat(CallEvent event, const Failure& failure, TimePoint now) const noexcept;

  RetryBudget* budget_;
  TimePoint deadline_;
  std::unique_ptr<Failure> may_have_run_;
  std::unique_ptr<Failure> refusal_;
  CallRules rules_;
  CallState state_ = CallState::start;
  bool heard_ = false;
  int attempt_ = 1;
};

}  // namespace mf::protocol
