// R1. What a reader of tier archive has met in a message and does not know: fields of a newer schema, kept
// with their bytes in the order in which they came, so that whoever passes the value on loses nothing.
#pragma once

#include <compare>

#include "mf/core/types.hpp"

namespace mf {

struct UnknownFields {
  Bytes bytes{};  // whole fields of protobuf, one behind the other

  [[nodiscard]] bool empty() const noexcept { return bytes.empty(); }

  friend bool operator==(const UnknownFields&, const UnknownFields&) = default;
  friend auto operator<=>(const UnknownFields&, const UnknownFields&) = default;
};

}  // namespace mf
