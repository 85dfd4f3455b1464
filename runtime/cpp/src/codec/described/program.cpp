#include "mf/codec/described/program.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "codec/described/numbers.hpp"
#include "codec/described/steps.hpp"
#include "mf/codec/described/json.hpp"

namespace mf::described {
namespace {

/// A peer decides how many defaults there are, and how long.
constexpr std::size_t kMaxDefault = std::size_t{1} << 20U;

class Check {
 public:
  explicit Check(Program& program) noexcept : program_(program) {}

  std::string run() {
    for (Program::Default& each : program_.defaults) {
      if (each.type >= program_.to->types().size()) return mistake("a default has no type");
      if (!each.febird.empty()) continue;  // its maker has done it
      auto bytes = febird_from_json(*program_.to, each.type, each.json, {64, kMaxDefault});
      if (!bytes.ok()) return "a default of the schema is no value of its type: " + bytes.error().message();
      each.febird = std::move(*bytes);
    }
    for (Pair& pair : program_.pairs) {
      if (pair.from >= program_.from->types().size() || pair.to >= program_.to->types().size())
        return mistake("a pair has no types");
      if (!fits(pair)) {
        return mistake("a rule does not fit `" + std::string(program_.from->type(pair.from).name) +
                       "` and `" + std::string(program_.to->type(pair.to).name) + "`");
      }
    }
    return {};
  }

 private:
  static std::string mistake(std::string_view words) { return "the program is wrong: " + std::string(words); }

  [[nodiscard]] bool joins(PairIndex index, TypeIndex from, TypeIndex to) const noexcept {
    return index < program_.pairs.size() && program_.pairs[index].from == from &&
           program_.pairs[index].to == to;
  }
  [[nodiscard]] bool has_default(std::uint32_t index, TypeIndex to) const noexcept {
    return index < program_.defaults.size() && program_.defaults[index].type == to;
  }
  [[nodiscard]] static bool within(std::uint32_t first, std::uint32_t count, std::size_t size) noexcept {
    return first <= size && count <= size - first;
  }

  bool fits(Pair& pair) {
    const Type& from = program_.from->type(pair.from);
    const Type& to = program_.to->type(pair.to);
    switch (pair.rule) {
      case Rule::same:
        return alike(pair.from, pair.to);
      case Rule::number:
        return is_number(from) && is_number(to) && from.kind < Kind::uuid && to.kind < Kind::uuid &&
               (from.kind == to.kind || from.kind == Kind::f32 || integers(from, to)) &&
               (from.kind != Kind::f32 || to.kind == Kind::f32 || to.kind == Kind::f64);
      case Rule::text:
        return is_text(from) && (to.kind == Kind::bytes || from.kind == to.kind);
      case Rule::checked_text:
        return from.kind == Kind::bytes && to.kind == Kind::string;
      case Rule::optional:
        return from.kind == Kind::optional && to.kind == Kind::optional &&
               joins(pair.element, from.element, to.element);
      case Rule::to_optional:
        return to.kind == Kind::optional && joins(pair.element, pair.from, to.element);
      case Rule::from_optional:
        return from.kind == Kind::optional && joins(pair.element, from.element, pair.to) &&
               (pair.fallback == kNone || has_default(pair.fallback, pair.to));
      case Rule::sequence:
        return from.kind == to.kind &&
               (from.kind == Kind::list || from.kind == Kind::set || from.kind == Kind::array) &&
               from.length == to.length && joins(pair.element, from.element, to.element);
      case Rule::map:
        return from.kind == Kind::map && to.kind == Kind::map && joins(pair.key, from.key, to.key) &&
               joins(pair.element, from.element, to.element);
      case Rule::record:
        return record(pair, from, to);
      case Rule::enumeration:
      case Rule::flags:
        return from.kind == to.kind &&
               from.kind == (pair.rule == Rule::flags ? Kind::flags : Kind::enumeration) && members(pair);
      case Rule::alternatives:
        return alternatives(pair, from, to);
      case Rule::reference:
        return from.kind == Kind::ref && to.kind == Kind::ref &&
               joins(pair.element, from.element, to.element);
    }
    return false;
  }

  /// All the way down: bytes of the one are bytes of the other.
  bool alike(TypeIndex from_index, TypeIndex to_index) {
    if (!alike_.emplace(from_index, to_index).second) return true;  // is being looked at, or was
    const Type& from = program_.from->type(from_index);
    const Type& to = program_.to->type(to_index);
    if (from.kind == Kind::string && to.kind == Kind::bytes) return true;  // whatever is UTF-8 is bytes
    if (from.kind != to.kind || from.tier != to.tier || from.coding != to.coding ||
        from.length != to.length || from.base != to.base)
      return false;
    if (from.key != kNoType && !alike(from.key, to.key)) return false;
    if (from.element != kNoType && !alike(from.element, to.element)) return false;
    if (from.kind != Kind::structure && from.kind != Kind::alternatives) return true;
    if (from.count != to.count) return false;
    for (std::size_t i = 0; i < from.count; ++i) {
      const Field& one = program_.from->fields(from)[i];
      const Field& other = program_.to->fields(to)[i];
      if (one.number != other.number || !alike(one.type, other.type)) return false;
    }
    return true;
  }

  static bool integers(const Type& from, const Type& to) noexcept {
    const auto integer = [](const Type& type) { return type.kind >= Kind::u8 && type.kind <= Kind::i64; };
    return integer(from) && integer(to) && is_signed(from) == is_signed(to);
  }
  static bool is_text(const Type& type) noexcept {
    return type.kind == Kind::string || type.kind == Kind::bytes;
  }

  bool members(const Pair& pair) const noexcept {
    if (!within(pair.first, pair.count, program_.members.size())) return false;
    for (std::uint32_t i = 1; i < pair.count; ++i)
      if (program_.members[pair.first + i - 1].from >= program_.members[pair.first + i].from) return false;
    return true;
  }

  bool record(Pair& pair, const Type& from, const Type& to) {
    if (from.kind != Kind::structure || to.kind != Kind::structure || from.tier == Tier::custom ||
        to.tier == Tier::custom || pair.count != to.count ||
        !within(pair.first, pair.count, program_.fields.size()))
      return false;
    const auto fields = program_.from->fields(from);
    const auto made = program_.to->fields(to);
    std::uint32_t next = 0;
    pair.in_order = true;
    for (std::uint32_t i = 0; i < pair.count; ++i) {
      const FieldStep& step = program_.fields[pair.first + i];
      if (step.from_field == kNone) {
        const Kind kind = program_.to->type(made[i].type).kind;
        const bool empty =
            kind == Kind::optional || kind == Kind::list || kind == Kind::set || kind == Kind::map;
        if (step.fallback == kNone ? !empty : !has_default(step.fallback, made[i].type)) return false;
        continue;
      }
      if (step.from_field >= fields.size() || !joins(step.pair, fields[step.from_field].type, made[i].type))
        return false;
      pair.in_order = pair.in_order && step.from_field >= next;
      next = step.from_field + 1;
    }
    return true;
  }

  bool alternatives(const Pair& pair, const Type& from, const Type& to) const {
    if (from.kind != Kind::alternatives || to.kind != Kind::alternatives || pair.count != from.count ||
        !within(pair.first, pair.count, program_.fields.size()))
      return false;
    const auto fields = program_.from->fields(from);
    const auto made = program_.to->fields(to);
    for (std::uint32_t i = 0; i < pair.count; ++i) {
      const FieldStep& step = program_.fields[pair.first + i];
      if (step.to_field == kNone) continue;
      if (step.to_field >= made.size() || !joins(step.pair, fields[i].type, made[step.to_field].type))
        return false;
    }
    return true;
  }

  Program& program_;
  std::set<std::pair<TypeIndex, TypeIndex>> alike_;
};

}  // namespace

std::string finish(Program& program) {
  std::string wrong = Check(program).run();
  program.steps = wrong.empty() ? make_steps(program) : nullptr;
  return wrong;
}

}  // namespace mf::described
