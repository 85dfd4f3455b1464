#include "codec/described/own_types.hpp"

#include <algorithm>
#include <utility>

#include "codec/described/lines.hpp"

namespace mf::described {

OwnTypes::OwnTypes(const Schema& schema, const OwnTexts& texts) {
  Lines lines(texts.types);
  Line line;
  const Type* type = nullptr;
  std::vector<std::uint32_t> order;
  const auto keep = [&] {
    if (!std::ranges::is_sorted(order)) orders_.emplace(type->name, order);
    order.clear();
  };
  while (lines.next(line)) {
    if (line.depth == 0) {
      keep();
      type = &schema.type(schema.declared(take_until(line.rest, ' ')));
    } else if (type->kind == Kind::structure) {
      order.push_back(
          static_cast<std::uint32_t>(schema.field(*type, line.word) - schema.fields(*type).data()));
    }
  }
  keep();
  for (const CustomType& each : texts.customs) codecs_.emplace(each.name, each.refusal);
}

std::span<const std::uint32_t> OwnTypes::order(const Type& type) const noexcept {
  const auto found = orders_.find(type.name);
  return found == orders_.end() ? std::span<const std::uint32_t>() : found->second;
}

std::string OwnTypes::refusal(const Type& type, std::span<const std::byte> bytes) const {
  const auto found = codecs_.find(type.name);
  return found == codecs_.end() ? std::string() : found->second(bytes);
}

}  // namespace mf::described
