#pragma once
// The options of one call. Aggregates for designated initialisers: `mf::CallOptions{.deadline = 200ms}`.

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "mf/core/metadata.hpp"

namespace mf {

/// No deadline: wait for ever. It must be requested; nothing is infinite by default.
inline constexpr std::chrono::nanoseconds kInfinite = (std::chrono::nanoseconds::max)();
/// Not set: the method's `@deadline` applies, else kDefaultDeadline.
inline constexpr std::chrono::nanoseconds kUnset = (std::chrono::nanoseconds::min)();
inline constexpr std::chrono::nanoseconds kDefaultDeadline = std::chrono::seconds(30);

struct CallOptions {
  std::chrono::nanoseconds deadline = kUnset;
  std::chrono::nanoseconds idle = kInfinite;  // of a stream: ends it if no value or credit comes for so long
  Metadata metadata{};                        // sent with the request
  /// Receives the reply's metadata; for calls of one agent only, not for scattered calls. It must live until
  /// the call has ended.
  Metadata* reply_metadata = nullptr;
  std::stop_token stop{};  // ends the call as CANCELLED, and notifies the server
};

struct BatchOptions {
  std::chrono::nanoseconds deadline = kUnset;  // of the whole batch
  std::uint32_t size = 0;                      // items a message; 0: the method's `@batch`, else 128
  std::uint32_t window = 0;                    // messages in flight at most; 0: the runtime's choice
  Metadata metadata{};                         // sent with each message
  std::stop_token stop{};                      // ends pending items as CANCELLED, and notifies the server
};

/// The deadline of a call: the caller's, else the method's (0: none), else 30 s.
[[nodiscard]] constexpr std::chrono::nanoseconds effective_deadline(
    std::chrono::nanoseconds of_call, std::chrono::nanoseconds of_method) noexcept {
  if (of_call != kUnset) return of_call;
  return of_method > std::chrono::nanoseconds::zero() ? of_method : kDefaultDeadline;
}

}  // namespace mf
