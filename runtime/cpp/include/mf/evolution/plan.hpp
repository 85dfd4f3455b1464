// Two schemas of one service, and what a consumer that has the one can say to a provider that has the other
// (docs/evolution.md). Pure: no clock, no lock, no socket; any thread may use a plan, which is never changed.
//
// The provider's schema may come from a stranger: what planning costs is bounded, and types that hold
// themselves are planned once.
//
// A plan has a verdict for each method of the consumer's schema. Where values differ, they are converted by
// a program (codec/described/program.hpp) in which the ways of the method are pairs of types: requests and
// what is streamed with them go from the consumer's schema to the provider's, all else comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/codec/described/program.hpp"
#include "mf/codec/described/schema.hpp"

namespace mf::evolution {

/// From the best on, so that the worst of several is the greatest.
enum class Verdict : std::uint8_t {
  equal,    // the bytes are the same
  adapts,   // every value can go over
  checked,  // some values cannot, which shows when they are sent or read
  refused,
  unknown_method,  // the provider does not have it
};
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

/// What planning one pair of schemas may cost, in pairs of types that are looked at.
inline constexpr std::size_t kMostSteps = 1'000'000;

struct ErrorPlan {
  static constexpr std::uint16_t kUndeclared = UINT16_MAX;

  std::uint16_t here = kUndeclared;  // its index among the errors that the consumer declares
  described::PairIndex way = described::kNone;
  std::string name;  // the short one
};

struct MethodPlan {
  Verdict verdict = Verdict::equal;
  /// Why it cannot be called: "Index.query: parameter limit: u32 here, string there".
  std::string reason;
  /// How the provider calls it.
  std::string there;
  /// Is anything of it converted? If not, all of its bytes are the same, and it has no ways.
  bool converts = false;
  // kNone: it has no such part.
  described::PairIndex params = described::kNone;
  described::PairIndex params_stream = described::kNone;
  described::PairIndex results = described::kNone;
  described::PairIndex results_stream = described::kNone;
  /// By the provider's index.
  std::vector<ErrorPlan> errors;
  // Of the provider's, and the consumer's own.
  described::TypeIndex params_type = described::kNoType;
  described::TypeIndex results_type = described::kNoType;
  described::TypeIndex own_results_type = described::kNoType;

  [[nodiscard]] bool callable() const noexcept { return verdict < Verdict::refused; }
};

struct Plan {
  std::shared_ptr<const described::Schema> here;
  std::shared_ptr<const described::Schema> there;
  /// Why nothing can be said; empty: something can be.
  std::string refusal;
  /// By the order of the consumer's methods. A topic has one, which has no name here.
  std::vector<MethodPlan> methods;
  /// From here to there, and back.
  described::Program requests;
  described::Program results;
  /// Of a topic, in `results`; kNone: the bytes are the same.
  described::PairIndex value = described::kNone;
};

[[nodiscard]] Plan make_plan(std::shared_ptr<const described::Schema> here,
                             std::shared_ptr<const described::Schema> there);

}  // namespace mf::evolution
