// Values of the vectors' schema from their JSON (tests/vectors/codec/README.md).
#pragma once

#include <array>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/boxed.hpp"
#include "vectors/shapes.hpp"

namespace vectors::shapes {

namespace json = boost::json;

template <class T>
  requires std::is_arithmetic_v<T>
void from_json(const json::value& from, T& to) {
  if constexpr (std::is_same_v<T, bool>) {
    to = from.as_bool();
  } else {
    to = from.to_number<T>();
  }
}

template <class T>
  requires std::is_enum_v<T>
void from_json(const json::value& from, T& to) {
  to = static_cast<T>(from.to_number<std::underlying_type_t<T>>());
}

inline void from_json(const json::value& from, mf::Boolean& to) {
  to = from.as_bool();
}
inline void from_json(const json::value& from, std::string& to) {
  to = std::string(from.as_string());
}
inline void from_json(const json::value& from, mf::Bytes& to) {
  to = mf::codec::from_hex(from.as_string());
}
inline void from_json(const json::value& from, mf::Duration& to) {
  to = mf::Duration(from.to_number<std::int64_t>());
}
inline void from_json(const json::value& from, mf::Timestamp& to) {
  to = mf::Timestamp(mf::Duration(from.to_number<std::int64_t>()));
}
inline void from_json(const json::value& from, mf::Uuid& to) {
  const auto bytes = mf::codec::from_hex(from.as_string());
  for (std::size_t i = 0; i < 16; ++i) to.bytes.at(i) = std::to_integer<std::uint8_t>(bytes.at(i));
}

template <class Struct>
  requires requires(const json::object& from, Struct& to) { fill(from, to); }
void from_json(const json::value& from, Struct& to) {
  fill(from.as_object(), to);
}

template <class T>
T made_from(const json::value& from);

template <class Optional>
  requires requires(Optional& to) {
    to.emplace();
    to.reset();
  }
void from_json(const json::value& from, Optional& to) {
  if (!from.is_null()) from_json(from, to.emplace());
}

template <class T>
void from_json(const json::value& from, std::vector<T>& to) {
  for (const json::value& each : from.as_array()) to.push_back(made_from<T>(each));
}

template <class T, std::size_t N>
void from_json(const json::value& from, std::array<T, N>& to) {
  for (std::size_t i = 0; i < N; ++i) from_json(from.as_array().at(i), to.at(i));
}

template <class T>
void from_json(const json::value& from, std::set<T>& to) {
  for (const json::value& each : from.as_array()) to.insert(made_from<T>(each));
}

template <class K, class V>
void from_json(const json::value& from, std::map<K, V>& to) {
  for (const json::value& each : from.as_array()) {
    to.emplace(made_from<K>(each.as_array().at(0)), made_from<V>(each.as_array().at(1)));
  }
}

template <class T>
T made_from(const json::value& from) {
  T value{};
  from_json(from, value);
  return value;
}

/// fields(from, "a", to.a, "b", to.b): all of the object, each by its name.
inline void fields(const json::object& /*from*/) {}
template <class T, class... Rest>
void fields(const json::object& from, std::string_view name, T& to, Rest&&... rest) {
  from_json(from.at(name), to);
  fields(from, std::forward<Rest>(rest)...);
}

inline void fill(const json::object& /*from*/, Nothing& /*to*/) {}
inline void fill(const json::object& /*from*/, Empty& /*to*/) {}
inline void fill(const json::object& /*from*/, IndexNothingRequest& /*to*/) {}
inline void fill(const json::object& from, Integers& to) {
  fields(from, "a", to.a, "b", to.b, "c", to.c, "d", to.d, "e", to.e, "f", to.f, "g", to.g, "h", to.h, "i",
         to.i);
}
inline void fill(const json::object& from, Scalars& to) {
  fields(from, "a", to.a, "b", to.b, "c", to.c, "d", to.d, "e", to.e, "f", to.f, "g", to.g, "h", to.h, "i",
         to.i, "j", to.j, "k", to.k, "l", to.l, "m", to.m);
}
inline void fill(const json::object& from, Posting& to) {
  fields(from, "doc", to.doc, "tf", to.tf, "rank", to.rank);
}
inline void fill(const json::object& from, Nested& to) {
  fields(from, "first", to.first, "corners", to.corners, "postings", to.postings, "flags", to.flags);
}
inline void fill(const json::object& from, Texts& to) {
  fields(from, "text", to.text, "raw", to.raw, "name", to.name, "number", to.number, "at", to.at, "ttl",
         to.ttl, "key", to.key);
}
inline void fill(const json::object& from, Hit& to) {
  fields(from, "doc", to.doc, "score", to.score, "title", to.title, "positions", to.positions);
}
inline void fill(const json::object& from, Lists& to) {
  fields(from, "flags", to.flags, "small", to.small_, "numbers", to.numbers, "features", to.features,
         "postings", to.postings, "hits", to.hits, "nested", to.nested, "maybe", to.maybe, "ranks", to.ranks,
         "langs", to.langs, "fixed", to.fixed, "keys", to.keys);
}
inline void fill(const json::object& from, Maps& to) {
  fields(from, "counts", to.counts, "names", to.names, "by_rank", to.by_rank, "by_flag", to.by_flag, "words",
         to.words, "signs", to.signs, "keys", to.keys, "ids", to.ids);
}
inline void fill(const json::object& from, Tree& to) {
  fields(from, "value", to.value, "children", to.children, "named", to.named, "next", to.next);
}
inline void fill(const json::object& from, Defaults& to) {
  fields(from, "limit", to.limit, "rank", to.rank, "title", to.title, "ratio", to.ratio, "wait", to.wait,
         "hit", to.hit, "open", to.open);
  to.stop_words = made_from<std::vector<std::string>>(from.at("stop_words"));
}
inline void fill(const json::object& from, NoSuchCollection& to) {
  fields(from, "name", to.name);
}
inline void fill(const json::object& from, Duplicate& to) {
  fields(from, "doc", to.doc, "rank", to.rank);
}
inline void fill(const json::object& from, IndexOneRequest& to) {
  fields(from, "value", to.value);
}
inline void fill(const json::object& from, IndexTouchRequest& to) {
  fields(from, "doc", to.doc);
}
inline void fill(const json::object& from, IndexQueryRequest& to) {
  fields(from, "terms", to.terms, "limit", to.limit);
}
inline void fill(const json::object& from, IndexStatsResult& to) {
  fields(from, "documents", to.documents, "terms", to.terms);
}
inline void fill(const json::object& from, IndexNamedResult& to) {
  fields(from, "hit", to.hit);
}

}  // namespace vectors::shapes
