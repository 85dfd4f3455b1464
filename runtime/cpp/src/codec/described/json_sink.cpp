#include "codec/described/json_sink.hpp"

#include <bit>
#include <utility>

#include "codec/described/json_scalars.hpp"
#include "mf/core/types.hpp"

namespace mf::described {

void JsonSink::name() {
  if (const Field* const field = std::exchange(pending_, nullptr)) writer_.member(field->name);
}

void JsonSink::number(const Type& type, std::uint64_t bits) {
  name();
  switch (type.kind) {
    case Kind::boolean:
      return writer_.boolean(bits != 0);
    case Kind::f32:
      return writer_.floating(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case Kind::f64:
      return writer_.floating(std::bit_cast<double>(bits));
    case Kind::timestamp:
      return writer_.quoted_number(Timestamp(Duration(static_cast<std::int64_t>(bits))));
    case Kind::duration:
      return writer_.quoted_number(Duration(static_cast<std::int64_t>(bits)));
    case Kind::enumeration:
      return write_json_enum(writer_, schema_.members(type), base_of(type), bits);
    case Kind::flags:
      return write_json_flags(writer_, masks_of(schema_, type), base_of(type), bits);
    default:
      return write_json_integer(writer_, base_of(type), bits);
  }
}

void JsonSink::octets(const Type& type, std::span<const std::byte> bytes) {
  name();
  if (type.kind == Kind::uuid) {
    Uuid uuid;
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(&uuid));
    return writer_.quoted_number(uuid);
  }
  if (type.kind == Kind::string)
    return writer_.string({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  writer_.base64(bytes);
}

void JsonSink::numbers(const Type& container, const std::byte* values, std::size_t count) {
  const Scope scope = open_sequence(container, count);
  const Type& of = schema_.type(container.element);
  for (std::size_t i = 0; i < count; ++i) {
    element(scope, i);
    number(of, load_bits(of, values + i * of.size));
  }
  close_sequence(scope);
}

JsonSink::Scope JsonSink::open_sequence(const Type& container, std::size_t /*count*/) {
  name();
  static_cast<void>(writer_.open_array());
  return {&container, nullptr, 0, 0};
}

void JsonSink::element(const Scope& /*scope*/, std::size_t /*i*/) {
  writer_.separate();
}

void JsonSink::close_sequence(const Scope& /*scope*/) {
  writer_.close_array();
}

JsonSink::Scope JsonSink::open_map(const Type& map, std::size_t /*count*/) {
  name();
  static_cast<void>(writer_.open_object());
  return {&map, nullptr, 0, 0};
}

void JsonSink::key(Scope& scope) {
  writer_.separate();
  scope.key = writer_.text().size();
}

void JsonSink::mapped(const Scope& scope) {
  writer_.as_key(scope.key);
}

void JsonSink::close_map(const Scope& /*scope*/) {
  writer_.close_object();
}

void JsonSink::absent(const Type& /*optional*/) {
  if (pending_ != nullptr && !pending_->default_json) {
    pending_ = nullptr;
    return;
  }
  name();
  writer_.null();
}

JsonSink::Scope JsonSink::open_present(const Type& optional) {
  name();
  return {&optional, nullptr, 0, 0};
}

JsonSink::Scope JsonSink::open_record(const Type& type) {
  name();
  static_cast<void>(writer_.open_object());
  return {&type, nullptr, 0, starts_.size()};
}

void JsonSink::field(const Scope& /*scope*/, const Type& type, std::size_t i) {
  pending_ = &schema_.fields(type)[i];
  starts_.push_back(writer_.text().size());
}

void JsonSink::close_record(const Scope& scope) {
  if (const auto order = own_.order(*scope.type); !order.empty())
    writer_.put_in_order(std::span(starts_).subspan(scope.members), order);
  starts_.resize(scope.members);
  writer_.close_object();
}

JsonSink::Scope JsonSink::open_graph(const Type& root) {
  return open_record(root);
}

void JsonSink::open_table(const Scope& /*scope*/, std::size_t /*table*/, std::string_view name) {
  writer_.member(name);
  static_cast<void>(writer_.open_array());
}

void JsonSink::object(const Scope& /*scope*/) {
  writer_.separate();
}

void JsonSink::close_table(const Scope& /*scope*/) {
  writer_.close_array();
}

void JsonSink::close_graph(const Scope& /*scope*/) {
  writer_.close_object();
}

void JsonSink::reference(const Type& /*type*/, std::uint32_t number) {
  name();
  writer_.number(std::uint64_t{number});
}

JsonSink::Scope JsonSink::open_union(const Type& type, std::size_t i) {
  name();
  static_cast<void>(writer_.open_object());
  pending_ = &schema_.fields(type)[i];
  return {&type, nullptr, 0, 0};
}

void JsonSink::close_union(const Scope& /*scope*/) {
  writer_.close_object();
}

}  // namespace mf::described
