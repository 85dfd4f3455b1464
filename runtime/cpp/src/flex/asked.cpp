#include "flex/asked.hpp"

#include <algorithm>

#include "mf/codec/flex/tags.hpp"
#include "mf/codec/flex/writer.hpp"

namespace mf::flex {
namespace {

enum class How : char { same = 's', kind = 'k', present = 'p', test = 't' };

bool holds_array(const Value& value) {
  if (const auto* const list = value.get_if<List>()) return std::ranges::any_of(*list, holds_array);
  if (const auto* const map = value.get_if<Map>())
    return std::any_of(map->begin(), map->end(), [](const auto& entry) { return holds_array(entry.value); });
  return value.kind() == Kind::array;
}

void append_kind(std::string& key, Kind kind) {
  key.push_back(static_cast<char>(kind));
}

/// In whichever version: to<T>() reads them all, or says why it cannot.
void append_kind(std::string& key, std::string_view type) {
  append_kind(key, Kind::declared);
  key.append(type).push_back('\0');
}

void append_kind_of(std::string& key, const Value& value) {
  const auto* const typed = value.get_if<Typed>();
  if (typed == nullptr) return append_kind(key, value.kind());
  append_kind(key, typed->name());
}

/// Calls `each(how, name)`; false as soon as that says so.
template <class Each>
bool for_each(std::string_view shape, Each&& each) {
  while (!shape.empty()) {
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(shape[1]));
    if (!each(static_cast<How>(shape[0]), shape.substr(2, size))) return false;
    shape.remove_prefix(2 + size);
  }
  return true;
}

}  // namespace

Asked::Asked(const Pattern& pattern) {
  for (const auto& [name, criterion] : pattern.criteria()) {
    if (name.empty() || name.size() > kMaxName)
      refuse("the name of an attribute has 1 to " + std::to_string(kMaxName) + " bytes");
    auto how = How::present;
    if (const auto* const value = std::get_if<Value>(&criterion.wanted())) {
      how = How::same;
      if (holds_array(*value)) refuse(name + ": arrays are not compared; ask for the kind or by a function");
      append_written(key_, *value, name);
    } else if (const auto* const kind = std::get_if<OfKind>(&criterion.wanted())) {
      how = How::kind;
      if (kind->kind == Kind::declared && !kind->type.empty()) {
        append_kind(key_, kind->type);
      } else if (kind->kind == Kind::declared) {
        refuse(name + ": say which declared type: mf::flex::of<Hit>()");
      } else {
        append_kind(key_, kind->kind);
      }
    } else if (const auto* const test = std::get_if<Criterion::Test>(&criterion.wanted())) {
      how = How::test;
      tests_.emplace_back(name, *test);
    }
    shape_.push_back(static_cast<char>(how));
    shape_.push_back(static_cast<char>(name.size()));
    shape_.append(name);
  }
}

bool Asked::passes(const Message& message) const {
  return std::ranges::all_of(tests_, [&](const auto& test) { return test.second(message[test.first]); });
}

bool key_of(std::string_view shape, const Message& message, std::string& key) {
  key.clear();
  return for_each(shape, [&](How how, std::string_view name) {
    if (how == How::test) return true;
    const auto* const value = message.find(name);
    if (value == nullptr) return false;
    if (how == How::same) append_written(key, *value);
    if (how == How::kind) append_kind_of(key, *value);
    return true;
  });
}

bool tested_of(std::string_view shape, const Message& message, std::string& key) {
  key.clear();
  return for_each(shape, [&](How how, std::string_view name) {
    if (how != How::test) return true;
    const auto* const value = message.find(name);
    if (value != nullptr) append_written(key, *value);
    return value != nullptr;
  });
}

void Pattern::add(std::string_view name, Criterion criterion) {
  const auto place = std::ranges::lower_bound(criteria_, name, {}, &Entry::first);
  if (place != criteria_.end() && place->first == name)
    refuse("the attribute " + quoted(name) + " is asked for twice");
  criteria_.emplace(place, name, std::move(criterion));
}

std::string to_string(const Pattern& pattern) {
  std::string text;
  for (const auto& [name, criterion] : pattern.criteria()) {
    if (!text.empty()) text += ", ";
    text += name + "=";
    if (const auto* const value = std::get_if<Value>(&criterion.wanted())) {
      text += to_string(*value);
    } else if (const auto* const kind = std::get_if<OfKind>(&criterion.wanted())) {
      text += kind->type.empty() ? flex::name(kind->kind) : kind->type;
    } else {
      text += std::holds_alternative<Any>(criterion.wanted()) ? "any" : "<function>";
    }
  }
  return text.empty() ? "anything" : text;
}

}  // namespace mf::flex
