// convert(from, to): between plain values and types with fields of the same names, those of our tier archive
// and of FlatBuffers' object API. `to` must be new. It is never part of a measurement.
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fields.hpp"

namespace bench_codecs {

template <class T>
inline constexpr bool kMap = false;
template <class K, class V>
inline constexpr bool kMap<std::map<K, V>> = true;

template <class T>
inline constexpr bool kPointer = false;
template <class T>
inline constexpr bool kPointer<std::unique_ptr<T>> = true;

/// Any optional; pointers have no has_value().
template <class T>
concept Optional = requires(const T& value) {
  value.has_value();
  *value;
};

/// A struct of FlatBuffers: it has accessor functions instead of fields, and one constructor.
template <class T>
concept PodOfFunctions = requires(const T& value) {
  value.a();
  value.d();
};
template <class T>
concept EntryOfFunctions = requires(const T& value) {
  value.key();
  value.value();
};

template <class A, class B>
void convert(const A& from, B& to);

template <class A, class B>
void convert_optional(const A& from, B& to) {
  if constexpr (std::same_as<A, std::string>) {  // FlatBuffers: an absent text is an empty one
    if (!from.empty()) to = from;
  } else if constexpr (std::same_as<B, std::string>) {
    if (from.has_value()) to = *from;
  } else if constexpr (kPointer<B>) {
    if (!from.has_value()) return;
    to = std::make_unique<typename B::element_type>();
    convert(*from, *to);
  } else {
    if (!from) return;
    std::remove_cvref_t<decltype(*to)> made{};
    convert(*from, made);
    to = std::move(made);
  }
}

template <class A, class B>
void convert_pointer(const A& from, B& to) {
  if constexpr (kPointer<A>) {
    if (from) convert(*from, to);
  } else {
    to = std::make_unique<typename B::element_type>();
    convert(from, *to);
  }
}

/// Converts between a pair of a map and the list entry that represents it.
template <class Pair, class B>
void convert_entry(const Pair& from, B& to) {
  if constexpr (kPointer<B>) {
    to = std::make_unique<typename B::element_type>();
    convert_entry(from, *to);
  } else if constexpr (EntryOfFunctions<B>) {
    to = B(from.first, from.second);
  } else {
    convert(from.first, to.key);
    convert(from.second, to.value);
  }
}

template <class A, class Pair>
void convert_back(const A& from, Pair& to) {
  if constexpr (kPointer<A>) {
    convert_back(*from, to);
  } else if constexpr (EntryOfFunctions<A>) {
    to = {from.key(), from.value()};
  } else {
    convert(from.key, to.first);
    convert(from.value, to.second);
  }
}

template <class A, class B>
void convert_map(const A& from, B& to) {
  for (const auto& entry : from) {
    if constexpr (kMap<B>) {
      std::pair<typename B::key_type, typename B::mapped_type> made{};
      if constexpr (kMap<A>) {
        convert(entry.first, made.first);
        convert(entry.second, made.second);
      } else {
        convert_back(entry, made);
      }
      to.insert(std::move(made));
    } else {
      convert_entry(entry, to.emplace_back());
    }
  }
}

template <class A, class B>
void convert(const A& from, B& to) {
  const auto field = [](const auto& a, auto& b) { convert(a, b); };
  if constexpr (std::is_arithmetic_v<A> || std::is_enum_v<A>) {
    to = static_cast<B>(from);
  } else if constexpr (Optional<A> || Optional<B>) {
    convert_optional(from, to);
  } else if constexpr (kPointer<A> || kPointer<B>) {
    convert_pointer(from, to);
  } else if constexpr (std::same_as<A, std::string>) {
    to = from;
  } else if constexpr (kMap<A> || kMap<B>) {
    convert_map(from, to);
  } else if constexpr (PodOfFunctions<A>) {
    to = B{from.a(), from.b(), from.c(), from.d()};
  } else if constexpr (PodOfFunctions<B>) {
    to = B(from.a, from.b, from.c, from.d);
  } else if constexpr (payload::Described<A>) {
    each_pair(std::type_identity<A>(), from, to, field);
  } else if constexpr (payload::Described<B>) {
    each_pair(std::type_identity<B>(), from, to, field);
  } else {
    if constexpr (requires { to.resize(from.size()); }) to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) convert(from[i], to[i]);
  }
}

}  // namespace bench_codecs
