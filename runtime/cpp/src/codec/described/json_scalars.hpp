#pragma once
// R1. Single values in JSON by description; what both passes over a text do alike.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/described/numbers.hpp"
#include "codec/json_names.hpp"
#include "codec/json_reader.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/core/types.hpp"

namespace mf::described {

/// A key of a set or map: one of both, as its type is.
struct JsonKey {
  std::uint64_t bits = 0;  // turned, so that they ascend
  std::string bytes;

  auto operator<=>(const JsonKey& other) const = default;
};

[[nodiscard]] inline codec::JsonBase base_of(const Type& number) noexcept {
  return {is_signed(number), 8 * number.size};
}
/// The members of flags, as masks.
[[nodiscard]] std::vector<Member> masks_of(const Schema& schema, const Type& flags);

class JsonScalars {
 public:
  JsonScalars(const Schema& schema, codec::JsonReader& reader) noexcept : schema_(schema), reader_(reader) {}

  /// Whatever is_number() says is one.
  [[nodiscard]] bool number(const Type& type, std::uint64_t& bits);
  /// The bytes of a string, of `bytes`, of a uuid and of a value of tier custom.
  [[nodiscard]] bool octets(const Type& type, std::string& bytes);
  /// `quoted`: the name of a member.
  [[nodiscard]] bool key(const Type& type, bool quoted, JsonKey& key);
  [[nodiscard]] static std::uint64_t bits_of(const Type& type, const JsonKey& key) noexcept {
    return key.bits ^ turned(type);
  }

 private:
  [[nodiscard]] static std::uint64_t turned(const Type& type) noexcept {
    return is_signed(type) ? std::uint64_t{1} << 63U : 0;
  }

  const Schema& schema_;
  codec::JsonReader& reader_;
};

}  // namespace mf::described
