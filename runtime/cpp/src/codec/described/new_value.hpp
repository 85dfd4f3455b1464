#pragma once
// R1. A new value: fields have their defaults, or zero, as in generated code.

#include <cstddef>
#include <vector>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

/// Its bytes in tier febird.
[[nodiscard]] std::vector<std::byte> new_value(const Schema& schema, TypeIndex type);

}  // namespace mf::described
