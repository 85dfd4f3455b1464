#include "codec/described/default_values.hpp"

#include "mf/codec/described/json.hpp"
#include "mf/codec/described/schema.hpp"

namespace mf::described {

Result<std::span<const std::byte>> Schema::default_value(const Field& field) const {
  const auto index = static_cast<std::size_t>(&field - fields_.data());
  if (const auto* const kept = default_values_->find(index); kept != nullptr)
    return std::span<const std::byte>(*kept);
  auto made = febird_from_json(*this, field.type, *field.default_json, {64, kMaxText});
  if (!made.ok()) return made.error();
  const auto* const kept = default_values_->keep(index, std::move(*made));
  if (kept == nullptr)
    return DecodeError{.fault = codec::Fault::budget_exceeded,
                       .path = {},
                       .reason = "the defaults of the schema are too large"};
  return std::span<const std::byte>(*kept);
}

}  // namespace mf::described
