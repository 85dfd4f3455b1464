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

}  // namespace mf::client
