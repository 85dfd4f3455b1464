// R1. What can be wrong with bytes, or with JSON text: a closed set, the same numbers and words in every
// runtime (docs/protocol.md, section 8). The reason in a DecodeError is for people, the fault for programs.
#pragma once

#include <cstdint>
#include <string_view>

namespace mf::codec {

enum class Fault : std::uint8_t {
  none = 0,
  truncated = 1,            // the value ends early
  trailing_bytes = 2,       // bytes follow its end
  count_too_large = 3,      // more elements, or a longer text, than the bytes left can hold
  budget_exceeded = 4,      // it would take more memory than a message may
  depth_exceeded = 5,       // nested deeper than 64
  malformed_number = 6,     // a varint longer than its shortest form, or without end
  number_out_of_range = 7,  // a number that its type cannot hold
  invalid_bool = 8,         // neither 0 nor 1
  unknown_enum_value = 9,   // of a closed enum
  invalid_utf8 = 10,
  keys_not_ascending = 11,   // of a set or map
  unknown_alternative = 12,  // of a union
  missing_field = 13,        // archive, JSON: neither there, nor optional, nor defaulted
  malformed_tag = 14,        // archive: a field number or wire type that protobuf does not have
  wrong_wire_type = 15,      // archive: a known field of another form
  wrong_length = 16,         // an array, uuid or memcpy value of another size than its type's
  invalid_reference = 17,    // archive: an index behind the end of its table, or a graph without root
  custom_codec_failed = 18,  // the user's codec refused the bytes
  misaligned = 19,           // a view over bytes that do not stand at the type's alignment
  json_syntax = 32,
  json_wrong_type = 33,
  json_unknown_field = 34,
  json_duplicate_key = 35,
};

/// "truncated"; "unknown" for a number that is none of them.
[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

}  // namespace mf::codec
