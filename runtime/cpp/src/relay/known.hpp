// Waits, without a thread, until the resolver of a relay knows about a service or topic.
#pragma once

#include <memory>
#include <string>

#include "mf/core/clock.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::relay {

class Connection;

/// Calls `then` once on the connection's reactor: when the source has answered for `name`, or at `until`. It
/// is called before this returns if the answer is known. Call it on the reactor's thread.
void when_known(const std::shared_ptr<Connection>& connection, std::string name, TimePoint until,
                UniqueFunction<void()> then);

}  // namespace mf::relay
