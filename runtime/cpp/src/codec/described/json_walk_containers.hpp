#pragma once
// R1. Lists, arrays, sets and maps in JSON; what json_walk.hpp declares.

#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/described/json_walk.hpp"

namespace mf::described {

template <class Sink>
bool JsonWalk<Sink>::list(const Type& type) {
  const bool array = type.kind == Kind::array;
  std::vector<Place> places;
  if (!reader_.open_array()) return false;
  codec::JsonStep step = codec::JsonStep::failed;
  const auto next = [&](std::size_t i) {
    return array ? reader_.next_element(i, type.length) : reader_.next_element(i);
  };
  std::size_t count = 0;
  for (; (step = next(count)) == codec::JsonStep::item; ++count) {
    if constexpr (kTells) places.push_back(reader_.place());
    const bool charged = array || reader_.charge(1, schema_.type(type.element).memory);
    if (!charged || !look(type.element)) return reader_.inside(count);
  }
  if (step != codec::JsonStep::end) return false;
  if constexpr (kTells) {
    const Place end = reader_.place();
    auto scope = sink_.open_sequence(type, count);
    for (std::size_t i = 0; i < count; ++i) {
      reader_.return_to(places[i]);
      sink_.element(scope, i);
      if (!value(type.element)) return reader_.inside(i);
    }
    sink_.close_sequence(scope);
    reader_.return_to(end);
  }
  return true;
}

template <class Sink>
bool JsonWalk<Sink>::key(const Type& type, bool quoted, Key& key) {
  if (quoted && type.kind == Kind::boolean) {
    std::string_view text;
    if (!reader_.read_name(text)) return false;
    key.bits = text == "true" ? 1 : 0;
    return text == "true" || text == "false" ||
           reader_.fail(codec::Fault::json_wrong_type, "a key is neither true nor false");
  }
  if (is_number(type)) {
    if (!number(type, key.bits)) return false;
    key.bits ^= turned(type);
    return true;
  }
  if (type.kind == Kind::string) return codec::detail::read_json_text(reader_, key.bytes);
  if (type.kind == Kind::uuid) {
    Uuid uuid;
    if (!codec::detail::read_json_uuid(reader_, uuid)) return false;
    key.bytes.assign(reinterpret_cast<const char*>(&uuid), sizeof(uuid));
    return true;
  }
  Bytes bytes;
  if (!codec::detail::read_json_bytes(reader_, bytes)) return false;
  key.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

template <class Sink>
bool JsonWalk<Sink>::set(const Type& type) {
  const Type& of = schema_.type(type.element);
  std::set<Key> keys;
  if (!reader_.open_array()) return false;
  codec::JsonStep step = codec::JsonStep::failed;
  for (std::size_t i = 0; (step = reader_.next_element(i)) == codec::JsonStep::item; ++i) {
    Key each;
    if (!reader_.charge(1, of.memory + codec::kNodeOverhead) || !key(of, false, each))
      return reader_.inside(i);
    if (!keys.insert(std::move(each)).second) {
      reader_.fail(codec::Fault::json_duplicate_key, "an element of a set is there twice");
      return reader_.inside(i);
    }
  }
  if (step != codec::JsonStep::end) return false;
  auto scope = sink_.open_sequence(type, keys.size());
  std::size_t i = 0;
  for (const Key& each : keys) {
    sink_.element(scope, i++);
    tell(of, each);
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool JsonWalk<Sink>::map(const Type& type) {
  const Type& of = schema_.type(type.key);
  const std::size_t memory = of.memory + schema_.type(type.element).memory + codec::kNodeOverhead;
  std::set<Key> keys;
  if (!reader_.open_object()) return false;
  codec::JsonStep step = codec::JsonStep::failed;
  for (std::size_t i = 0; (step = reader_.next_member(i)) == codec::JsonStep::item; ++i) {
    Key each;
    each.index = i;
    if (!reader_.charge(1, memory) || !key(of, true, each)) return reader_.inside(i);
    if (keys.contains(each)) {
      reader_.fail(codec::Fault::json_duplicate_key, "a key of a map is there twice");
      return reader_.inside(i);
    }
    if (!reader_.read_colon()) return reader_.inside(i);
    each.value = reader_.place();
    if (!look(type.element)) return reader_.inside(i);
    keys.insert(std::move(each));
  }
  if (step != codec::JsonStep::end) return false;
  if constexpr (kTells) {
    const Place end = reader_.place();
    auto scope = sink_.open_map(type, keys.size());
    for (const Key& each : keys) {
      sink_.key(scope);
      tell(of, each);
      sink_.mapped(scope);
      reader_.return_to(each.value);
      if (!value(type.element)) return reader_.inside(each.index);
      sink_.end_entry(scope);
    }
    sink_.close_map(scope);
    reader_.return_to(end);
  }
  return true;
}

}  // namespace mf::described
