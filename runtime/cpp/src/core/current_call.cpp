#include "mf/core/current_call.hpp"

#include <ctime>

namespace mf {
namespace {

thread_local const CallInfo* current = nullptr;

}  // namespace

const CallInfo& current_call() noexcept {
  static constexpr CallInfo kNone{};
  return current != nullptr ? *current : kNone;
}

bool CallInfo::expired_roughly() const noexcept {
  if (deadline == kNever) return false;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // steady_clock's own time line
  const auto since_start = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  return since_start >= deadline.time_since_epoch();
}

CallScope::CallScope(const CallInfo& call) noexcept : before_(current) {
  current = &call;
}

CallScope::~CallScope() {
  current = before_;
}

}  // namespace mf
