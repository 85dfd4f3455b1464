// R1. Json<T>: the JSON of one type (docs/json.md), of scalars, enums, flags and optionals.
//
//   write(writer, value)
//   read(reader, value)     into a new value; false: reader.error() says what, where, and the path
// Generated code (<module>.json.hpp) specialises it for structs and unions, and JsonNames for enums and
// flags.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "mf/codec/boxed.hpp"
#include "mf/codec/enums.hpp"
#include "mf/codec/json_names.hpp"
#include "mf/codec/json_reader.hpp"
#include "mf/codec/json_text.hpp"
#include "mf/codec/json_writer.hpp"
#include "mf/core/fresh.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

template <class T>
struct Json;

/// Of an enum or flags: `kFlags`, and `all()`, its members by name.
template <class E>
struct JsonNames;

template <class T>
[[nodiscard]] bool read_json(JsonReader& reader, T& value) {
  return Json<T>::read(reader, value);
}

/// Of a field whose default may have made another value than a new one.
template <class T>
[[nodiscard]] bool read_json_anew(JsonReader& reader, T& value) {
  value = fresh<T>();
  return Json<T>::read(reader, value);
}

// --- scalars

template <>
struct Json<bool> {
  static void write(JsonWriter& writer, bool value) { writer.boolean(value); }
  [[nodiscard]] static bool read(JsonReader& reader, bool& value) { return reader.read_bool(value); }
};

template <>
struct Json<Boolean> {
  static void write(JsonWriter& writer, Boolean value) { writer.boolean(value); }
  [[nodiscard]] static bool read(JsonReader& reader, Boolean& value) { return reader.read_bool(value.value); }
};

template <std::integral T>
struct Json<T> {
  static constexpr JsonBase kBase{std::is_signed_v<T>, 8 * sizeof(T)};
  static void write(JsonWriter& writer, T value) {
    write_json_integer(writer, kBase, static_cast<std::uint64_t>(value));
  }
  [[nodiscard]] static bool read(JsonReader& reader, T& value) {
    std::uint64_t number = 0;
    const bool good = read_json_integer(reader, kBase, number);
    value = static_cast<T>(number);
    return good;
  }
};

namespace detail {

[[nodiscard]] bool read_json_float(JsonReader& reader, float& value);
[[nodiscard]] bool read_json_float(JsonReader& reader, double& value);
[[nodiscard]] bool read_json_time(JsonReader& reader, Timestamp& value);
[[nodiscard]] bool read_json_time(JsonReader& reader, Duration& value);
[[nodiscard]] bool read_json_uuid(JsonReader& reader, Uuid& value);
[[nodiscard]] bool read_json_text(JsonReader& reader, std::string& value);
[[nodiscard]] bool read_json_bytes(JsonReader& reader, Bytes& value);

}  // namespace detail

template <std::floating_point T>
struct Json<T> {
  static void write(JsonWriter& writer, T value) { writer.floating(value); }
  [[nodiscard]] static bool read(JsonReader& reader, T& value) {
    return detail::read_json_float(reader, value);
  }
};

template <class T>
  requires(std::same_as<T, Timestamp> || std::same_as<T, Duration>)
struct Json<T> {
  static void write(JsonWriter& writer, T value) { writer.quoted_number(value); }
  [[nodiscard]] static bool read(JsonReader& reader, T& value) {
    return detail::read_json_time(reader, value);
  }
};

template <>
struct Json<Uuid> {
  static void write(JsonWriter& writer, const Uuid& value) { writer.quoted_number(value); }
  [[nodiscard]] static bool read(JsonReader& reader, Uuid& value) {
    return detail::read_json_uuid(reader, value);
  }
};

template <>
struct Json<std::string> {
  static void write(JsonWriter& writer, const std::string& value) { writer.string(value); }
  [[nodiscard]] static bool read(JsonReader& reader, std::string& value) {
    return detail::read_json_text(reader, value);
  }
};

template <>
struct Json<Bytes> {
  static void write(JsonWriter& writer, const Bytes& value) { writer.base64(value); }
  [[nodiscard]] static bool read(JsonReader& reader, Bytes& value) {
    return detail::read_json_bytes(reader, value);
  }
};

template <DeclaredEnum E>
struct Json<E> {
  using Base = std::underlying_type_t<E>;
  static constexpr JsonBase kBase = Json<Base>::kBase;
  static void write(JsonWriter& writer, E value) {
    const auto number = static_cast<std::uint64_t>(static_cast<Base>(value));
    if constexpr (JsonNames<E>::kFlags) {
      write_json_flags(writer, JsonNames<E>::all(), kBase, number);
    } else {
      if (!EnumTraits<E>::valid(value)) {
        writer.fail("an enum has a value that its type does not know");
      }
      write_json_enum(writer, JsonNames<E>::all(), kBase, number);
    }
  }
  [[nodiscard]] static bool read(JsonReader& reader, E& value) {
    std::uint64_t number = 0;
    bool good = false;
    if constexpr (JsonNames<E>::kFlags) {
      good = read_json_flags(reader, JsonNames<E>::all(), kBase, number);
    } else {
      good = read_json_enum(reader, JsonNames<E>::all(), kBase, EnumTraits<E>::kOpen, number);
    }
    if (good) {
      value = static_cast<E>(static_cast<Base>(number));
    }
    return good;
  }
};

// --- optionals and fields

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsOptional<Boxed<T>> = true;

template <class T, class Optional, bool kOnHeap>
struct JsonOptional {
  static void write(JsonWriter& writer, const Optional& value) {
    value ? Json<T>::write(writer, *value) : writer.null();
  }
  [[nodiscard]] static bool read(JsonReader& reader, Optional& value) {
    value.reset();
    if (reader.kind() == JsonKind::null) {
      return reader.read_null();
    }
    constexpr std::size_t kMade = (kOnHeap ? sizeof(T) : 0) + kHeapOfNew<T>;
    return (kMade == 0 || reader.charge(1, kMade)) && Json<T>::read(reader, value.emplace());
  }
};

}  // namespace detail

template <class T>
struct Json<std::optional<T>> : detail::JsonOptional<T, std::optional<T>, false> {};

template <class T>
struct Json<Boxed<T>> : detail::JsonOptional<T, Boxed<T>, true> {};

/// A field of a struct, or the alternative of a union. What is absent is left out.
template <class T>
void write_json_member(JsonWriter& writer, std::string_view name, const T& value) {
  if constexpr (detail::kIsOptional<T>) {
    if (!value) {
      return;
    }
  }
  writer.member(name);
  Json<T>::write(writer, value);
}

/// An optional field with a default, which would stand for an absent one that is left out.
template <class T>
void write_json_member_or_null(JsonWriter& writer, std::string_view name, const T& value) {
  writer.member(name);
  Json<T>::write(writer, value);
}

}  // namespace mf::codec
