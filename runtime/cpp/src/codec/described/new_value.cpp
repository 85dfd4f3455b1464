#include "codec/described/new_value.hpp"

#include <array>

#include "codec/described/numbers.hpp"
#include "codec/described/walk_values.hpp"
#include "codec/described/writer.hpp"
#include "mf/codec/described/json.hpp"
#include "mf/core/buffer.hpp"

namespace mf::described {
namespace {

class NewValue {
 public:
  NewValue(const Schema& schema, LayoutWriter& writer) noexcept : schema_(schema), writer_(writer) {}

  void put(TypeIndex index) {
    const Type& type = schema_.type(index);
    switch (type.kind) {
      case Kind::string:
      case Kind::bytes:
        return writer_.octets(type, {});
      case Kind::uuid: {
        static constexpr std::array<std::byte, 16> kNil{};
        return writer_.octets(type, kNil);
      }
      case Kind::optional:
        return writer_.absent(type);
      case Kind::list:
      case Kind::set:
        return writer_.close_sequence(writer_.open_sequence(type, 0));
      case Kind::map:
        return writer_.close_map(writer_.open_map(type, 0));
      case Kind::array: {
        const auto scope = writer_.open_sequence(type, type.length);
        for (std::size_t i = 0; i < type.length; ++i) {
          writer_.element(scope, i);
          put(type.element);
        }
        return writer_.close_sequence(scope);
      }
      case Kind::structure:
        return type.tier == Tier::custom ? writer_.octets(type, {}) : record(type);
      case Kind::alternatives: {
        if (type.count == 0) return;
        const auto scope = writer_.open_union(type, 0);
        put(schema_.fields(type)[0].type);
        return writer_.close_union(scope);
      }
      case Kind::enumeration: {
        const auto members = schema_.members(type);
        const bool zero = type.open || members.empty() || is_valid(schema_, type, 0);
        return writer_.number(type, zero ? 0 : members[0].number);
      }
      default:
        return writer_.number(type, 0);
    }
  }

 private:
  void record(const Type& type) {
    const auto scope = writer_.open_record(type);
    for (std::size_t i = 0; i < type.count; ++i) {
      const Field& field = schema_.fields(type)[i];
      writer_.field(scope, type, i);
      if (!field.default_json || !put_default(field)) put(field.type);
    }
    writer_.close_record(scope);
  }

  bool put_default(const Field& field) {
    const auto bytes = schema_.default_value(field);
    if (!bytes.ok()) return false;
    codec::Reader reader(*bytes);
    Scratches scratches;
    Walk<LayoutWriter> walk(schema_, schema_, nullptr, reader, writer_, scratches);
    return walk.febird({field.type, field.type, nullptr});
  }

  const Schema& schema_;
  LayoutWriter& writer_;
};

}  // namespace

std::vector<std::byte> new_value(const Schema& schema, TypeIndex type) {
  Buffer out;
  LayoutWriter writer(schema, out);
  writer.begin_febird();
  NewValue(schema, writer).put(type);
  writer.finish();
  return {out.span().begin(), out.span().end()};
}

}  // namespace mf::described
