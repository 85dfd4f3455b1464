#include "mf/codec/schema_type.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mf {
namespace {

constexpr std::string_view kHead = "type ";
constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/// What a module says of one type.
struct Said {
  std::string_view lines;
  std::string_view annex;
  const CustomType* custom = nullptr;
};
using ByName = std::map<std::string_view, Said>;

/// Calls take(name, lines) for each type in a text; its lines begin with its head.
template <class Take>
void for_types(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t next = text.find("\ntype ");
    const std::string_view lines = text.substr(0, next == std::string_view::npos ? next : next + 1);
    text.remove_prefix(lines.size());
    std::string_view name = lines.substr(kHead.size());
    name = name.substr(0, name.find_first_not_of(kOfNames));
    take(name, lines);
  }
}

ByName types_of(std::vector<const ModuleTexts*> pending) {
  ByName known;
  std::set<const ModuleTexts*> seen;
  while (!pending.empty()) {
    const auto* const each = pending.back();
    pending.pop_back();
    if (!seen.insert(each).second) continue;
    for_types(each->types, [&](auto name, auto lines) { known[name].lines = lines; });
    for_types(each->annex, [&](auto name, auto lines) { known[name].annex = lines; });
    for (const CustomType& custom : each->customs) known[custom.name].custom = &custom;
    pending.insert(pending.end(), each->imports.begin(), each->imports.end());
  }
  return known;
}

/// Calls take(name) for whatever may be the name of a type: full names have a point, those of fields have
/// not.
template <class Take>
void for_names(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_of(kOfNames), text.size());
    text.remove_prefix(begin);
    const std::string_view name = text.substr(0, text.find_first_not_of(kOfNames));
    text.remove_prefix(name.size());
    if (!name.empty()) take(name);
  }
}

/// The number of a field, which a line has only where it is on the wire: ` name 4: string`.
std::uint32_t number_in(std::string_view line) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::size_t digits = line.rfind(' ', colon) + 1;
  std::uint32_t number = 0;
  std::from_chars(line.data() + digits, line.data() + colon, number);
  return number;
}

/// The lines of a type as a descriptor has them: fields that have numbers ascend by them.
std::string by_number(std::string_view lines) {
  std::vector<std::string_view> sorted;
  while (!lines.empty()) {
    sorted.push_back(lines.substr(0, lines.find('\n') + 1));
    lines.remove_prefix(sorted.back().size());
  }
  std::ranges::stable_sort(sorted, {}, number_in);
  std::string text;
  for (const auto line : sorted) text += line;
  return text;
}

/// Put together from the lines of a service, topic or value, and those of all types that they reach.
OwnTexts put_together(TypeTexts own, const std::vector<const ModuleTexts*>& modules) {
  const ByName known = types_of(modules);
  std::set<std::string_view> held;  // as a descriptor sorts them
  std::vector<std::string_view> pending{own.descriptor};
  while (!pending.empty()) {
    const auto text = pending.back();
    pending.pop_back();
    for_names(text, [&](std::string_view each) {
      const auto said = known.find(each);
      if (said != known.end() && held.insert(said->first).second) pending.push_back(said->second.lines);
    });
  }
  OwnTexts texts{.texts = std::move(own), .types = {}, .customs = {}};
  for (const auto name : held) {
    const Said& said = known.at(name);
    texts.texts.descriptor += by_number(said.lines);
    texts.texts.annex += said.annex;
    texts.types += said.lines;
    if (said.custom != nullptr) texts.customs.push_back(*said.custom);
  }
  return texts;
}

}  // namespace

OwnTexts own_texts_of(const SpelledType& type) {
  return put_together({.descriptor = "value " + type.text + "\n", .annex = "annex " + type.text + "\n"},
                      type.modules);
}

TypeTexts texts_of(std::string_view descriptor, std::string_view annex, const ModuleTexts& module) {
  return put_together({.descriptor = std::string(descriptor), .annex = std::string(annex)}, {&module}).texts;
}

TypeTexts texts_of(std::string_view type, const ModuleTexts& module) {
  return own_texts_of({.text = std::string(type), .modules = {&module}}).texts;
}

}  // namespace mf
