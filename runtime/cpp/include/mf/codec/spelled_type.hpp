// R1. What a C++ type is in schemas: spelled<std::vector<Hit>>() is `list<sf1.search.Hit>`, and the module of
// Hit.
//
// A struct, error, union, enum or flags needs its generated header <module>.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mf/codec/boxed.hpp"
#include "mf/codec/graph.hpp"
#include "mf/codec/schema_type.hpp"
#include "mf/core/types.hpp"
#include "mf/core/view.hpp"

namespace mf {

namespace codec {

/// add(type) appends what T is.
template <class T>
struct Spelling;

template <OfSchema T>
struct Spelling<T> {
  static void add(SpelledType& type) {
    type.text += SchemaType<T>::kName;
    type.modules.push_back(&SchemaType<T>::kModule);
  }
};

template <class T>
  requires std::is_arithmetic_v<T>
struct Spelling<T> {
  static void add(SpelledType& type) {
    if constexpr (std::same_as<T, bool>) {
      type.text += "bool";
    } else {
      type.text += std::floating_point<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
      type.text += std::to_string(8 * sizeof(T));
    }
  }
};

template <class T>
inline constexpr std::string_view kSpelledAs{};
template <>
inline constexpr std::string_view kSpelledAs<Boolean> = "bool";
template <>
inline constexpr std::string_view kSpelledAs<Timestamp> = "timestamp";
template <>
inline constexpr std::string_view kSpelledAs<Duration> = "duration";
template <>
inline constexpr std::string_view kSpelledAs<Uuid> = "uuid";
template <>
inline constexpr std::string_view kSpelledAs<std::string> = "string";
template <>
inline constexpr std::string_view kSpelledAs<Bytes> = "bytes";

template <class T>
  requires(!kSpelledAs<T>.empty())
struct Spelling<T> {
  static void add(SpelledType& type) { type.text += kSpelledAs<T>; }
};

template <class... Ts>
void add_spelled(SpelledType& type, std::string_view container) {
  type.text += container;
  const char* before = "<";
  ((type.text += before, Spelling<Ts>::add(type), before = ","), ...);
}

template <class T>
struct Spelling<std::vector<T>> {
  static void add(SpelledType& type) {
    add_spelled<T>(type, "list");
    type.text += '>';
  }
};
template <class T>
struct Spelling<View<T>> : Spelling<std::vector<T>> {};

template <class T, std::size_t N>
struct Spelling<std::array<T, N>> {
  static void add(SpelledType& type) {
    add_spelled<T>(type, "array");
    type.text += "," + std::to_string(N) + ">";
  }
};

template <class T>
struct Spelling<std::set<T>> {
  static void add(SpelledType& type) {
    add_spelled<T>(type, "set");
    type.text += '>';
  }
};

template <class K, class V>
struct Spelling<std::map<K, V>> {
  static void add(SpelledType& type) {
    add_spelled<K, V>(type, "map");
    type.text += '>';
  }
};

template <class T>
struct Spelling<std::optional<T>> {
  static void add(SpelledType& type) {
    Spelling<T>::add(type);
    type.text += '?';
  }
};
template <class T>
struct Spelling<Boxed<T>> : Spelling<std::optional<T>> {};

template <class T>
struct Spelling<Graph<T>> : Spelling<T> {};

}  // namespace codec

template <class T>
[[nodiscard]] SpelledType spelled() {
  SpelledType type;
  codec::Spelling<T>::add(type);
  return type;
}

}  // namespace mf
