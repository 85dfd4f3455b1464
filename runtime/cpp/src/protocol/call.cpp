#include "mf/protocol/call.hpp"

#include <stdexcept>
#include <string>

#include "mf/core/code_class.hpp"

namespace mf::protocol {
namespace {

constexpr std::array<const char*, kCallStates> kStates{"start",   "resolving", "binding",
                                                       "sending", "sent",      "ended"};
constexpr std::array<const char*, kCallEvents> kEvents{
    "begin",  "resolved", "bound",   "unreachable", "refused", "written",  "data",
    "credit", "stopped",  "replied", "lost",        "expired", "cancelled"};
constexpr std::array<const char*, 10> kSteps{"none",    "resolve", "bind",   "send",  "wait",
                                             "deliver", "end",     "cancel", "again", "wrong"};

}  // namespace

const char* name(CallState state) noexcept {
  return kStates.at(static_cast<std::size_t>(state));
}
const char* name(CallEvent event) noexcept {
  return kEvents.at(static_cast<std::size_t>(event));
}
const char* name(CallStep step) noexcept {
  return kSteps.at(static_cast<std::size_t>(step));
}

void Call::refuse(CallEvent event) const {
  throw std::logic_error(std::string("a call that is ") + name(state_) + " cannot see the event " +
                         name(event));
}

CallStep Call::fail(CallEvent event, Failure& failure, TimePoint now) {
  const auto next = cell(event);
  if (next.step == CallStep::none) return CallStep::none;
  if (next.step == CallStep::again && may_repeat(event, failure, now)) {
    if (failure.execution != Execution::not_executed && !may_have_run_) {
      may_have_run_ = std::make_unique<Failure>(std::move(failure));
    } else if (failure.code == Code::overloaded) {
      refusal_ = std::make_unique<Failure>(std::move(failure));
    }
    ++attempt_;
    state_ = CallState::resolving;
    return CallStep::resolve;
  }
  state_ = CallState::ended;
  if (may_have_run_ && failure.execution == Execution::not_executed) failure = std::move(*may_have_run_);
  return next.step == CallStep::again ? CallStep::end : next.step;
}

// The rules of decision 0019, in their order.
bool Call::may_repeat(CallEvent event, const Failure& failure, TimePoint now) const noexcept {
  if (attempt_ >= kMostAttempts || now >= deadline_) return false;
  const bool unharmed = failure.execution == Execution::not_executed;
  // OVERLOADED only if the server says so: limits of this side do not change by waiting.
  const bool by_server = failure.code != Code::overloaded || event == CallEvent::replied;
  if (!may_go_elsewhere(failure.code) || !by_server) return false;
  if (!unharmed && !is_lost(failure.code)) return false;
  if (!unharmed && !rules_.idempotent) return false;
  if (rules_.stream && state_ == CallState::sent &&
      (rules_.sends || heard_ || !unharmed || failure.code == Code::overloaded))
    return false;
  return failure.code == Code::shutting_down || budget_->take();
}

}  // namespace mf::protocol
