#include "mf/protocol/server_call.hpp"

#include <stdexcept>
#include <string>

namespace mf::protocol {
namespace {

constexpr std::array<const char*, kServerCallStates> kStates{"received", "waiting", "running", "stopping",
                                                             "ended"};
constexpr std::array<const char*, kServerCallEvents> kEvents{
    "started", "queued", "answered", "data", "end_of_stream", "credit", "cancelled", "expired", "lost"};
constexpr std::array<const char*, 9> kSteps{"none",   "run",  "wait", "deliver", "answer",
                                            "refuse", "stop", "drop", "wrong"};

}  // namespace

const char* name(ServerCallState state) noexcept {
  return kStates.at(static_cast<std::size_t>(state));
}
const char* name(ServerCallEvent event) noexcept {
  return kEvents.at(static_cast<std::size_t>(event));
}
const char* name(ServerCallStep step) noexcept {
  return kSteps.at(static_cast<std::size_t>(step));
}

ServerCallStep ServerCall::on(ServerCallEvent event) {
  auto state = state_.load(std::memory_order_acquire);
  for (;;) {
    auto next = detail::kServerCallTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
    if (next.step == ServerCallStep::wrong) [[unlikely]]
      throw std::logic_error(std::string("a call that is ") + name(state) + " cannot see the event " +
                             name(event));
    // A one-way call is not cancelled: it runs although its client has gone.
    if (oneway_ && event == ServerCallEvent::lost && state == ServerCallState::waiting)
      next = {ServerCallState::waiting, ServerCallStep::wait};
    if (state_.compare_exchange_weak(state, next.state, std::memory_order_acq_rel)) return next.step;
  }
}

}  // namespace mf::protocol
