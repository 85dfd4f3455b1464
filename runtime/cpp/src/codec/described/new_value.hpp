#pragma once
// R1. A value that nobody has sent: fields by their defaults, or zero, as generated code makes it.

#include <cstddef>
#include <vector>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

/// As it stands in febird.
[[nodiscard]] std::vector<std::byte> new_value(const Schema& schema, TypeIndex type);

}  // namespace mf::described
