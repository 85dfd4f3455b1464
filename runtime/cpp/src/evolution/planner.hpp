#pragma once
// Plans one direction of all methods: how values of one schema are converted to another.
//
// First every reachable pair of types is examined once, by itself; then settle() propagates its verdict to
// all pairs that hold it. So recursive types are no special case, and a verdict does not depend on the order
// of planning.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/codec/described/program.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/evolution/plan.hpp"

namespace mf::evolution {

[[nodiscard]] inline bool is_signed(described::Kind kind) noexcept {
  return kind >= described::Kind::i8 && kind <= described::Kind::i64;
}

/// "sf1.search.Hit" -> "Hit", "list<sf1.search.Hit>" -> "list<Hit>".
[[nodiscard]] std::string short_expression(const described::Schema& schema, described::TypeIndex type);
/// "field Hit.score: f32 here, string there"
[[nodiscard]] std::string differ(std::string_view place, std::string_view here, std::string_view there);

/// A name, and the earlier names of the same thing.
struct Named {
  std::string_view name;
  std::span<const std::string_view> was;
};
/// For each of `to` the index of its partner in `from`, or kNone: the one with the same name, else one whose
/// earlier name is the other's name, either way. No partner is used twice.
[[nodiscard]] std::vector<std::uint32_t> partners(std::span<const Named> from, std::span<const Named> to);

class Planner {
 public:
  /// `from_here`: the values go from the consumer to the provider.
  Planner(const described::Schema& from, const described::Schema& to, bool from_here,
          described::Program& program)
      : from_(from), to_(to), from_here_(from_here), program_(program) {}

  /// The pair of two types, as a root: no holder is recorded for it.
  [[nodiscard]] described::PairIndex pair(described::TypeIndex from, described::TypeIndex to);
  /// False: planning has taken more than kMostSteps.
  [[nodiscard]] bool within_bounds() const noexcept { return steps_ <= kMostSteps; }

  /// Computes the verdicts; called once, after all calls of pair().
  void settle();
  [[nodiscard]] Verdict verdict(described::PairIndex pair) const { return states_[pair].verdict; }
  /// Are the bytes of every value the same?
  [[nodiscard]] bool identical(described::PairIndex pair) const { return !states_[pair].converts; }
  /// For two enums: does every member that both have keep its number?
  [[nodiscard]] bool keeps_numbers(described::PairIndex pair) const;
  /// Why a pair is refused by its own contents, without types that it reaches; empty: it is not. `place` is
  /// what the text says of where the pair is: "parameter stream", "throws NoSuch".
  [[nodiscard]] std::string own_reason(described::PairIndex pair, std::string_view place) const;
  /// Why a pair is refused by types that it reaches.
  [[nodiscard]] std::string reason(described::PairIndex pair) const;

 private:
  enum class Why : std::uint8_t { nothing, types, no_default, wrong_default, graph };
  struct State {
    Verdict verdict = Verdict::equal;
    bool converts = false;
    Why why = Why::nothing;       // why the pair is refused for a reason of its own
    std::uint32_t why_field = 0;  // for no_default: the field of `to`; for wrong_default: the default
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
  /// The first reason for a refusal in a pair itself; the pairs of declared types in it are added to
  /// `reached`.
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
  std::vector<State> states_;                                      // by pair
  std::vector<std::uint32_t> first_holder_;                        // by pair: index in holders_
  std::vector<Holder> holders_;
  std::map<std::pair<const char*, described::TypeIndex>, std::uint32_t> defaults_;  // by their texts' places
  std::vector<std::string> wrong_defaults_;    // by default: what is wrong with it; empty: nothing
  std::vector<described::PairIndex> waiting_;  // not examined yet
  std::size_t steps_ = 0;
};

}  // namespace mf::evolution
