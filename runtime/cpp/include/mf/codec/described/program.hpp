// R1. How values of one schema become values of another: a flat program, made once by rules that stand higher
// (mf/evolution), and run by the transcoder for every value.
//
// The program is of pairs: a type of `from`, a type of `to`, and the rule that joins them; pairs name each
// other by their place, so that types which contain themselves have one pair. Who makes a program sees to it
// that the rules fit the types; finish() checks that they do, since a rule that did not would read memory
// that is not there, and makes bytes of the defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

using PairIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = UINT32_MAX;

enum class Rule : std::uint8_t {
  same,           // the types are alike all the way down, tiers and numbers, too: no other member is used
  number,         // integers of one signedness, whatever their widths; f32 to f64
  text,           // string or bytes to bytes
  checked_text,   // bytes to string
  optional,       // T? to T?: `element`
  to_optional,    // T to T?: `element`
  from_optional,  // T? to T: `element`; `fallback` is what an absent value becomes, kNone: it cannot go over
  sequence,       // list, set and array, each to its own kind: `element`
  map,            // `key`, `element`
  record,         // struct, error, parameters, results: steps `first`, `count`, one for each field of `to`
  enumeration,    // members `first`, `count`; `keeps_others`
  flags,          // members `first`, `count`, which are masks of one bit; `keeps_others`
  alternatives,   // union: steps `first`, `count`, one for each alternative of `from`
  reference,      // ref to ref: `element` joins what they lead to
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
  /// A number that no member names goes over if it fits and names nothing in `to`; a bit likewise.
  bool keeps_others = false;
  bool in_order = false;  // finish() says it of records whose fields come in the order of `from`
};

/// Of a record, in the order of the fields of `to`; of a union, in the order of the alternatives of `from`.
struct FieldStep {
  std::uint32_t from_field = kNone;  // place in its type; kNone: the field has its `fallback`, or is empty
  std::uint32_t to_field = kNone;    // place in its type; kNone of a union: the value cannot go over
  PairIndex pair = kNone;
  std::uint32_t fallback = kNone;  // into Program::defaults; kNone: absent, or a container without elements
};

/// Ascending by `from` as an unsigned number; negative ones are in two's complement.
struct MemberStep {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

struct Program {
  const Schema* from = nullptr;  // outlive the program
  const Schema* to = nullptr;
  bool names_of_to = false;  // paths name fields as `to` does: where that is the own schema
  std::vector<Pair> pairs;
  std::vector<FieldStep> fields;
  std::vector<MemberStep> members;

  /// A default of the annex of `to`: JSON on one line, as a value of this type.
  struct Default {
    TypeIndex type = kNoType;
    std::string_view json{};
    std::vector<std::byte> febird{};  // that finish() makes: the value as it stands in febird
  };
  std::vector<Default> defaults;
};

/// Before a program is run. Gives what is wrong with it, or nothing: a default that is no value of its type,
/// which a peer may have sent, or a mistake of who made the program.
[[nodiscard]] std::string finish(Program& program);

}  // namespace mf::described
