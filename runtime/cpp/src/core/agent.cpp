#include "mf/core/agent.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "mf/core/agent_text.hpp"
#include "mf/core/hex.hpp"
#include "mf/core/service_texts.hpp"
#include "mf/core/text.hpp"

namespace mf {
namespace {

/// Returns the text before the next `end`; `rest` becomes the text after it.
std::string_view take_until(std::string_view& rest, char end) noexcept {
  const std::size_t at = rest.find(end);
  const auto taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return taken;
}

/// Whether it is the canonical text of a number: "7", not "07" nor "+7".
template <class Number>
bool is_number(std::string_view text) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && std::to_string(number) == text;
}

/// Nothing if the type is not an integer.
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

/// `NAME TYPE` of the descriptor's second line, ` per NAME TYPE`; empty if it has no agents.
std::string_view agent_of(std::string_view descriptor) noexcept {
  constexpr std::string_view kPer = " per ";
  take_until(descriptor, '\n');
  const auto line = take_until(descriptor, '\n');
  return line.starts_with(kPer) ? line.substr(kPer.size()) : std::string_view();
}

struct EnumText {
  std::string_view base;
  bool closed;
  std::string_view members;  // one line for each, indented: ` NAME NUMBER`
};

/// The enum in the descriptor if the agent's type is one: `type NAME enum BASE closed`, or `open`.
std::optional<EnumText> enum_of(std::string_view type, std::string_view descriptor) noexcept {
  while (!descriptor.empty()) {
    auto line = take_until(descriptor, '\n');
    if (take_until(line, ' ') != "type" || take_until(line, ' ') != type || take_until(line, ' ') != "enum")
      continue;
    const auto base = take_until(line, ' ');
    return EnumText{.base = base, .closed = line == "closed", .members = descriptor};
  }
  return std::nullopt;
}

struct MemberText {
  std::string_view name;
  std::string_view number;
};

/// The first member for which `wanted` is true.
template <class Wanted>
std::optional<MemberText> find_member(std::string_view members, Wanted wanted) {
  while (members.starts_with(' ')) {
    auto line = take_until(members, '\n');
    line.remove_prefix(line.find_first_not_of(' '));
    const MemberText member{.name = line.substr(0, line.find(' ')),
                            .number = line.substr(line.rfind(' ') + 1)};
    if (wanted(member)) return member;
  }
  return std::nullopt;
}

/// The member of the agent's enum; nothing if it has another type.
template <class Wanted>
std::optional<MemberText> find_agent(std::string_view descriptor, Wanted wanted) {
  const auto of_agent = enum_of(detail::type_of_agent(descriptor), descriptor);
  return of_agent ? find_member(of_agent->members, wanted) : std::nullopt;
}

}  // namespace

namespace detail {

std::string_view name_of_agent(std::string_view descriptor) noexcept {
  auto declared = agent_of(descriptor);
  return take_until(declared, ' ');
}

std::string_view type_of_agent(std::string_view descriptor) noexcept {
  const auto declared = agent_of(descriptor);
  return declared.substr(declared.rfind(' ') + 1);
}

bool is_agent(std::string_view descriptor, std::string_view sent) {
  const auto type = type_of_agent(descriptor);
  if (type == "uuid") return is_uuid(sent);
  if (const auto integer = is_integer(type, sent)) return *integer;
  const auto of_agent = enum_of(type, descriptor);
  if (!of_agent) return true;  // a string
  return is_integer(of_agent->base, sent).value_or(false) &&
         (!of_agent->closed ||
          find_member(of_agent->members, [&](const MemberText& each) { return each.number == sent; }));
}

std::string sent_agent(std::string_view descriptor, std::string_view written) {
  const auto member = find_agent(descriptor, [&](const MemberText& each) { return each.name == written; });
  return std::string(member ? member->number : written);
}

std::string shown_agent(std::string_view descriptor, std::string_view sent) {
  const auto member = find_agent(descriptor, [&](const MemberText& each) { return each.number == sent; });
  return std::string(member ? member->name : sent);
}

}  // namespace detail

std::string agent_text(const Uuid& value) {
  auto text = to_hex(value.bytes);
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, 1, '-');
  return text;
}

std::string sent_agent(const ServiceInfo& service, std::string_view written) {
  return detail::sent_agent(descriptor_of(service), written);
}

std::string shown_agent(const ServiceInfo& service, std::string_view sent) {
  return detail::shown_agent(descriptor_of(service), sent);
}

std::optional<std::string> agent_refusal(const ServiceInfo& service, std::string_view agent) {
  const std::string name(service.name);
  if (service.per_agent && agent.empty())
    return name + " is offered per agent: say which one, .agent = \"…\"";
  if (!service.per_agent && !agent.empty())
    return name + " has no agents, but is offered for \"" + std::string(agent) + "\"";
  if (!is_utf8(agent)) return name + ": the agent is not UTF-8";
  if (!service.per_agent) return std::nullopt;
  if (detail::is_agent(descriptor_of(service), agent)) return std::nullopt;
  const auto type = detail::type_of_agent(service.descriptor);
  return name + " is offered per agent of type " + std::string(type) + ": not for \"" + std::string(agent) +
         "\"";
}

}  // namespace mf
