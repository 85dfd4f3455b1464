#include "evolution/planner.hpp"

namespace mf::evolution {
namespace {

using described::Kind;
using described::kNone;
using described::PairIndex;
using described::Rule;
using described::Schema;
using described::Type;
using described::TypeIndex;

std::string_view word_of(const Type& type) noexcept {
  if (type.kind == Kind::structure && type.tier == Tier::custom) return "custom";
  return described::to_string(type.kind);
}

}  // namespace

std::string short_expression(const Schema& schema, TypeIndex index) {
  if (index == described::kNoType) return "none";
  const auto& type = schema.type(index);
  switch (type.kind) {
    case Kind::optional:
      return short_expression(schema, type.element) + "?";
    case Kind::list:
    case Kind::set:
    case Kind::ref:
      return std::string(described::to_string(type.kind)) + "<" + short_expression(schema, type.element) +
             ">";
    case Kind::map:
      return "map<" + short_expression(schema, type.key) + "," + short_expression(schema, type.element) + ">";
    case Kind::array:
      return "array<" + short_expression(schema, type.element) + "," + std::to_string(type.length) + ">";
    case Kind::structure:
    case Kind::alternatives:
    case Kind::enumeration:
    case Kind::flags:
      return std::string(type.short_name);
    default:
      return std::string(type.name);
  }
}

std::string differ(std::string_view place, std::string_view here, std::string_view there) {
  std::string words(place);
  return words.append(": ").append(here).append(" here, ").append(there).append(" there");
}

std::string Planner::own_reason(PairIndex pair, std::string_view place) const {
  std::vector<PairIndex> reached;
  return scan(pair, std::string(place), reached);
}

std::string Planner::reason(PairIndex root) const {
  std::vector<bool> seen(states_.size());
  std::vector<PairIndex> reached;
  (void)scan(root, {}, reached);
  for (std::size_t i = 0; i < reached.size(); ++i) {  // it grows meanwhile
    const auto pair = reached[i];
    if (seen[pair] || states_[pair].verdict != Verdict::refused) continue;
    seen[pair] = true;
    if (auto words = scan_fields(pair, reached); !words.empty()) return words;
  }
  return {};
}

/// The text for a pair that is refused for a reason of its own, in a field of types `from` and `to`.
std::string Planner::words_of(PairIndex index, const std::string& place, TypeIndex from, TypeIndex to) const {
  const auto& pair = program_.pairs[index];
  const auto& from_type = from_.type(pair.from);
  const auto& to_type = to_.type(pair.to);
  const auto& here_type = from_here_ ? from_type : to_type;
  const auto& there_type = from_here_ ? to_type : from_type;
  const auto here_words = short_expression(here(), from_here_ ? from : to);
  const auto there_words = short_expression(there(), from_here_ ? to : from);
  if (here_words == there_words) {
    const bool kinds = word_of(here_type) != word_of(there_type);
    return differ("type " + std::string(here_type.short_name), kinds ? word_of(here_type) : here_type.name,
                  kinds ? word_of(there_type) : there_type.name);
  }
  return differ(place, here_words, there_words);
}

std::string Planner::scan(PairIndex index, const std::string& place, std::vector<PairIndex>& reached) const {
  const auto& pair = program_.pairs[index];
  if (to_.type(pair.to).implicit) return scan_fields(index, reached);
  return scan_type(index, place, pair.from, pair.to, reached);
}

std::string Planner::scan_type(PairIndex index, const std::string& place, TypeIndex from, TypeIndex to,
                               std::vector<PairIndex>& reached) const {
  if (states_[index].why == Why::types) return words_of(index, place, from, to);
  const auto& pair = program_.pairs[index];
  if (pair.rule == Rule::reference) {  // its target is reached, not held
    if (states_[pair.element].why == Why::types) return words_of(pair.element, place, from, to);
    reached.push_back(pair.element);
    return {};
  }
  if (pair.rule == Rule::record || pair.rule == Rule::alternatives || states_[index].why == Why::graph) {
    reached.push_back(index);
    return {};
  }
  for (const auto part : {pair.key, pair.element}) {
    if (part == kNone) continue;
    if (auto words = scan_type(part, place, from, to, reached); !words.empty()) return words;
  }
  return {};
}

std::string Planner::scan_fields(PairIndex index, std::vector<PairIndex>& reached) const {
  const auto& pair = program_.pairs[index];
  const auto& state = states_[index];
  const auto& from_type = from_.type(pair.from);
  const auto& to_type = to_.type(pair.to);
  const auto& here_type = from_here_ ? from_type : to_type;
  if (state.why == Why::wrong_default) return wrong_defaults_[state.why_field];
  if (state.why == Why::graph) {
    return "type " + std::string(here_type.short_name) + ": values refer to each other " +
           (here_type.linked ? "here, not there" : "there, not here");
  }
  std::string word = pair.rule == Rule::alternatives ? "alternative " : "field ";
  word += std::string(here_type.short_name) + ".";
  if (to_type.implicit) word = from_here_ ? "parameter " : "result ";
  const auto given = from_.fields(from_type);
  const auto wanted = to_.fields(to_type);
  for (std::uint32_t i = 0; i < pair.count; ++i) {
    const auto& step = program_.fields[pair.first + i];
    if (state.why == Why::no_default && state.why_field == i) {
      return word + std::string(wanted[i].name) +
             (from_here_ ? ": only there, and has no default" : ": only here, and has no default");
    }
    if (step.pair == kNone) continue;
    const auto& source = given[step.from_field];
    const auto& target = wanted[step.to_field];
    const auto place = word + std::string((from_here_ ? source : target).name);
    if (auto words = scan_type(step.pair, place, source.type, target.type, reached); !words.empty())
      return words;
  }
  return {};
}

}  // namespace mf::evolution
