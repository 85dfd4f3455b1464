#include "mf/codec/schema_type.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mf {
namespace {

constexpr std::string_view kHead = "type ";
constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/// What two texts say of one type.
struct Said {
  std::string_view lines;
  std::string_view annex;
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

void add_types(const ModuleTexts& module, ByName& known) {
  std::set<const ModuleTexts*> seen;
  std::vector<const ModuleTexts*> pending{&module};
  while (!pending.empty()) {
    const auto* const each = pending.back();
    pending.pop_back();
    if (!seen.insert(each).second) continue;
    for_types(each->types, [&](auto name, auto lines) { known[name].lines = lines; });
    for_types(each->annex, [&](auto name, auto lines) { known[name].annex = lines; });
    pending.insert(pending.end(), each->imports.begin(), each->imports.end());
  }
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

}  // namespace

TypeTexts texts_of(std::string_view descriptor, std::string_view annex, const ModuleTexts& module) {
  ByName known;
  add_types(module, known);
  std::set<std::string_view> held;  // as a descriptor sorts them
  std::vector<std::string_view> pending;
  const auto add = [&](std::string_view name) {
    if (known.contains(name) && held.insert(name).second) pending.push_back(name);
  };
  for_names(descriptor, add);
  while (!pending.empty()) {
    const auto name = pending.back();
    pending.pop_back();
    for_names(known[name].lines, add);
  }
  TypeTexts texts{.descriptor = std::string(descriptor), .annex = std::string(annex)};
  for (const auto name : held) {
    texts.descriptor += known[name].lines;
    texts.annex += known[name].annex;
  }
  return texts;
}

TypeTexts texts_of(std::string_view type, const ModuleTexts& module) {
  const std::string line = std::string(type) + "\n";
  return texts_of("value " + line, "annex " + line, module);
}

}  // namespace mf
