// R1. The names in JSON: fields of structs, alternatives of unions, members of enums and flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "codec/json_reader.hpp"
#include "codec/json_writer.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/core/function_ref.hpp"

namespace mf::codec {

struct JsonField {
  std::string_view name;
  bool required = true;  // it has no default, and is not optional
};

/// A member of an enum or of flags. Flags have masks of one bit here.
using JsonName = described::Member;

/// What an enum or flags are based on.
struct JsonBase {
  bool is_signed = false;
  unsigned bits = 0;
};

/// Calls `read` with the place of each field that is met, so that it reads its value.
[[nodiscard]] bool read_json_object(JsonReader& reader, std::span<const JsonField> fields,
                                    FunctionRef<bool(std::size_t)> read);
/// The same with the only member of a union.
[[nodiscard]] bool read_json_union(JsonReader& reader, std::span<const std::string_view> alternatives,
                                   FunctionRef<bool(std::size_t)> read);

/// An integer of a type with so many bits, in two's complement.
[[nodiscard]] bool read_json_integer(JsonReader& reader, JsonBase base, std::uint64_t& number);
/// 64 bits are a string, fewer a number.
void write_json_integer(JsonWriter& writer, JsonBase base, std::uint64_t number);

[[nodiscard]] bool read_json_enum(JsonReader& reader, std::span<const JsonName> names, JsonBase base,
                                  bool open, std::uint64_t& number);
void write_json_enum(JsonWriter& writer, std::span<const JsonName> names, JsonBase base,
                     std::uint64_t number);

/// `names` are in the order of their bits.
[[nodiscard]] bool read_json_flags(JsonReader& reader, std::span<const JsonName> names, JsonBase base,
                                   std::uint64_t& bits);
void write_json_flags(JsonWriter& writer, std::span<const JsonName> names, JsonBase base, std::uint64_t bits);

}  // namespace mf::codec
