#pragma once
// What a handler may ask about the call that it runs in.
//
// Set for the thread while a plain handler runs, and while an asynchronous one is started: one that goes on
// elsewhere copies it first.

#include <cstdint>
#include <string_view>

#include "mf/core/clock.hpp"

namespace mf {

struct CallInfo {
  std::string_view service;
  std::string_view agent;        // that was asked for; "" for a service without agents
  std::string_view peer;         // "tcp://10.0.0.3:5123", or "light:"
  std::uint64_t request_id = 0;  // of the message; 0 in-process
  std::uint64_t connection = 0;  // unlike that of every other connection of this server; 0 in-process
  TimePoint deadline = kNever;

  [[nodiscard]] bool expired() const noexcept {
    return deadline != kNever && std::chrono::steady_clock::now() >= deadline;
  }
  /// The same by a clock that is some milliseconds behind and four times as quick: for loops over many small
  /// items.
  [[nodiscard]] bool expired_roughly() const noexcept;
};

/// The call that this thread runs; an empty CallInfo outside of any.
[[nodiscard]] const CallInfo& current_call() noexcept;

/// Makes `call` the current one for the length of a scope.
class CallScope {
 public:
  explicit CallScope(const CallInfo& call) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  const CallInfo* before_;
};

}  // namespace mf
