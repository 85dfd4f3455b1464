// From how a request ended on its connection to what the machine of its call is told.
#pragma once

#include "mf/link/reply.hpp"
#include "mf/protocol/call.hpp"

namespace mf::client {

/// `call` is being sent, and this is how that attempt ended. Where the call ends, `reply` is what it ends
/// with.
[[nodiscard]] protocol::CallStep settle(protocol::Call& call, link::Reply& reply);

}  // namespace mf::client
