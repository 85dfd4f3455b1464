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

/// The failure of a search that has run out of time, by that of its last attempt.
[[nodiscard]] inline Failure gave_up(Failure failure) {
  if (failure.code == Code::ok || failure.code == Code::internal) failure.code = Code::unavailable;
  return in_context("gave up at the deadline: ", std::move(failure));
}

}  // namespace mf::client
