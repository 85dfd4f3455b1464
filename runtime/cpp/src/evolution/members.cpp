#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evolution/planner.hpp"

namespace mf::evolution {
namespace {

using described::Kind;
using described::MemberStep;
using described::PairIndex;
using described::Rule;
using described::Type;

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

}  // namespace

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

}  // namespace mf::evolution
