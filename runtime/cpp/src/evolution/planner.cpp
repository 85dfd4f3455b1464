#include "evolution/planner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace mf::evolution {
namespace {

using described::Field;
using described::Kind;
using described::kNone;
using described::MemberStep;
using described::PairIndex;
using described::Rule;
using described::Schema;
using described::Type;
using described::TypeIndex;

constexpr std::uint32_t kNobody = UINT32_MAX;

bool is_unsigned(Kind kind) noexcept {
  return kind >= Kind::u8 && kind <= Kind::u64;
}
bool is_signed(Kind kind) noexcept {
  return kind >= Kind::i8 && kind <= Kind::i64;
}
unsigned bits_of(Kind integer) noexcept {
  const auto first = is_signed(integer) ? Kind::i8 : Kind::u8;
  return 8U << (static_cast<unsigned>(integer) - static_cast<unsigned>(first));
}

/// Does a number of one base, in two's complement if that is signed, fit another?
bool fits(Kind from, std::uint64_t number, Kind to) noexcept {
  const auto bits = bits_of(to);
  const bool negative = is_signed(from) && static_cast<std::int64_t>(number) < 0;
  if (!is_signed(to)) return !negative && (bits == 64 || number >> bits == 0);
  if (negative) return static_cast<std::int64_t>(number) >= -(std::int64_t{1} << (bits - 1U));
  return number >> (bits - 1U) == 0;
}
/// Do all numbers of one base fit another?
bool holds(Kind to, Kind from) noexcept {
  if (is_signed(to) == is_signed(from)) return bits_of(to) >= bits_of(from);
  return is_signed(to) && bits_of(to) > bits_of(from);
}

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

std::vector<std::uint32_t> partners(std::span<const Named> from, std::span<const Named> to) {
  std::unordered_map<std::string_view, std::uint32_t> places;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> former;
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    places.emplace(from[i].name, i);
    for (const auto was : from[i].was) former[was].push_back(i);
  }
  std::vector<std::uint32_t> found(to.size(), kNone);
  std::vector<bool> taken(from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto same = places.find(to[i].name);
    if (same == places.end()) continue;
    found[i] = same->second;
    taken[same->second] = true;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto take = [&](std::uint32_t place) {
      if (found[i] != kNone || taken[place]) return;
      found[i] = place;
      taken[place] = true;
    };
    if (found[i] != kNone) continue;
    for (const auto was : to[i].was)
      if (const auto other = places.find(was); other != places.end()) take(other->second);
    if (const auto others = former.find(to[i].name); others != former.end())
      for (const auto place : others->second) take(place);
  }
  return found;
}

// ---- pairs

PairIndex Planner::pair(TypeIndex from, TypeIndex to) {
  const auto asked = find_or_make(from, to);
  while (!waiting_.empty()) {
    const auto next = waiting_.back();
    waiting_.pop_back();
    if (within_bounds()) look(next);
  }
  return asked;
}

PairIndex Planner::find_or_make(TypeIndex from, TypeIndex to) {
  ++steps_;
  const auto [found, is_new] = known_.try_emplace(std::uint64_t{from} << 32U | to, kNone);
  if (is_new) found->second = make(from, to);
  return found->second;
}

PairIndex Planner::make(TypeIndex from, TypeIndex to) {
  const auto made = static_cast<PairIndex>(program_.pairs.size());
  program_.pairs.push_back({.from = from, .to = to});
  states_.emplace_back();
  first_holder_.push_back(kNobody);
  waiting_.push_back(made);
  return made;
}

PairIndex Planner::child(PairIndex holder, TypeIndex from, TypeIndex to) {
  return held(holder, find_or_make(from, to));
}

std::uint32_t Planner::add_default(TypeIndex type, std::string_view json) {
  program_.defaults.push_back({.type = type, .json = json});
  return static_cast<std::uint32_t>(program_.defaults.size() - 1);
}

/// The value that replaces an absent one where the schema has no default.
std::uint32_t Planner::empty(TypeIndex type) {
  const auto kind = to_.type(type).kind;
  if (kind == Kind::list || kind == Kind::set) return add_default(type, "[]");
  return kind == Kind::map ? add_default(type, "{}") : kNone;
}

// The default belongs to one field, so the pair is not shared with other fields.
PairIndex Planner::child_with(PairIndex holder, TypeIndex from, TypeIndex to, std::uint32_t fallback) {
  ++steps_;
  const auto index = make(from, to);
  program_.pairs[index].fallback = fallback;
  return held(holder, index);
}

PairIndex Planner::held(PairIndex holder, PairIndex index) {
  holders_.push_back({.pair = holder, .next = first_holder_[index]});
  first_holder_[index] = static_cast<std::uint32_t>(holders_.size() - 1);
  return index;
}

void Planner::at_least(PairIndex index, Verdict verdict) noexcept {
  auto& state = states_[index];
  state.verdict = std::max(state.verdict, verdict);
  if (verdict == Verdict::checked) state.converts = true;
}

void Planner::refuse(PairIndex index, Why why, std::uint32_t field) noexcept {
  states_[index] = {.verdict = Verdict::refused, .converts = true, .why = why, .why_field = field};
}

void Planner::look(PairIndex index) {
  const auto& from = from_.type(program_.pairs[index].from);
  const auto& to = to_.type(program_.pairs[index].to);
  const auto rule = [&](Rule of) { program_.pairs[index].rule = of; };
  const bool both_unsigned = is_unsigned(from.kind) && is_unsigned(to.kind);
  if (both_unsigned || (is_signed(from.kind) && is_signed(to.kind)) ||
      (from.kind == Kind::f32 && to.kind == Kind::f64)) {
    if (from.kind == to.kind && from.coding == to.coding) return;
    rule(Rule::number);
    converts(index);
    return at_least(index, to.kind < from.kind ? Verdict::checked : Verdict::adapts);
  }
  if (from.kind == Kind::string && to.kind == Kind::bytes) {
    rule(Rule::text);
    return at_least(index, Verdict::adapts);
  }
  if (from.kind == Kind::bytes && to.kind == Kind::string) {
    rule(Rule::checked_text);
    return at_least(index, Verdict::checked);
  }
  if (from.kind == Kind::optional && to.kind != Kind::optional) {
    rule(Rule::from_optional);
    converts(index);
    auto& fallback = program_.pairs[index].fallback;
    if (fallback == kNone) fallback = empty(program_.pairs[index].to);
    at_least(index, program_.pairs[index].fallback == kNone ? Verdict::checked : Verdict::adapts);
    program_.pairs[index].element = child(index, from.element, program_.pairs[index].to);
    return;
  }
  if (from.kind != Kind::optional && to.kind == Kind::optional) {
    rule(Rule::to_optional);
    converts(index);
    at_least(index, Verdict::adapts);
    program_.pairs[index].element = child(index, program_.pairs[index].from, to.element);
    return;
  }
  if (from.kind != to.kind) return refuse(index, Why::types);
  switch (from.kind) {
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::array:
    case Kind::optional:
    case Kind::ref:
      return look_at_containers(index, from, to);
    case Kind::structure:
      return look_at_record(index, from, to);
    case Kind::alternatives:
      return look_at_alternatives(index, from, to);
    case Kind::enumeration:
    case Kind::flags:
      return look_at_members(index, from, to);
    default:
      return;  // the same scalar
  }
}

void Planner::look_at_containers(PairIndex index, const Type& from, const Type& to) {
  if (from.length != to.length) return refuse(index, Why::types);
  auto rule = Rule::sequence;
  if (from.kind == Kind::optional) rule = Rule::optional;
  if (from.kind == Kind::map) rule = Rule::map;
  if (from.kind == Kind::ref) rule = Rule::reference;
  program_.pairs[index].rule = rule;
  if (rule == Rule::map) program_.pairs[index].key = child(index, from.key, to.key);
  program_.pairs[index].element = child(index, from.element, to.element);
}

// ---- structs

/// For each field of `to` the index of the field of `from` that gives its value; kNone: there is none.
std::vector<std::uint32_t> Planner::match(const Type& from, const Type& to, bool& renamed) {
  const auto theirs = from_.fields(from);
  const auto wanted = to_.fields(to);
  std::vector<std::uint32_t> places(wanted.size(), kNone);
  steps_ += theirs.size() + wanted.size();
  if (from.tier == Tier::archive && to.tier == Tier::archive) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto found = described::find_field(from_, from, wanted[i].number);
      if (!found) continue;
      places[i] = static_cast<std::uint32_t>(*found);
      renamed = renamed || theirs[*found].name != wanted[i].name;
    }
    return places;
  }
  const auto named = [](const Schema& schema, std::span<const Field> fields) {
    std::vector<Named> names;
    for (const auto& field : fields) names.push_back({.name = field.name, .was = schema.was(field)});
    return names;
  };
  places = partners(named(from_, theirs), named(to_, wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    renamed = renamed || (places[i] != kNone && theirs[places[i]].name != wanted[i].name);
  return places;
}

void Planner::look_at_record(PairIndex index, const Type& from, const Type& to) {
  const bool custom = from.tier == Tier::custom;
  if (custom || to.tier == Tier::custom) {
    if (custom && to.tier == Tier::custom && from.name == to.name) return;
    return refuse(index, Why::types);
  }
  if (from.linked != to.linked) return refuse(index, Why::graph);
  bool renamed = false;
  const auto places = match(from, to, renamed);
  auto& pair = program_.pairs[index];
  pair.rule = Rule::record;
  pair.first = static_cast<std::uint32_t>(program_.fields.size());
  pair.count = static_cast<std::uint32_t>(places.size());
  if (renamed) at_least(index, Verdict::adapts);
  if (from.tier != to.tier || from.count != to.count) {
    converts(index);
    at_least(index, Verdict::adapts);
  }
  const auto wanted = to_.fields(to);
  std::optional<std::uint32_t> lacking;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (!step(index, i, wanted[i], places[i], from) && !lacking) lacking = i;
  }
  if (lacking) refuse(index, Why::no_default, *lacking);
}

/// False: there is no value for the field.
bool Planner::step(PairIndex index, std::uint32_t at, const Field& field, std::uint32_t from_place,
                   const Type& from) {
  described::FieldStep step{.from_field = from_place, .to_field = at};
  const auto fallback = field.default_json ? add_default(field.type, *field.default_json) : kNone;
  const auto& type = to_.type(field.type);
  if (from_place != at) {
    converts(index);
    at_least(index, Verdict::adapts);
  }
  bool has_value = true;
  if (from_place == kNone) {
    step.fallback = fallback;
    has_value = fallback != kNone || type.kind == Kind::optional || type.kind == Kind::list ||
                type.kind == Kind::set || type.kind == Kind::map;
  } else {
    const auto& source = from_.fields(from)[from_place];
    const bool needed = from_.type(source.type).kind == Kind::optional && type.kind != Kind::optional;
    step.pair = needed && fallback != kNone ? child_with(index, source.type, field.type, fallback)
                                            : child(index, source.type, field.type);
  }
  program_.fields.push_back(step);
  return has_value;
}

// ---- unions, enums, flags

void Planner::look_at_alternatives(PairIndex index, const Type& from, const Type& to) {
  if (from.linked != to.linked) return refuse(index, Why::graph);
  auto& pair = program_.pairs[index];
  pair.rule = Rule::alternatives;
  pair.first = static_cast<std::uint32_t>(program_.fields.size());
  pair.count = from.count;
  const auto ours = from_.fields(from);
  const auto theirs = to_.fields(to);
  if (from.tier != to.tier) converts(index);
  if (from.tier != to.tier || from.count != to.count) at_least(index, Verdict::adapts);
  for (std::uint32_t i = 0; i < ours.size(); ++i) {
    const auto& alternative = ours[i];
    described::FieldStep step{.from_field = i};
    if (const auto found = described::find_field(to_, to, alternative.number)) {
      step.to_field = static_cast<std::uint32_t>(*found);
      if (theirs[*found].name != alternative.name) at_least(index, Verdict::adapts);
      step.pair = child(index, alternative.type, theirs[*found].type);
    } else {
      at_least(index, Verdict::checked);
    }
    program_.fields.push_back(step);
  }
}

// A member is converted to the one with its name, else to the one with its number; else an open type keeps
// the number. A number whose name has another number in `from` is lost: nothing else becomes it.
void Planner::look_at_members(PairIndex index, const Type& from, const Type& to) {
  const bool flags = from.kind == Kind::flags;
  const bool from_open = flags || from.open;
  const bool to_open = flags || to.open;
  const auto ours = from_.members(from);
  const auto theirs = to_.members(to);
  steps_ += ours.size() + theirs.size();
  std::unordered_map<std::string_view, std::uint64_t> numbers;
  for (const auto& member : ours) numbers.emplace(member.name, member.number);
  std::unordered_map<std::string_view, std::uint64_t> wanted;
  std::unordered_map<std::uint64_t, bool> named;  // by number; is it lost?
  bool some_lost = false;
  for (const auto& member : theirs) {
    wanted.emplace(member.name, member.number);
    const auto here = numbers.find(member.name);
    const bool lost = here != numbers.end() && here->second != member.number;
    named.emplace(member.number, lost);
    some_lost = some_lost || lost;
  }
  const auto has_room = [&](std::uint64_t number) {
    return flags ? number < bits_of(to.base) : fits(from.base, number, to.base);
  };
  std::vector<MemberStep> steps;
  bool all = true;
  bool moved = from.base != to.base;
  bool alike = from.base == to.base && from_open == to_open && ours.size() == theirs.size();
  for (const auto& member : ours) {
    const auto same = wanted.find(member.name);
    alike = alike && same != wanted.end();
    if (same != wanted.end()) {
      moved = moved || same->second != member.number;
      steps.push_back({.from = member.number, .to = same->second});
      continue;
    }
    const auto there = named.find(member.number);
    if (there == named.end() ? to_open && has_room(member.number) : !there->second) {
      steps.push_back({.from = member.number, .to = member.number});
    } else {
      all = false;
    }
  }
  // Numbers that have a name in `to` but none in `from`.
  for (const auto& member : theirs) {
    const bool nameless = !described::find_number(from_, from, member.number);
    if (from_open && nameless && !named.at(member.number) && has_room(member.number))
      steps.push_back({.from = member.number, .to = member.number});
  }
  if (flags) {
    for (auto& step : steps)
      step = {.from = std::uint64_t{1} << step.from, .to = std::uint64_t{1} << step.to};
  }
  std::ranges::sort(steps, {}, &MemberStep::from);  // negative ones behind the others
  auto& pair = program_.pairs[index];
  pair.rule = flags ? Rule::flags : Rule::enumeration;
  pair.keeps_others = to_open;
  pair.first = static_cast<std::uint32_t>(program_.members.size());
  pair.count = static_cast<std::uint32_t>(steps.size());
  program_.members.insert(program_.members.end(), steps.begin(), steps.end());
  if (moved) converts(index);
  if (!alike || moved) at_least(index, Verdict::adapts);
  if (!all || (from_open && (!to_open || some_lost || !holds(to.base, from.base))))
    at_least(index, Verdict::checked);
}

// ---- verdicts

void Planner::settle() {
  if (!within_bounds()) return;
  std::vector<PairIndex> reached;
  const auto spread = [&](auto&& from_the_start, auto&& take) {
    for (PairIndex index = 0; index < states_.size(); ++index)
      if (from_the_start(states_[index])) reached.push_back(index);
    while (!reached.empty()) {
      const auto index = reached.back();
      reached.pop_back();
      for (auto at = first_holder_[index]; at != kNobody; at = holders_[at].next)
        if (take(states_[holders_[at].pair])) reached.push_back(holders_[at].pair);
    }
  };
  for (const auto verdict : {Verdict::refused, Verdict::checked, Verdict::adapts}) {
    spread([&](const State& state) { return state.verdict == verdict; },
           [&](State& state) {
             if (state.verdict >= verdict) return false;
             state.verdict = verdict;
             return true;
           });
  }
  spread([](const State& state) { return state.converts; },
         [](State& state) { return !std::exchange(state.converts, true); });
  for (PairIndex index = 0; index < states_.size(); ++index) {
    auto& pair = program_.pairs[index];
    const auto& from = from_.type(pair.from);
    const auto& to = to_.type(pair.to);
    if (!states_[index].converts && from.kind == to.kind && from.count == to.count) pair.rule = Rule::same;
  }
}

bool Planner::keeps_numbers(PairIndex index) const {
  const auto& pair = program_.pairs[index];
  if (states_[index].why != Why::nothing) return false;
  const auto steps = std::span(program_.members).subspan(pair.first, pair.count);
  return std::ranges::all_of(steps, [](const MemberStep& step) { return step.from == step.to; });
}

// ---- texts of refusals

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
