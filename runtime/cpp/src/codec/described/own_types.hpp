#pragma once
// R1. What a program has of its own types, beyond their descriptor, which sorts the fields of archives by
// their numbers and does not describe the codecs of users.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mf/codec/described/schema.hpp"
#include "mf/codec/schema_type.hpp"

namespace mf::described {

class OwnTypes {
 public:
  /// Of types that are not the program's: nothing.
  OwnTypes() = default;
  /// `texts` are those that the schema was read from.
  OwnTypes(const Schema& schema, const OwnTexts& texts);

  /// The indices of a struct's fields in the order of its schema; empty where the descriptor has that order.
  [[nodiscard]] std::span<const std::uint32_t> order(const Type& type) const noexcept;
  /// Why the codec of a type of tier custom refuses bytes; empty if it takes them, or is not known.
  [[nodiscard]] std::string refusal(const Type& type, std::span<const std::byte> bytes) const;

 private:
  std::map<std::string_view, std::vector<std::uint32_t>> orders_;  // by full name, which the schema keeps
  std::map<std::string, std::string (*)(std::span<const std::byte>), std::less<>> codecs_;
};

}  // namespace mf::described
