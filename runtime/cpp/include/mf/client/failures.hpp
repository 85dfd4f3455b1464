// The failures of calls that found no connection.
#pragma once

#include <string_view>
#include <utility>

#include "mf/core/failure.hpp"

namespace mf::client {

[[nodiscard]] inline Failure client_closed() {
  return not_executed(Code::cancelled, "the client was closed");
}

/// A forked child process has called through a client of its parent.
[[nodiscard]] inline Failure inherited_client() {
  return not_executed(Code::unavailable,
                      "the client was opened before this process was forked: open one in the child process");
}

/// The same for what the parent process has begun: `what` is "stream", for example.
[[nodiscard]] inline Failure inherited(std::string_view what) {
  return may_have_run(Code::connection_lost,
                      "the process was forked: the " + std::string(what) + " belongs to the parent process");
}

/// The prefix of the message of a call that was tried until its deadline, before the failure of the last
/// attempt. Code that passes such a failure on in its own message (a client that calls a controller) removes
/// it first, so that a message contains it at most once, at the start.
inline constexpr std::string_view kGaveUp = "gave up at the deadline: ";

[[nodiscard]] inline std::string_view without_gave_up(std::string_view message) noexcept {
  return message.starts_with(kGaveUp) ? message.substr(kGaveUp.size()) : message;
}

/// The failure of a search that has run out of time.
[[nodiscard]] inline Failure gave_up(Failure failure) {
  if (failure.code == Code::ok || failure.code == Code::internal) failure.code = Code::unavailable;
  failure.message.insert(0, kGaveUp);
  return failure;
}

}  // namespace mf::client
