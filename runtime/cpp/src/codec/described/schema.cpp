#include "mf/codec/described/schema.hpp"

#include <algorithm>
#include <array>

namespace mf::described {
namespace {

constexpr std::array<std::string_view, 26> kNames = {
    "bool", "u8",    "u16",       "u32",      "u64",    "i8",     "i16",   "i32",  "i64",
    "f32",  "f64",   "timestamp", "duration", "uuid",   "string", "bytes", "list", "set",
    "map",  "array", "optional",  "ref",      "struct", "union",  "enum",  "flags"};

bool is_signed(Kind base) noexcept {
  return base >= Kind::i8 && base <= Kind::i64;
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  return kNames[static_cast<std::size_t>(kind)];
}

const Method* Schema::method(std::string_view name) const noexcept {
  const auto found =
      std::find_if(methods_.begin(), methods_.end(), [&](const Method& each) { return each.name == name; });
  return found == methods_.end() ? nullptr : &*found;
}

const Field* Schema::field(const Type& type, std::string_view name) const noexcept {
  const auto all = fields(type);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Field& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

TypeIndex Schema::declared(std::string_view full_name) const noexcept {
  const auto found =
      std::lower_bound(declared_.begin(), declared_.end(), full_name,
                       [](const auto& each, std::string_view name) { return each.first < name; });
  return found == declared_.end() || found->first != full_name ? kNoType : found->second;
}

std::optional<std::size_t> find_number(const Schema& schema, const Type& type,
                                       std::uint64_t number) noexcept {
  // Two's complement ascends once the sign's bit is turned round.
  const std::uint64_t turned = is_signed(type.base) ? std::uint64_t{1} << 63U : 0;
  const auto all = schema.members(type);
  const auto found = std::lower_bound(
      all.begin(), all.end(), number ^ turned,
      [turned](const Member& each, std::uint64_t wanted) { return (each.number ^ turned) < wanted; });
  if (found == all.end() || found->number != number) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

std::optional<std::size_t> find_field(const Schema& schema, const Type& type, std::uint32_t number) noexcept {
  const auto all = schema.fields(type);
  const auto found =
      std::lower_bound(all.begin(), all.end(), number,
                       [](const Field& each, std::uint32_t wanted) { return each.number < wanted; });
  if (found == all.end() || found->number != number) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

}  // namespace mf::described
