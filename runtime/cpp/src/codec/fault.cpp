#include "mf/codec/fault.hpp"

namespace mf::codec {

std::string_view to_string(Fault fault) noexcept {
  switch (fault) {
    case Fault::none:
      return "none";
    case Fault::truncated:
      return "truncated";
    case Fault::trailing_bytes:
      return "trailing_bytes";
    case Fault::count_too_large:
      return "count_too_large";
    case Fault::budget_exceeded:
      return "budget_exceeded";
    case Fault::depth_exceeded:
      return "depth_exceeded";
    case Fault::malformed_number:
      return "malformed_number";
    case Fault::number_out_of_range:
      return "number_out_of_range";
    case Fault::invalid_bool:
      return "invalid_bool";
    case Fault::unknown_enum_value:
      return "unknown_enum_value";
    case Fault::invalid_utf8:
      return "invalid_utf8";
    case Fault::keys_not_ascending:
      return "keys_not_ascending";
    case Fault::unknown_alternative:
      return "unknown_alternative";
    case Fault::missing_field:
      return "missing_field";
    case Fault::malformed_tag:
      return "malformed_tag";
    case Fault::wrong_wire_type:
      return "wrong_wire_type";
    case Fault::wrong_length:
      return "wrong_length";
    case Fault::invalid_reference:
      return "invalid_reference";
    case Fault::custom_codec_failed:
      return "custom_codec_failed";
    case Fault::misaligned:
      return "misaligned";
    case Fault::json_syntax:
      return "json_syntax";
    case Fault::json_wrong_type:
      return "json_wrong_type";
    case Fault::json_unknown_field:
      return "json_unknown_field";
    case Fault::json_duplicate_key:
      return "json_duplicate_key";
  }
  return "unknown";
}

}  // namespace mf::codec
