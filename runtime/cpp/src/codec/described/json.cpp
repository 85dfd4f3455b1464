#include "mf/codec/described/json.hpp"

#include <utility>

#include "codec/described/json_sink.hpp"
#include "codec/described/json_walk_containers.hpp"
#include "codec/described/walk_values.hpp"
#include "codec/described/writer.hpp"

namespace mf::described {

namespace {

std::string_view root_of(const Type& type) noexcept {
  const bool named = type.kind == Kind::structure || type.kind == Kind::alternatives;
  return named && !type.implicit ? type.short_name : std::string_view();
}

template <class Reader>
codec::DecodeError error_of(Reader& reader, const Type& type) {
  if (const std::string_view root = root_of(type); !root.empty()) reader.inside(root);
  return reader.error();
}

template <class Begin>
Result<std::vector<std::byte>> write_json(const Schema& schema, TypeIndex type, std::string_view json,
                                          const codec::Limits& limits, const Begin& begin) {
  codec::JsonReader reader(json, limits);
  Nothing nothing;
  if (!reader.begin() || !JsonWalk<Nothing>(schema, reader, nothing).value(type) || !reader.finish())
    return error_of(reader, schema.type(type));
  // It was looked at, and what it takes was charged.
  codec::JsonReader again(json, {limits.depth, SIZE_MAX});
  Buffer out;
  LayoutWriter writer(schema, out);
  begin(writer);
  if (!again.begin() || !JsonWalk<LayoutWriter>(schema, again, writer).value(type))
    return error_of(again, schema.type(type));
  writer.finish();
  return std::vector<std::byte>(out.span().begin(), out.span().end());
}

}  // namespace

Result<std::string> to_json(const Schema& schema, TypeIndex type, std::span<const std::byte> bytes,
                            const codec::Limits& limits) {
  codec::Reader reader(bytes, limits);
  JsonSink sink(schema);
  Scratches scratches;
  Walk<JsonSink> walk(schema, schema, nullptr, reader, sink, scratches);
  if (!walk.whole({type, type, nullptr}) || !reader.finish()) return error_of(reader, schema.type(type));
  if (const std::string_view error = sink.writer().error(); !error.empty())
    return codec::DecodeError{Code::invalid_argument, codec::Fault::none, 0, {}, std::string(error)};
  return std::move(sink.writer()).text();
}

Result<std::vector<std::byte>> from_json(const Schema& schema, TypeIndex type, std::string_view json,
                                         const codec::Limits& limits) {
  return write_json(schema, type, json, limits,
                    [&](LayoutWriter& writer) { writer.begin(schema.type(type)); });
}

Result<std::vector<std::byte>> febird_from_json(const Schema& schema, TypeIndex type, std::string_view json,
                                                const codec::Limits& limits) {
  return write_json(schema, type, json, limits, [](LayoutWriter& writer) { writer.begin_febird(); });
}

}  // namespace mf::described
