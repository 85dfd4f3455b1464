#include "codec/described/json_scalars.hpp"

#include <bit>

#include "codec/json_scalar.hpp"

namespace mf::described {

std::vector<Member> masks_of(const Schema& schema, const Type& flags) {
  std::vector<Member> masks;
  for (const Member& member : schema.members(flags))
    masks.push_back({member.name, std::uint64_t{1} << member.number});
  return masks;
}

bool JsonScalars::number(const Type& type, std::uint64_t& bits) {
  const auto read = [&](auto value, auto read_value, const auto& bits_of_value) {
    const bool good = read_value(reader_, value);
    bits = bits_of_value(value);
    return good;
  };
  switch (type.kind) {
    case Kind::boolean:
      return read(
          false, [](auto& reader, bool& value) { return reader.read_bool(value); },
          [](bool value) { return value ? 1U : 0U; });
    case Kind::f32:
      return read(
          0.0F, [](auto& reader, float& value) { return codec::read_json_float(reader, value); },
          [](float value) { return std::bit_cast<std::uint32_t>(value); });
    case Kind::f64:
      return read(
          0.0, [](auto& reader, double& value) { return codec::read_json_float(reader, value); },
          [](double value) { return std::bit_cast<std::uint64_t>(value); });
    case Kind::timestamp:
      return read(
          Timestamp{}, [](auto& reader, Timestamp& value) { return codec::read_json_time(reader, value); },
          [](Timestamp value) { return static_cast<std::uint64_t>(value.time_since_epoch().count()); });
    case Kind::duration:
      return read(
          Duration{}, [](auto& reader, Duration& value) { return codec::read_json_time(reader, value); },
          [](Duration value) { return static_cast<std::uint64_t>(value.count()); });
    case Kind::enumeration:
      return read_json_enum(reader_, schema_.members(type), base_of(type), type.open, bits);
    case Kind::flags:
      return read_json_flags(reader_, masks_of(schema_, type), base_of(type), bits);
    default:
      return read_json_integer(reader_, base_of(type), bits);
  }
}

bool JsonScalars::octets(const Type& type, std::string& bytes) {
  if (type.kind == Kind::string) return codec::read_json_text(reader_, bytes);
  const auto keep = [&](const void* from, std::size_t size) {
    bytes.assign(static_cast<const char*>(from), size);
    return true;
  };
  if (type.kind == Kind::uuid) {
    Uuid uuid;
    return codec::read_json_uuid(reader_, uuid) && keep(&uuid, sizeof(uuid));
  }
  Bytes read;
  return codec::read_json_bytes(reader_, read) && keep(read.data(), read.size());
}

bool JsonScalars::key(const Type& type, bool quoted, JsonKey& key) {
  if (!is_number(type)) return octets(type, key.bytes);
  if (!quoted || type.kind != Kind::boolean) {
    if (!number(type, key.bits)) return false;
    key.bits ^= turned(type);
    return true;
  }
  std::string_view text;
  if (!reader_.read_name(text)) return false;
  key.bits = text == "true" ? 1 : 0;
  return text == "true" || text == "false" ||
         reader_.fail(codec::Fault::json_wrong_type, "a key is neither true nor false");
}

}  // namespace mf::described
