#include "mf/codec/result.hpp"

#include "mf/codec/readable.hpp"

namespace mf::codec {

DecodeError violated(std::string_view type, std::string_view violation) {
  const std::string text = rooted(type, violation);
  const std::size_t colon = text.find(": ");
  return {.code = Code::invalid_argument, .path = text.substr(0, colon), .reason = text.substr(colon + 2)};
}

}  // namespace mf::codec
