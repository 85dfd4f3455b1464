// R1. Values by description as JSON (docs/json.md), the same texts and faults as generated code has.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/described/schema.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/result.hpp"

namespace mf::described {

/// A value on its own, in the tier that its type has.
[[nodiscard]] Result<std::string> to_json(const Schema& schema, TypeIndex type,
                                          std::span<const std::byte> bytes, const codec::Limits& limits = {});
[[nodiscard]] Result<std::vector<std::byte>> from_json(const Schema& schema, TypeIndex type,
                                                       std::string_view json,
                                                       const codec::Limits& limits = {});
/// The same as the value stands in febird.
[[nodiscard]] Result<std::vector<std::byte>> febird_from_json(const Schema& schema, TypeIndex type,
                                                              std::string_view json,
                                                              const codec::Limits& limits = {});

}  // namespace mf::described
