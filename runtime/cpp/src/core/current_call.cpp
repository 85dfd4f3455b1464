#include "mf/core/current_call.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace mf {

constinit thread_local const CallInfo* detail::running_call = nullptr;

const Identity& CallInfo::identity() const noexcept {
  static const Identity kNone;
  if (of_peer != nullptr) return *of_peer;
  return peer == "light:" ? own_identity() : kNone;
}

bool CallInfo::cancelled() const noexcept {
  return expired() || (handle.get() != nullptr && handle.get()->cancelled());
}

std::stop_token CallInfo::stop_token() const {
  return handle.get() != nullptr ? handle.get()->stop_token() : std::stop_token();
}

const Metadata& CallInfo::metadata() const noexcept {
  static const Metadata kNone;
  return handle.get() != nullptr ? handle.get()->metadata() : kNone;
}

void CallInfo::keep_alive(std::chrono::milliseconds dead_after) const {
  if (handle.get() != nullptr) handle.get()->keep_alive(dead_after);
}

void set_reply_metadata(std::string_view key, std::string_view value) {
  if (auto* const handle = current_call().handle.get()) handle->set_reply_metadata(key, value);
}

Metadata detail::passed_on(const Metadata& own, const CallInfo& outer,
                           std::span<const std::string> forwarded) {
  Metadata all = own;
  for (const auto& [key, value] : outer.metadata()) {
    const bool trace = key == Metadata::kTraceParent || key == Metadata::kTraceState;
    const bool listed =
        key != Metadata::kAuthorization && std::ranges::find(forwarded, key) != forwarded.end();
    if ((trace || listed) && own.find(key) == nullptr) all.set(key, value);
  }
  return all;
}

bool CallInfo::expired_roughly() const noexcept {
  return deadline != kNever && rough_now() >= deadline;
}

}  // namespace mf
