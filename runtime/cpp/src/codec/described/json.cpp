#include "mf/codec/described/json.hpp"

#include <utility>

#include "codec/described/json_sink.hpp"
#include "codec/described/json_tell.hpp"
#include "codec/described/walk_values.hpp"
#include "codec/described/writer.hpp"
#include "mf/codec/described/json_type.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/error.hpp"

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

/// `begin` sets the tier of the writer.
template <class Begin>
Result<std::vector<std::byte>> read_json(const Schema& schema, const OwnTypes& own, TypeIndex type,
                                         std::string_view json, const codec::Limits& limits,
                                         const Begin& begin) {
  codec::JsonReader reader(json, limits);
  JsonNotes notes;
  if (!reader.begin() || !JsonLook(schema, own, reader, notes).value(type) || !reader.finish())
    return error_of(reader, schema.type(type));
  // What the values take was charged.
  codec::JsonReader again(json, {limits.depth, SIZE_MAX});
  Buffer out;
  LayoutWriter writer(schema, out);
  begin(writer);
  if (!JsonTell<LayoutWriter>(schema, again, notes, writer).value(type))
    return error_of(again, schema.type(type));
  writer.finish();
  return std::vector<std::byte>(out.span().begin(), out.span().end());
}

Result<std::vector<std::byte>> own_from_json(const Schema& schema, const OwnTypes& own, TypeIndex type,
                                             std::string_view json, const codec::Limits& limits) {
  return read_json(schema, own, type, json, limits,
                   [&](LayoutWriter& writer) { writer.begin(schema.type(type)); });
}

Result<std::string> own_to_json(const Schema& schema, const OwnTypes& own, TypeIndex type,
                                std::span<const std::byte> bytes, const codec::Limits& limits) {
  codec::Reader reader(bytes, limits);
  JsonSink sink(schema, own);
  Scratches scratches;
  Walk<JsonSink> walk(schema, schema, nullptr, reader, sink, scratches);
  if (!walk.whole({type, type, nullptr}) || !reader.finish()) return error_of(reader, schema.type(type));
  if (const std::string_view error = sink.writer().error(); !error.empty())
    return codec::DecodeError{Code::invalid_argument, codec::Fault::none, 0, {}, std::string(error)};
  return std::move(sink.writer()).text();
}

}  // namespace

Result<std::string> to_json(const Schema& schema, TypeIndex type, std::span<const std::byte> bytes,
                            const codec::Limits& limits) {
  return own_to_json(schema, {}, type, bytes, limits);
}

Result<std::vector<std::byte>> from_json(const Schema& schema, TypeIndex type, std::string_view json,
                                         const codec::Limits& limits) {
  return own_from_json(schema, {}, type, json, limits);
}

Result<std::vector<std::byte>> febird_from_json(const Schema& schema, TypeIndex type, std::string_view json,
                                                const codec::Limits& limits) {
  return read_json(schema, {}, type, json, limits, [](LayoutWriter& writer) { writer.begin_febird(); });
}

// --- values among others

namespace {

bool is_counted(const Type& type) noexcept {
  return type.tier == Tier::archive || type.tier == Tier::custom;
}

/// `read` has the walk read what there is.
template <class Read>
Result<std::string> one_to_json(const Schema& schema, TypeIndex type, codec::Reader& reader,
                                const Read& read) {
  const OwnTypes own;
  JsonSink sink(schema, own);
  Scratches scratches;
  Walk<JsonSink> walk(schema, schema, nullptr, reader, sink, scratches);
  if (!read(walk)) return error_of(reader, schema.type(type));
  if (const std::string_view error = sink.writer().error(); !error.empty())
    return codec::DecodeError{Code::invalid_argument, codec::Fault::none, 0, {}, std::string(error)};
  return std::move(sink.writer()).text();
}

}  // namespace

Tier element_tier(const Type& type) noexcept {
  return type.fixed ? Tier::memcpy : Tier::febird;
}

Result<std::string> element_to_json(const Schema& schema, TypeIndex type, codec::Reader& reader) {
  if (!is_counted(schema.type(type)))
    return one_to_json(schema, type, reader, [&](auto& walk) { return walk.whole({type, type, nullptr}); });
  const std::byte* from = nullptr;
  std::size_t length = 0;
  if (!reader.take_counted(from, length)) return error_of(reader, schema.type(type));
  return to_json(schema, type, {from, length});
}

Result<std::vector<std::byte>> element_from_json(const Schema& schema, TypeIndex type, std::string_view json,
                                                 const codec::Limits& limits) {
  auto alone = from_json(schema, type, json, limits);
  if (!alone.ok() || !is_counted(schema.type(type))) return alone;
  std::vector<std::byte> counted(codec::kMaxVarint<std::uint32_t> + alone->size());
  codec::Writer writer(counted.data());
  codec::write_varint(writer, alone->size());
  writer.bytes(alone->data(), alone->size());
  counted.resize(static_cast<std::size_t>(writer.position() - counted.data()));
  return counted;
}

Result<std::string> fields_to_json(const Schema& schema, TypeIndex type, std::span<const std::byte> bytes) {
  codec::Reader reader(bytes);
  return one_to_json(schema, type, reader,
                     [&](auto& walk) { return walk.fields({type, type, nullptr}) && reader.finish(); });
}

// --- types of this program

struct JsonType::State {
  Schema schema;
  OwnTypes own;
};

JsonType::JsonType(const SpelledType& type) {
  const OwnTexts texts = own_texts_of(type);
  auto schema = Schema::read(texts.texts.descriptor, texts.texts.annex);
  if (!schema.ok()) {
    throw Error(Code::invalid_argument, Execution::not_executed,
                type.text + " has no JSON: " + schema.error().reason);
  }
  OwnTypes own(*schema, texts);
  state_ = std::make_unique<const State>(State{std::move(*schema), std::move(own)});
}

JsonType::~JsonType() = default;

std::string JsonType::text_of(std::span<const std::byte> bytes) const {
  const Schema& schema = state_->schema;
  auto text = own_to_json(schema, state_->own, schema.value(), bytes, {codec::Limits{}.depth, SIZE_MAX});
  if (text.ok()) return std::move(*text);
  const codec::DecodeError& error = text.error();
  throw Error(Code::invalid_argument, Execution::not_executed,
              error.path.empty() ? error.reason : error.path + ": " + error.reason);
}

Result<std::vector<std::byte>> JsonType::bytes_of(std::string_view text, const codec::Limits& limits) const {
  return own_from_json(state_->schema, state_->own, state_->schema.value(), text, limits);
}

}  // namespace mf::described
