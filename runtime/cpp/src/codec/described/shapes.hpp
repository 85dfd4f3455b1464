#pragma once
// R1. What follows from the types that a descriptor spells: layouts, sizes, and which types are written as
// rows.

#include <cstddef>
#include <span>
#include <string>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

/// Bytes of a scalar's layout; 0 of a string and of bytes.
[[nodiscard]] std::size_t size_of_scalar(Kind kind) noexcept;

/// Fills in what the types do not say themselves. Gives what is wrong with them, or nothing.
[[nodiscard]] std::string reckon_shapes(std::span<Type> types, std::span<Field> fields);

}  // namespace mf::described
