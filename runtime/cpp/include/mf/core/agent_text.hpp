// Agents of services and topics as their descriptors declare them; what mf/core/agent.hpp says of services.
#pragma once

#include <string>
#include <string_view>

namespace mf::detail {

/// What the schema calls an agent, "shelf"; empty if there are none.
[[nodiscard]] std::string_view name_of_agent(std::string_view descriptor) noexcept;
/// The type of the agents; empty if there are none.
[[nodiscard]] std::string_view type_of_agent(std::string_view descriptor) noexcept;
/// Whether the text, as it is sent, is an agent of that type.
[[nodiscard]] bool is_agent(std::string_view descriptor, std::string_view sent);
[[nodiscard]] std::string sent_agent(std::string_view descriptor, std::string_view written);
[[nodiscard]] std::string shown_agent(std::string_view descriptor, std::string_view sent);

}  // namespace mf::detail
