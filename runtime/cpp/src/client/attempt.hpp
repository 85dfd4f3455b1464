// Reports the end of an attempt to the call's state machine.
#pragma once

#include "mf/link/reply.hpp"
#include "mf/protocol/call.hpp"

namespace mf::client {

/// Reports the end of an attempt of `call`, which is `reply`. If the call ends, `reply` becomes its end.
[[nodiscard]] protocol::CallStep settle(protocol::Call& call, link::Reply& reply);

}  // namespace mf::client
