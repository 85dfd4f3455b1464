#include "controller/etcd_json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "mf/codec/json_text.hpp"
#include "mf/core/log.hpp"

namespace mf::controller::etcd {
namespace {

namespace json = boost::json;

constexpr std::size_t kShownOfAnswer = 200;  // of an invalid answer

const json::value* find(const json::object& of, std::string_view name) {
  return of.if_contains(json::string_view(name.data(), name.size()));
}

Bytes bytes_of(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  if (value == nullptr) return {};
  if (!value->is_string()) no_answer(name);
  const std::string_view text(value->as_string().data(), value->as_string().size());
  std::vector<std::byte> bytes(codec::json_text::base64_size(text));
  if (!codec::json_text::read_base64(text, bytes)) no_answer(text);
  return Bytes(bytes);
}

}  // namespace

void no_answer(std::string_view text) {
  throw EtcdError("what has come is no answer of etcd: " + log_quoted(text, kShownOfAnswer));
}

json::object parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) no_answer(text);
  return std::move(value.as_object());
}

std::int64_t number(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->as_int64();
  if (!value->is_string()) no_answer(name);
  const json::string& text = value->as_string();
  std::int64_t read = 0;
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, read);
  if (error != std::errc{} || at != end) no_answer(std::string_view(text.data(), text.size()));
  return read;
}

bool flag(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  return value != nullptr && value->is_bool() && value->as_bool();
}

const json::object* member(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* list(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  return value == nullptr ? nullptr : value->if_array();
}

const json::object& object_in(const json::value& of) {
  if (!of.is_object()) no_answer(json::serialize(of));
  return of.as_object();
}

std::int64_t revision_of(const json::object& answer) {
  const json::object* const header = member(answer, "header");
  if (header == nullptr) no_answer(json::serialize(answer));
  return number(*header, "revision");
}

KeyValue key_value(const json::object& from) {
  KeyValue read;
  const Bytes key = bytes_of(from, "key");
  read.key = key.text();
  read.value = bytes_of(from, "value");
  read.revision = number(from, "mod_revision");
  return read;
}

std::optional<KeyValue> first_of(const json::object& range) {
  const json::array* const found = list(range, "kvs");
  if (found == nullptr || found->empty()) return std::nullopt;
  return key_value(object_in(found->front()));
}

}  // namespace mf::controller::etcd
