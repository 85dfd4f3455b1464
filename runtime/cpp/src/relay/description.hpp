// Gets the descriptor of a service or topic from one of its servers, for a client of a relay that adapts to
// another schema. Used only on the reactor's thread.
#pragma once

#include <memory>

#include "mf/link/client_link.hpp"
#include "relay/services.hpp"

namespace mf::relay {

class Connection;

/// Asks a server that is said to have the fingerprint. If there is none, it asks `refuser` if that is set,
/// otherwise the instances one after another, within the relay's connect timeout; then it answers the
/// client's DESCRIBE, if necessary with an empty descriptor. `is_topic`: `asked` names a topic; otherwise
/// that is tried if no server offers such a service.
void describe(const std::shared_ptr<Connection>& connection, const protocol::Describe& asked, bool is_topic,
              std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> refuser);

}  // namespace mf::relay
