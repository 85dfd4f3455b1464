// Gets the descriptor of a service from one of its servers, for a client of a relay that explains differences
// of schemas. Used only on the reactor's thread.
#pragma once

#include <memory>
#include <string>

#include "mf/link/client_link.hpp"
#include "relay/services.hpp"

namespace mf::relay {

class Connection;

/// Asks `first` if it is set, otherwise the instances one after another, within the relay's connect timeout;
/// then answers the client's DESCRIBE, if necessary with an empty descriptor.
void describe(const std::shared_ptr<Connection>& connection, std::string service, std::string asked_for,
              std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> first);

}  // namespace mf::relay
