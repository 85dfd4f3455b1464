#include "mf/core/current_call.hpp"

namespace mf {
namespace {

thread_local const CallInfo* current = nullptr;

}  // namespace

const CallInfo& current_call() noexcept {
  static constexpr CallInfo kNone{};
  return current != nullptr ? *current : kNone;
}

CallScope::CallScope(const CallInfo& call) noexcept : before_(current) {
  current = &call;
}

CallScope::~CallScope() {
  current = before_;
}

}  // namespace mf
