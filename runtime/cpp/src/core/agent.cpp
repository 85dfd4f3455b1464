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
bool is_number(std::string_view text, unsigned bits) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || std::to_string(number) != text) return false;
  const unsigned beyond = 64 - bits;  // what these bits drop must come back
  return static_cast<Number>(static_cast<Number>(static_cast<std::uint64_t>(number) << beyond) >> beyond) ==
         number;
}

bool is_integer(std::string_view type, std::string_view text) {
  unsigned bits = 0;
  std::from_chars(type.data() + 1, type.data() + type.size(), bits);
  return type[0] == 'u' ? is_number<std::uint64_t>(text, bits) : is_number<std::int64_t>(text, bits);
}

bool is_integer_type(std::string_view type) noexcept {
  for (const std::string_view one : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
    if (type == one) return true;
  }
  return false;
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
  if (is_integer_type(type)) return is_integer(type, agent);
  while (!descriptor.empty()) {  // else a string, or an enum: `type NAME enum BASE closed`, or `open`
    auto line = take_until(descriptor, '\n');
    if (take_until(line, ' ') != "type" || take_until(line, ' ') != type || take_until(line, ' ') != "enum")
      continue;
    const auto base = take_until(line, ' ');
    return is_integer(base, agent) && (line != "closed" || is_member(descriptor, agent));
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
