#pragma once
// The agents for which servants are offered: text on the wire, whatever type the schema gives them
// (docs/protocol.md, section 9): integers and members of enums in decimal, uuids in their canonical text.

// A member of an enum is sent as its number. Users see its name: in offers, in the outcomes of scattered
// calls and in messages.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/core/types.hpp"

namespace mf {

/// A typed agent as the text that is sent: `.agent = mf::agent_text(Venue::xetra)`.
template <std::integral T>
[[nodiscard]] std::string agent_text(T value) {
  return std::to_string(value);
}
template <class T>
  requires std::is_enum_v<T>
[[nodiscard]] std::string agent_text(T value) {
  return std::to_string(static_cast<std::underlying_type_t<T>>(value));
}
[[nodiscard]] std::string agent_text(const Uuid& value);

template <class T>
[[nodiscard]] std::vector<std::string> agent_texts(const std::vector<T>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const auto& value : values) texts.push_back(agent_text(value));
  return texts;
}

/// Converts an agent that a user wrote to the text that is sent: an enum member's name to its number.
/// Anything else is unchanged.
[[nodiscard]] std::string sent_agent(const ServiceInfo& service, std::string_view written);

/// Converts an agent that was sent to the text for users: an enum member's number to its name. Anything else
/// is unchanged.
[[nodiscard]] std::string shown_agent(const ServiceInfo& service, std::string_view sent);

/// The reason why no servant of the service can be offered for the agent; nothing if one can.
[[nodiscard]] std::optional<std::string> agent_refusal(const ServiceInfo& service, std::string_view agent);

}  // namespace mf
