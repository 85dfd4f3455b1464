// Every type of tests/vectors/schemas/wide.mfidl under one interface: compiled once, for all that tests or
// fuzzes them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/value.hpp"

namespace mf::codec {

/// What is done with one type.
struct Subject {
  std::string_view name;  // "vectors.wide.Person"
  Tier tier;
  Result<Bytes> (*write)(std::string_view text);
  Bytes (*write_into_room)(std::string_view text);  // of febird only
  Result<std::string> (*read)(std::span<const std::byte> bytes);
  Result<Bytes> (*rewrite)(std::span<const std::byte> bytes, const Limits& limits);
  Result<std::string> (*rewrite_text)(std::string_view text, const Limits& limits);
};

/// In the order of wide_types.inc.
const std::vector<Subject>& subjects();

/// By its name.
const Subject& subject_of(std::string_view type);

}  // namespace mf::codec
