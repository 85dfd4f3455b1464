#include "http/description.hpp"

#include <utility>

#include "mf/codec/described/json.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::http {
namespace {

[[noreturn]] void cannot_use(std::string_view name, const std::string& why) {
  throw not_executed_error(Code::schema_mismatch,
                           "the description of " + shortened(name) + " cannot be used: " + why);
}

Streams streams_of(const described::Method& method) noexcept {
  const unsigned params = method.params_stream != described::kNoType ? 1 : 0;
  const unsigned results = method.results_stream != described::kNoType ? 2 : 0;
  return static_cast<Streams>(params + results);
}

/// The value of the only member of an object that was written here.
std::string only_value(std::string&& object, std::string_view name) {
  if (object.size() == 2) return "null";  // it is absent
  object.pop_back();
  object.erase(0, name.size() + 4);
  return std::move(object);
}

}  // namespace

Description::Description(std::string_view name, std::string text, std::string annex)
    : text_(std::move(text)), annex_(std::move(annex)) {
  auto schema = described::Schema::read(text_, annex_);
  if (!schema.ok()) cannot_use(name, schema.error().message());
  schema_ = std::move(*schema);
  if (schema_->of() == described::Schema::Of::value) cannot_use(name, "it is of a value");
  if (schema_->name() != name) cannot_use(name, "it is of " + shortened(schema_->name()));
  if (schema_->of() == described::Schema::Of::topic) {
    try {
      topic_ = std::make_unique<topics::DescribedTopic>(text_ + annex_);
    } catch (const Error& error) {
      cannot_use(name, error.message());
    }
    service_ = topic_->info().service;
    return;
  }
  const auto methods = schema_->methods();
  infos_.reserve(2 * methods.size());  // which links_ refers to
  for (const auto& each : methods) names_.push_back(each.name);
  service_ = {.name = schema_->name(),
              .per_agent = !schema_->per().empty(),
              .descriptor = text_,
              .annex = annex_,
              .fingerprint = link::fingerprint_of(text_),
              .methods = names_};
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const auto& each = methods[i];
    const bool replies = each.results != described::kNoType;
    for (const bool idempotent : {false, true}) {
      const auto& info = infos_.emplace_back(MethodInfo{.name = each.name,
                                                        .index = static_cast<std::uint16_t>(i),
                                                        .idempotent = idempotent,
                                                        .oneway = each.oneway,
                                                        .streams = streams_of(each)});
      links_.push_back({.service = service_,
                        .info = info,
                        .result_tier = replies ? schema_->type(each.results).tier : Tier::memcpy,
                        .errors = {},
                        .result_violation = nullptr});
    }
  }
}

std::optional<std::size_t> Description::method(std::string_view name) const noexcept {
  const auto* const found = schema_->method(name);
  if (found == nullptr) return std::nullopt;
  return static_cast<std::size_t>(found - schema_->methods().data());
}

std::string Description::full_name(std::size_t method) const {
  return std::string(service_.name) + "." + std::string(at(method).name);
}

Problem Description::unreadable(std::size_t method, std::string_view why) const {
  return {.code = Code::decode_error,
          .execution = Execution::unknown,
          .detail = "the reply of " + full_name(method) + ": " + std::string(why),
          .status = 502};
}

Answer Description::read_result(std::size_t method, std::span<const std::byte> bytes) const {
  const auto results = at(method).results;
  if (results == described::kNoType) return "null";
  const auto fields = schema_->fields(schema_->type(results));
  auto json = described::to_json(*schema_, results, bytes);
  if (!json.ok()) return unreadable(method, json.error().message());
  if (fields.empty()) return "null";
  return fields.size() == 1 ? only_value(std::move(*json), fields.front().name) : std::move(*json);
}

Problem Description::declared(std::size_t method, std::size_t index, std::span<const std::byte> bytes) const {
  const auto errors = schema_->throws(at(method));
  if (index >= errors.size()) return unreadable(method, "it holds an error that the method does not declare");
  auto json = described::fields_to_json(*schema_, errors[index], bytes);
  if (!json.ok()) return unreadable(method, json.error().message());
  std::string error(schema_->type(errors[index]).name);
  return {.code = Code::declared,
          .execution = Execution::unknown,
          .detail = full_name(method) + " has thrown " + error,
          .error = std::move(error),
          .fields = std::move(*json)};
}

Answer Description::read(std::size_t method, const link::Reply& reply) const {
  if (reply.local()) {
    if (at(method).oneway && reply.failure.code == Code::ok) return "null";
    return problem_of(reply.failure);
  }
  if (reply.status == Code::ok) {
    if (at(method).oneway) return "null";
    return read_result(method, reply.payload);
  }
  protocol::FailureRecord record;
  if (reply.status != Code::declared) {
    if (!protocol::parse_failure(reply.payload, record))
      return unreadable(method, "a failure record that cannot be read");
    return Problem{.code = reply.status,
                   .execution = record.execution,
                   .detail = full_name(method) + ": " + std::string(record.message)};
  }
  protocol::MixedReader outcomes(reply.payload, reply.count);
  if (reply.count != 1 || !outcomes.ok()) return unreadable(method, "outcomes that do not fit");
  const auto code = outcomes.outcome(0);
  if (code == Code::ok) return read_result(method, outcomes.rest());
  if (!outcomes.skip_results(0)) return unreadable(method, "results that do not fit");
  if (code == Code::declared) {
    std::uint16_t index = 0;
    std::span<const std::byte> bytes;
    if (!outcomes.next_declared(index, bytes)) return unreadable(method, "a record that ends early");
    return declared(method, index, bytes);
  }
  if (!outcomes.next_failure(record)) return unreadable(method, "a record that ends early");
  return Problem{.code = code, .execution = record.execution, .detail = std::string(record.message)};
}

}  // namespace mf::http
