#pragma once
// The agents for which servants are offered: text on the wire, whatever type the schema gives them
// (docs/protocol.md, section 9): integers, and members of enums, in decimal, uuids in their canonical text.

#include <optional>
#include <string>
#include <string_view>

#include "mf/core/service.hpp"

namespace mf {

/// Why no servant of the service can be offered for the agent, `""` where it has none; nothing if one can.
[[nodiscard]] std::optional<std::string> agent_refusal(const ServiceInfo& service, std::string_view agent);

}  // namespace mf
