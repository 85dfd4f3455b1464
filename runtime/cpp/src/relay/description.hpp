// What a client of a relay asks for to explain why schemas differ: the descriptor of a service, from a server
// of it. The reactor's thread only.
#pragma once

#include <memory>
#include <string>

#include "mf/link/client_link.hpp"
#include "relay/services.hpp"

namespace mf::relay {

class Connection;

/// Asks `first` if that is there, else the instances one after another, within the time in which a relay
/// connects; then answers the client's DESCRIBE, if need be with nothing.
void describe(const std::shared_ptr<Connection>& connection, std::string service, std::string asked_for,
              std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> first);

}  // namespace mf::relay
