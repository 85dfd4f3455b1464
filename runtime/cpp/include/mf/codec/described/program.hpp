// R1. A flat program that converts values of one schema to another. The rules for it are in mf/evolution; it
// is made once, and the transcoder runs it for every value.
//
// The program consists of pairs: a type of `from`, a type of `to`, and the rule that joins them. Pairs refer
// to each other by index, so that a recursive type has one pair. The maker of a program chooses rules that
// fit the types. finish() checks them, since a wrong rule would read out of bounds, and encodes the defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

using PairIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = UINT32_MAX;

enum class Rule : std::uint8_t {
  same,           // the types are equal in depth, also in tiers and numbers: no other member is used
  number,         // integers of one signedness, whatever their widths; f32 to f64
  text,           // string or bytes to bytes
  checked_text,   // bytes to string
  optional,       // T? to T?: `element`
  to_optional,    // T to T?: `element`
  from_optional,  // T? to T: `element`; `fallback` replaces an absent value, kNone: that is not convertible
  sequence,       // list, set and array, each to its own kind: `element`
  map,            // `key`, `element`
  record,         // struct, error, parameters, results: steps `first`, `count`, one for each field of `to`
  enumeration,    // members `first`, `count`; `keeps_others`
  flags,          // members `first`, `count`, which are masks of one bit; `keeps_others`
  alternatives,   // union: steps `first`, `count`, one for each alternative of `from`
  reference,      // ref to ref: `element` joins the types that they refer to
};

struct Pair {
  Rule rule = Rule::same;
  TypeIndex from = kNoType;
  TypeIndex to = kNoType;
  PairIndex element = kNone;
  PairIndex key = kNone;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t fallback = kNone;  // into Program::defaults
  /// An unnamed number (or bit) is converted unchanged if it fits and has no name in `to` either.
  bool keeps_others = false;
  bool in_order = false;  // set by finish() for records whose fields have the same order in `from`
};

/// A record has them in the order of the fields of `to`, a union in that of the alternatives of `from`.
struct FieldStep {
  std::uint32_t from_field = kNone;  // index in its type; kNone: the field has its `fallback`, or is empty
  std::uint32_t to_field = kNone;    // index in its type; kNone in a union: the value is not convertible
  PairIndex pair = kNone;
  std::uint32_t fallback = kNone;  // into Program::defaults; kNone: absent, or a container without elements
};

/// Ascending by `from` as an unsigned number; negative ones are in two's complement.
struct MemberStep {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

struct Steps;

struct Program {
  const Schema* from = nullptr;  // both schemas outlive the program
  const Schema* to = nullptr;
  bool names_of_to = false;  // paths name fields as `to` does: set if that is the program's own schema
  std::vector<Pair> pairs;
  std::vector<FieldStep> fields;
  std::vector<MemberStep> members;

  /// A default of the annex of `to`: JSON on one line, as a value of this type.
  struct Default {
    TypeIndex type = kNoType;
    std::string_view json{};
    std::vector<std::byte> febird{};  // the value encoded in febird, by finish()
  };
  std::vector<Default> defaults;

  /// The short way for what is encoded in febird on both sides, by finish(); null: there is none.
  std::shared_ptr<const Steps> steps;
};

/// Must be called before a program is run. Returns what is wrong with it, or an empty string: a default that
/// is no value of its type, which a peer may have sent, or a rule that does not fit its types.
[[nodiscard]] std::string finish(Program& program);

}  // namespace mf::described
