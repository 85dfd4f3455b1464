#include "http/openapi.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>

namespace mf::http {
namespace {

namespace json = boost::json;
using described::Kind;
using described::Type;
using described::TypeIndex;

json::string_view text(std::string_view of) noexcept {
  return {of.data(), of.size()};
}

json::object integer(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

json::object digits(const char* format, const char* pattern) {
  return {{"type", "string"}, {"format", format}, {"pattern", pattern}};
}

json::object base64() {
  return {{"type", "string"}, {"contentEncoding", "base64"}};
}

/// The schemas of one description.
class Shapes {
 public:
  Shapes(const Description& of, json::object& into)
      : schema_(of.schema()), prefix_(of.schema().name()), into_(into) {}

  /// Of a type where it is used: declared types are referred to.
  json::object of(TypeIndex index) {
    const Type& type = schema_.type(index);
    switch (type.kind) {
      case Kind::boolean:
        return {{"type", "boolean"}};
      case Kind::u8:
        return integer(0, UINT8_MAX);
      case Kind::u16:
        return integer(0, UINT16_MAX);
      case Kind::u32:
        return integer(0, UINT32_MAX);
      case Kind::i8:
        return integer(INT8_MIN, INT8_MAX);
      case Kind::i16:
        return integer(INT16_MIN, INT16_MAX);
      case Kind::i32:
        return integer(INT32_MIN, INT32_MAX);
      case Kind::u64:
        return digits("uint64", "^[0-9]+$");
      case Kind::i64:
        return digits("int64", "^-?[0-9]+$");
      case Kind::f32:
      case Kind::f64:
        return {{"anyOf",
                 json::array{{{"type", "number"}}, {{"enum", json::array{"NaN", "Infinity", "-Infinity"}}}}}};
      case Kind::timestamp:
        return {{"type", "string"}, {"format", "date-time"}};
      case Kind::duration:
        return digits("duration-in-seconds", "^-?[0-9]+([.][0-9]{1,9})?s$");
      case Kind::uuid:
        return {{"type", "string"}, {"format", "uuid"}};
      case Kind::string:
        return {{"type", "string"}};
      case Kind::bytes:
        return base64();
      case Kind::list:
        return {{"type", "array"}, {"items", of(type.element)}};
      case Kind::set:
        return {{"type", "array"}, {"items", of(type.element)}, {"uniqueItems", true}};
      case Kind::map:
        return {{"type", "object"}, {"additionalProperties", of(type.element)}};
      case Kind::array:
        return {{"type", "array"},
                {"items", of(type.element)},
                {"minItems", type.length},
                {"maxItems", type.length}};
      case Kind::optional:
        return {{"anyOf", json::array{of(type.element), {{"type", "null"}}}}};
      case Kind::ref:
        return integer(0, UINT32_MAX);
      case Kind::structure:
      case Kind::alternatives:
      case Kind::enumeration:
      case Kind::flags:
        return type.implicit ? fields(type) : declared(type);
    }
    return {};
  }

  /// Of a result: one is its value, several are an object.
  json::object result(TypeIndex index) {
    if (index == described::kNoType || schema_.type(index).count == 0) return {{"type", "null"}};
    const Type& type = schema_.type(index);
    return type.count == 1 ? of(schema_.fields(type).front().type) : of(index);
  }

 private:
  json::object declared(const Type& type) {
    const auto name = prefix_ + "-" + std::string(type.name);
    if (!into_.contains(name)) {
      into_[name] = nullptr;  // it may hold itself
      into_[name] = body(type);
    }
    return {{"$ref", "#/components/schemas/" + name}};
  }

  json::object body(const Type& type) {
    if (type.tier == Tier::custom) return base64();
    if (type.kind == Kind::structure) return fields(type);
    if (type.kind == Kind::alternatives) {
      json::object properties;
      for (const auto& field : schema_.fields(type)) properties[text(field.name)] = of(field.type);
      return {{"type", "object"},
              {"properties", std::move(properties)},
              {"additionalProperties", false},
              {"minProperties", 1},
              {"maxProperties", 1}};
    }
    json::array names;
    for (const auto& member : schema_.members(type)) names.push_back(json::value(text(member.name)));
    json::object name{{"enum", std::move(names)}};
    const bool wide = type.base == Kind::u64 || type.base == Kind::i64;
    json::object number{{"type", wide ? "string" : "integer"}};
    if (type.kind == Kind::enumeration && !type.open) return name;
    json::object either{{"anyOf", json::array{std::move(name), std::move(number)}}};
    if (type.kind == Kind::enumeration) return either;
    return {{"type", "array"}, {"items", std::move(either)}, {"uniqueItems", true}};
  }

  json::object fields(const Type& type) {
    json::object properties;
    json::array required;
    for (const auto& field : schema_.fields(type)) {
      properties[text(field.name)] = of(field.type);
      if (field.default_json || schema_.type(field.type).kind == Kind::optional) continue;
      required.push_back(json::value(text(field.name)));
    }
    json::object object{
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) object["required"] = std::move(required);
    return object;
  }

  const described::Schema& schema_;
  const std::string prefix_;
  json::object& into_;
};

json::object content(const char* type, json::object schema) {
  return {{type, json::object{{"schema", std::move(schema)}}}};
}

json::object header(const char* name, const char* meaning) {
  return {{"name", name},
          {"in", "header"},
          {"description", meaning},
          {"required", false},
          {"schema", json::object{{"type", "string"}}}};
}

json::object problem() {
  json::object properties{{"type", json::object{{"type", "string"}}},
                          {"title", json::object{{"type", "string"}}},
                          {"status", json::object{{"type", "integer"}}},
                          {"detail", json::object{{"type", "string"}}},
                          {"code", json::object{{"type", "string"}}},
                          {"execution", json::object{{"enum", json::array{"NOT_EXECUTED", "UNKNOWN"}}}},
                          {"error", json::object{{"type", "string"}}},
                          {"fields", json::object{{"type", "object"}}}};
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", json::array{"type", "title", "status", "detail", "code", "execution"}}};
}

json::object problem_response(const char* meaning) {
  return {{"description", meaning},
          {"content",
           content("application/problem+json", json::object{{"$ref", "#/components/schemas/Problem"}})}};
}

json::object responses_of(const described::Method& method, Shapes& shapes) {
  json::object good{
      {"description", "the result; of a batch, {\"result\": …} or {\"problem\": {…}} of each item"}};
  if (method.results_stream != described::kNoType) {
    good["description"] = "{\"value\": …} of each value, at last {\"end\": …} or {\"problem\": {…}}";
    json::object line{{"type", "object"},
                      {"properties", json::object{{"value", shapes.of(method.results_stream)},
                                                  {"end", shapes.result(method.results)}}}};
    json::object both = content("application/x-ndjson", line);
    both["text/event-stream"] = json::object{{"schema", shapes.of(method.results_stream)}};
    good["content"] = std::move(both);
  } else {
    good["content"] = content("application/json", shapes.result(method.results));
  }
  return {{"200", std::move(good)}, {"default", problem_response("why there is no result")}};
}

json::object operation_of(const Description& of, std::size_t index, Shapes& shapes) {
  const auto& method = of.at(index);
  json::array parameters{header("MF-Deadline", "how long the call may take: 1.5s, 250ms"),
                         header("MF-Idempotent", "true: a call that may have run may be repeated"),
                         header("traceparent", "the trace that the call belongs to (W3C Trace Context)")};
  if (of.service().per_agent)
    parameters.insert(parameters.begin(),
                      header("MF-Agent", "the agent, with %XX for bytes that are no ASCII; without it any"));
  json::object arguments = shapes.of(method.params);
  json::object body{{"required", true}};
  if (method.results_stream == described::kNoType) {
    json::object batch{{"type", "array"}, {"items", arguments}};
    body["content"] =
        content("application/json", json::object{{"anyOf", json::array{arguments, std::move(batch)}}});
  } else {
    body["content"] = content("application/json", arguments);
  }
  json::object operation{{"operationId", of.full_name(index)},
                         {"tags", json::array{json::value(text(of.service().name))}},
                         {"parameters", std::move(parameters)},
                         {"requestBody", std::move(body)},
                         {"responses", responses_of(method, shapes)}};
  json::object errors;
  for (const auto error : of.schema().throws(method))
    errors[text(of.schema().type(error).name)] = shapes.of(error);
  if (!errors.empty()) operation["x-mf-errors"] = std::move(errors);
  if (method.params_stream != described::kNoType) {
    operation["x-mf-websocket"] = true;
    operation["description"] = "takes a stream of values: GET it with Upgrade: websocket";
    operation["x-mf-stream"] = shapes.of(method.params_stream);
  }
  return operation;
}

json::object topic_of(const Description& of, Shapes& shapes) {
  json::object message{{"type", "object"},
                       {"properties", json::object{{"value", shapes.of(of.schema().value())},
                                                   {"agent", json::object{{"type", "string"}}},
                                                   {"missed", json::object{{"type", "integer"}}}}}};
  json::object both = content("application/x-ndjson", message);
  both["text/event-stream"] = json::object{{"schema", message}};
  json::object responses{
      {"200", json::object{{"description", "the messages, without end"}, {"content", std::move(both)}}},
      {"default", problem_response("why there is no subscription")}};
  return {{"operationId", text(of.schema().name())},
          {"tags", json::array{"topics"}},
          {"description", "a WebSocket as well"},
          {"responses", std::move(responses)}};
}

}  // namespace

std::string openapi_of(
    const std::vector<std::shared_ptr<const Description>>& described,
    const std::function<bool(std::string_view service, std::string_view method)>& may_call) {
  json::object schemas{{"Problem", problem()}};
  json::object paths;
  for (const auto& each : described) {
    Shapes shapes(*each, schemas);
    const std::string name(each->schema().name());
    if (each->topic() != nullptr) {
      if (may_call(name, "")) paths["/v1/topics/" + name] = json::object{{"get", topic_of(*each, shapes)}};
      continue;
    }
    for (std::size_t i = 0; i < each->schema().methods().size(); ++i) {
      const auto method = each->at(i).name;
      if (may_call(name, method))
        paths["/v1/" + name + "/" + std::string(method)] =
            json::object{{"post", operation_of(*each, i, shapes)}};
    }
  }
  json::object components{
      {"schemas", std::move(schemas)},
      {"securitySchemes",
       json::object{
           {"token", json::object{{"type", "http"}, {"scheme", "bearer"}, {"bearerFormat", "PASETO"}}},
           {"certificate", json::object{{"type", "mutualTLS"}}}}}};
  const json::object document{
      {"openapi", "3.1.0"},
      {"info", json::object{{"title", "Services behind an MF/IDL relay"}, {"version", "1"}}},
      {"paths", std::move(paths)},
      {"components", std::move(components)},
      {"security", json::array{json::object{}, json::object{{"token", json::array{}}},
                               json::object{{"certificate", json::array{}}}}}};
  return json::serialize(document);
}

}  // namespace mf::http
