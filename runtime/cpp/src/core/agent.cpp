#include "mf/core/agent.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "mf/core/text.hpp"

namespace mf {
namespace {

/// What stands before the next `end`; `rest` goes on behind it.
std::string_view take_until(std::string_view& rest, char end) noexcept {
  const std::size_t at = rest.find(end);
  const auto taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return taken;
}

/// The type that the descriptor gives the agent: its second line is ` per NAME TYPE`.
std::string_view type_of_agent(std::string_view descriptor) noexcept {
  take_until(descriptor, '\n');
  auto line = take_until(descriptor, '\n');
  if (!line.starts_with(" per ")) return {};
  return line.substr(line.rfind(' ') + 1);
}

/// Whether it is a number's only text: "7", not "07" nor "+7".
template <class Number>
bool is_number(std::string_view text) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && std::to_string(number) == text;
}

/// Nothing if the type is no integer.
std::optional<bool> is_integer(std::string_view type, std::string_view text) {
  if (type == "i8") return is_number<std::int8_t>(text);
  if (type == "i16") return is_number<std::int16_t>(text);
  if (type == "i32") return is_number<std::int32_t>(text);
  if (type == "i64") return is_number<std::int64_t>(text);
  if (type == "u8") return is_number<std::uint8_t>(text);
  if (type == "u16") return is_number<std::uint16_t>(text);
  if (type == "u32") return is_number<std::uint32_t>(text);
  if (type == "u64") return is_number<std::uint64_t>(text);
  return std::nullopt;
}

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
    if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

/// `rest`: the descriptor behind the line of the enum. Its members' lines are indented and end with a number.
bool is_member(std::string_view rest, std::string_view text) noexcept {
  while (rest.starts_with(' ')) {
    const auto line = take_until(rest, '\n');
    if (line.substr(line.rfind(' ') + 1) == text) return true;
  }
  return false;
}

bool fits(std::string_view type, std::string_view agent, std::string_view descriptor) {
  if (type == "uuid") return is_uuid(agent);
  if (const auto integer = is_integer(type, agent)) return *integer;
  while (!descriptor.empty()) {  // else a string, or an enum: `type NAME enum BASE closed`, or `open`
    auto line = take_until(descriptor, '\n');
    if (take_until(line, ' ') != "type" || take_until(line, ' ') != type || take_until(line, ' ') != "enum")
      continue;
    return is_integer(take_until(line, ' '), agent).value_or(false) &&
           (line != "closed" || is_member(descriptor, agent));
  }
  return true;
}

}  // namespace

std::optional<std::string> agent_refusal(const ServiceInfo& service, std::string_view agent) {
  const std::string name(service.name);
  if (service.per_agent && agent.empty())
    return name + " is offered per agent: say which one, .agent = \"…\"";
  if (!service.per_agent && !agent.empty())
    return name + " has no agents, but is offered for \"" + std::string(agent) + "\"";
  if (!is_utf8(agent)) return name + ": the agent is not UTF-8";
  if (!service.per_agent) return std::nullopt;
  const auto type = type_of_agent(service.descriptor);
  if (fits(type, agent, service.descriptor)) return std::nullopt;
  return name + " is offered per agent of type " + std::string(type) + ": not for \"" + std::string(agent) +
         "\"";
}

}  // namespace mf
