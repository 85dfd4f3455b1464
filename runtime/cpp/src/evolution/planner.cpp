#include "evolution/planner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "mf/codec/described/json.hpp"

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
}  // namespace

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

/// A peer decides how many defaults there are, and how long: each is read once, and counts as steps.
std::uint32_t Planner::add_default(TypeIndex type, std::string_view json) {
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  constexpr std::size_t kBytesOfStep = 8;
  const auto next = static_cast<std::uint32_t>(program_.defaults.size());
  const auto [known, is_new] = defaults_.try_emplace({json.data(), type}, next);
  if (!is_new) return known->second;
  auto& made = program_.defaults.emplace_back(described::Program::Default{.type = type, .json = json});
  auto& wrong = wrong_defaults_.emplace_back();
  if (!within_bounds()) return next;
  auto bytes = described::febird_from_json(to_, type, json, {64, kLongest});
  if (bytes.ok()) {
    made.febird = std::move(*bytes);
  } else {
    constexpr std::size_t kShown = 80;
    wrong = "a default of " + std::string(to_.name()) + " is " + std::string(json.substr(0, kShown)) + ": " +
            bytes.error().message();
  }
  steps_ += (json.size() + made.febird.size()) / kBytesOfStep;
  return next;
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
  const auto& type = to_.type(field.type);
  const auto fallback_of = [&] {
    if (!field.default_json) return kNone;
    const auto fallback = add_default(field.type, *field.default_json);
    if (!wrong_defaults_[fallback].empty() && states_[index].why == Why::nothing)
      refuse(index, Why::wrong_default, fallback);
    return fallback;
  };
  if (from_place != at) {
    converts(index);
    at_least(index, Verdict::adapts);
  }
  bool has_value = true;
  if (from_place == kNone) {
    step.fallback = fallback_of();
    has_value = step.fallback != kNone || type.kind == Kind::optional || type.kind == Kind::list ||
                type.kind == Kind::set || type.kind == Kind::map;
  } else {
    const auto& source = from_.fields(from)[from_place];
    const bool needed = from_.type(source.type).kind == Kind::optional && type.kind != Kind::optional;
    const auto fallback = needed ? fallback_of() : kNone;
    step.pair = fallback != kNone ? child_with(index, source.type, field.type, fallback)
                                  : child(index, source.type, field.type);
  }
  program_.fields.push_back(step);
  return has_value;
}

// ---- unions

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

}  // namespace mf::evolution
