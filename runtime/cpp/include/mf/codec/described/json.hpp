// R1. Converts values to and from JSON (docs/json.md) by their schema, with the texts and faults of generated
// code.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/described/schema.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/result.hpp"

namespace mf::described {

/// `bytes` hold one value on its own, in the tier of its type.
[[nodiscard]] Result<std::string> to_json(const Schema& schema, TypeIndex type,
                                          std::span<const std::byte> bytes, const codec::Limits& limits = {});
[[nodiscard]] Result<std::vector<std::byte>> from_json(const Schema& schema, TypeIndex type,
                                                       std::string_view json,
                                                       const codec::Limits& limits = {});
/// The same, but the result is encoded in febird.
[[nodiscard]] Result<std::vector<std::byte>> febird_from_json(const Schema& schema, TypeIndex type,
                                                              std::string_view json,
                                                              const codec::Limits& limits = {});

/// One of several values that lie one behind the other, as in a stream; the reader is behind it then.
[[nodiscard]] Result<std::string> element_to_json(const Schema& schema, TypeIndex type,
                                                  codec::Reader& reader);
/// A value as it is written among others in a stream.
[[nodiscard]] Result<std::vector<std::byte>> element_from_json(const Schema& schema, TypeIndex type,
                                                               std::string_view json,
                                                               const codec::Limits& limits = {});
/// The tier that a stream of such values states.
[[nodiscard]] Tier element_tier(const Type& type) noexcept;
/// A struct whose fields are encoded in febird, whatever its tier is: an error in a REPLY.
[[nodiscard]] Result<std::string> fields_to_json(const Schema& schema, TypeIndex type,
                                                 std::span<const std::byte> bytes);

}  // namespace mf::described
