#include "http/events.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "http/problem.hpp"
#include "mf/core/hex.hpp"

namespace mf::http {
namespace {

std::string_view kind_of(const controller::Key& key) noexcept {
  return key.kind == controller::KeyKind::topic ? "topic" : "service";
}

std::string quoted(std::string_view text) {
  std::string json;
  append_string(json, text);
  return json;
}

std::string hex_of(const Uuid& id) {
  return to_hex(id.bytes);
}

}  // namespace

void JsonObject::begin(std::string_view name) {
  text_ += text_.empty() ? '{' : ',';
  append_string(text_, name);
  text_ += ':';
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  begin(name);
  append_string(text_, value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view name, std::uint64_t value) {
  begin(name);
  text_ += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::real(std::string_view name, double value) {
  begin(name);
  std::array<char, 64> digits{};
  const auto length = std::snprintf(digits.data(), digits.size(), "%.3f", value);
  text_.append(digits.data(), static_cast<std::size_t>(length));
  return *this;
}

JsonObject& JsonObject::truth(std::string_view name, bool value) {
  begin(name);
  text_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::json(std::string_view name, std::string_view value) {
  begin(name);
  text_ += value;
  return *this;
}

double seconds_of(controller::WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

std::string row_of(const controller::Instance& instance) {
  const auto& offer = instance.offer;
  JsonObject labels;
  for (const auto& [name, value] : offer.labels) labels.text(name, value);
  return JsonObject()
      .text("id", controller::shown_id(instance.instance))
      .text("process", instance.process)
      .text("identity", instance.identity)
      .truth("verified", instance.verified)
      .text("kind", kind_of(offer.key))
      .text("name", offer.key.name)
      .text("agent", offer.key.agent)
      .json("addresses", json_array(offer.addresses, quoted))
      .text("schema", offer.fingerprint == Uuid() ? "" : hex_of(offer.fingerprint))
      .number("weight", std::max<std::uint32_t>(offer.weight, 1))
      .json("labels", labels.end())
      .truth("alone", offer.alone)
      .end();
}

std::string row_key_of(const controller::Place& place) {
  return JsonObject()
      .text("id", controller::shown_id(place.instance))
      .text("kind", kind_of(place.key))
      .text("name", place.key.name)
      .text("agent", place.key.agent)
      .end();
}

std::string step_of(const controller::Step& step) {
  return JsonObject()
      .number("number", step.revision)
      .real("at", seconds_of(step.at))
      .text("what", step.came ? "came" : "left")
      .text("id", controller::shown_id(step.instance->instance))
      .text("process", step.instance->process)
      .text("kind", kind_of(step.instance->offer.key))
      .text("name", step.instance->offer.key.name)
      .text("agent", step.instance->offer.key.agent)
      .end();
}

std::string denial_of(const controller::Refused& refused) {
  return JsonObject()
      .number("number", refused.number)
      .real("at", seconds_of(refused.at))
      .text("peer", refused.peer)
      .text("identity", refused.identity)
      .text("action", refused.action)
      .text("object", refused.object)
      .text("agent", refused.agent)
      .text("address", refused.address)
      .end();
}

std::string facts_of(const controller::ControllerStatus& status, std::string_view where) {
  return JsonObject()
      .text("where", where)
      .truth("answers", true)
      .text("trouble", "")
      .text("cluster", hex_of(status.cluster).substr(0, 8))
      .number("processes", status.processes)
      .number("offers", status.offers)
      .number("watches", status.watches)
      .text("store", status.store.name)
      .truth("store_ok", status.store.ok)
      .text("store_reason", status.store.reason)
      .end();
}

std::string event_of(std::string_view name, std::string_view json) {
  std::string event = "event: ";
  return event.append(name).append("\ndata: ").append(json).append("\n\n");
}

}  // namespace mf::http
