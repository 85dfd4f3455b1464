// Compares the schemas of a consumer and a provider of one service, and plans how they can talk
// (docs/evolution.md). There is no clock, lock or socket here; a plan is immutable, and any thread may use
// it.
//
// The provider's schema is untrusted: the cost of planning is bounded, and a recursive type is planned once.
//
// A plan has a verdict for each method of the consumer's schema. Values that differ are converted by a
// program (codec/described/program.hpp), in which each part of a method is a pair of types: requests and
// their streams go from the consumer's schema to the provider's, all else from the provider's back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/codec/described/program.hpp"
#include "mf/codec/described/schema.hpp"

namespace mf::evolution {

/// Ordered from best to worst, so that the worst of several is the greatest.
enum class Verdict : std::uint8_t {
  equal,    // the bytes are the same
  adapts,   // every value can be converted
  checked,  // some values cannot, and are refused when they are sent or read
  refused,
  unknown_method,  // the provider does not have it
};
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

/// The largest number of pairs of types that planning for one pair of schemas may look at.
inline constexpr std::size_t kMostSteps = 1'000'000;

struct ErrorPlan {
  static constexpr std::uint16_t kUndeclared = UINT16_MAX;

  std::uint16_t here = kUndeclared;  // the error's index among those that the consumer declares
  described::PairIndex way = described::kNone;
  std::string name;  // the short name
};

struct MethodPlan {
  Verdict verdict = Verdict::equal;
  /// Why the method cannot be called: "Index.query: parameter limit: u32 here, string there".
  std::string reason;
  /// The provider's name of the method.
  std::string there;
  /// Is any part converted? If not, all bytes are the same in both schemas, and all pairs below are kNone.
  bool converts = false;
  // kNone: the method has no such part.
  described::PairIndex params = described::kNone;
  described::PairIndex params_stream = described::kNone;
  described::PairIndex results = described::kNone;
  described::PairIndex results_stream = described::kNone;
  /// Indexed as the provider declares them.
  std::vector<ErrorPlan> errors;
  // The first two are of the provider's schema, the last one of the consumer's.
  described::TypeIndex params_type = described::kNoType;
  described::TypeIndex results_type = described::kNoType;
  described::TypeIndex own_results_type = described::kNoType;

  [[nodiscard]] bool callable() const noexcept { return verdict < Verdict::refused; }
};

struct Plan {
  std::shared_ptr<const described::Schema> here;
  std::shared_ptr<const described::Schema> there;
  /// Why the schemas cannot be used together at all; empty: each method has a verdict of its own.
  std::string refusal;
  /// In the order of the consumer's methods. A topic has one entry, without a name.
  std::vector<MethodPlan> methods;
  /// `requests` converts from here to there, `results` back.
  described::Program requests;
  described::Program results;
  /// The pair of a topic's values, in `results`; kNone: the bytes are the same.
  described::PairIndex value = described::kNone;
};

[[nodiscard]] Plan make_plan(std::shared_ptr<const described::Schema> here,
                             std::shared_ptr<const described::Schema> there);

}  // namespace mf::evolution
