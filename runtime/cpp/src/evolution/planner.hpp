#pragma once
// Plans one direction of all methods: how values of the types of one schema become values of another's.
//
// First every pair of types that is reached is looked at once, by itself; then what was found of it is handed
// on to all that holds it (settle()). So types that hold themselves are no special case, and a verdict does
// not depend on what was planned before.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mf/codec/described/program.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/evolution/plan.hpp"

namespace mf::evolution {

/// "sf1.search.Hit" -> "Hit", "list<sf1.search.Hit>" -> "list<Hit>".
[[nodiscard]] std::string short_expression(const described::Schema& schema, described::TypeIndex type);
/// "field Hit.score: f32 here, string there"
[[nodiscard]] std::string differ(std::string_view place, std::string_view here, std::string_view there);

/// What may have had other names.
struct Named {
  std::string_view name;
  std::span<const std::string_view> was;
};
/// For each of `to` the place of its partner in `from`, or kNone: the one of its name, else of a name that
/// either of them had. Nobody is the partner of two.
[[nodiscard]] std::vector<std::uint32_t> partners(std::span<const Named> from, std::span<const Named> to);

class Planner {
 public:
  /// `from_here`: the values go from the consumer to the provider.
  Planner(const described::Schema& from, const described::Schema& to, bool from_here,
          described::Program& program)
      : from_(from), to_(to), from_here_(from_here), program_(program) {}

  /// The pair of two types; without what holds them.
  [[nodiscard]] described::PairIndex pair(described::TypeIndex from, described::TypeIndex to);
  /// False: it has taken more steps than planning may.
  [[nodiscard]] bool within_bounds() const noexcept { return steps_ <= kMostSteps; }

  /// Once all pairs were asked for: what they come to.
  void settle();
  [[nodiscard]] Verdict verdict(described::PairIndex pair) const { return states_[pair].verdict; }
  /// Are the bytes of every value the same?
  [[nodiscard]] bool identical(described::PairIndex pair) const { return !states_[pair].converts; }
  /// Of two enums: has every member that both have the same number?
  [[nodiscard]] bool keeps_numbers(described::PairIndex pair) const;
  /// Why a pair is refused by what stands in it itself, for who has it at `place`: "parameter stream",
  /// "throws NoSuch". Empty: it is not.
  [[nodiscard]] std::string own_reason(described::PairIndex pair, std::string_view place) const;
  /// Why it is refused by types that it reaches.
  [[nodiscard]] std::string reason(described::PairIndex pair) const;

 private:
  enum class Why : std::uint8_t { nothing, types, no_default, graph };
  struct State {
    Verdict verdict = Verdict::equal;
    bool converts = false;
    Why why = Why::nothing;       // it is refused by itself
    std::uint32_t why_field = 0;  // of `to`, if it has no default
  };
  struct Holder {
    described::PairIndex pair;
    std::uint32_t next;
  };

  [[nodiscard]] described::PairIndex find_or_make(described::TypeIndex from, described::TypeIndex to);
  [[nodiscard]] std::uint32_t add_default(described::TypeIndex type, std::string_view json);
  [[nodiscard]] std::uint32_t empty(described::TypeIndex type);
  void look(described::PairIndex index);
  void look_at_containers(described::PairIndex index, const described::Type& from, const described::Type& to);
  void look_at_record(described::PairIndex index, const described::Type& from, const described::Type& to);
  void look_at_alternatives(described::PairIndex index, const described::Type& from,
                            const described::Type& to);
  void look_at_members(described::PairIndex index, const described::Type& from, const described::Type& to);
  [[nodiscard]] std::vector<std::uint32_t> match(const described::Type& from, const described::Type& to,
                                                 bool& renamed);
  [[nodiscard]] bool step(described::PairIndex index, std::uint32_t at, const described::Field& field,
                          std::uint32_t from_place, const described::Type& from);
  [[nodiscard]] described::PairIndex make(described::TypeIndex from, described::TypeIndex to);
  [[nodiscard]] described::PairIndex child(described::PairIndex holder, described::TypeIndex from,
                                           described::TypeIndex to);
  [[nodiscard]] described::PairIndex child_with(described::PairIndex holder, described::TypeIndex from,
                                                described::TypeIndex to, std::uint32_t fallback);
  described::PairIndex held(described::PairIndex holder, described::PairIndex index);
  void at_least(described::PairIndex index, Verdict verdict) noexcept;
  void converts(described::PairIndex index) noexcept { states_[index].converts = true; }
  void refuse(described::PairIndex index, Why why, std::uint32_t field = 0) noexcept;
  /// The first thing that is wrong with what stands in a pair; the pairs of declared types that it meets are
  /// added to `reached`.
  [[nodiscard]] std::string scan(described::PairIndex pair, const std::string& place,
                                 std::vector<described::PairIndex>& reached) const;
  [[nodiscard]] std::string scan_type(described::PairIndex pair, const std::string& place,
                                      described::TypeIndex from, described::TypeIndex to,
                                      std::vector<described::PairIndex>& reached) const;
  [[nodiscard]] std::string scan_fields(described::PairIndex pair,
                                        std::vector<described::PairIndex>& reached) const;
  [[nodiscard]] std::string words_of(described::PairIndex pair, const std::string& place,
                                     described::TypeIndex from, described::TypeIndex to) const;
  [[nodiscard]] const described::Schema& here() const noexcept { return from_here_ ? from_ : to_; }
  [[nodiscard]] const described::Schema& there() const noexcept { return from_here_ ? to_ : from_; }

  const described::Schema& from_;
  const described::Schema& to_;
  const bool from_here_;
  described::Program& program_;
  std::unordered_map<std::uint64_t, described::PairIndex> known_;  // by the two types
  std::vector<State> states_;                                      // of each pair
  std::vector<std::uint32_t> first_holder_;                        // of each pair, in holders_
  std::vector<Holder> holders_;
  std::vector<described::PairIndex> waiting_;  // that were not looked at yet
  std::size_t steps_ = 0;
};

}  // namespace mf::evolution
