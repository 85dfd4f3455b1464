// R1. What the schema of a declared type says, for values that take it along: in flexible messages, and in
// files of values.
//
//   mf::SchemaType<Hit>::kFingerprint            needs the generated header <module>.hpp
//   mf::TypeTexts texts = mf::texts_of<Hit>();   its descriptor and annex (docs/protocol.md, 7 and 7a)
//
// Generated code has one text for all types of a module. The texts of one type and all that it holds are put
// together when they are first asked for, and then kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mf/core/service.hpp"

namespace mf {

/// What a module says of the types that it declares.
struct ModuleTexts {
  std::string_view types;                       // the lines that descriptors have of them
  std::string_view annex;                       // the lines that annexes have of them
  std::span<const ModuleTexts* const> imports;  // of the types that they hold
};

/// Of a struct, error, union, enum or flags of a schema: `kName`, the full name, `kFingerprint`, and
/// `kModule`, the texts of its module. The generated header <module>.hpp specialises it.
template <class T>
struct SchemaType;

template <class T>
concept OfSchema = requires { SchemaType<T>::kFingerprint; };

/// A fingerprint as compilers and tools print it: 32 hexadecimal digits.
[[nodiscard]] consteval Fingerprint fingerprint_of_hex(std::string_view digits) {
  const auto value = [](char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  Fingerprint fingerprint{};
  for (std::size_t i = 0; i < fingerprint.size(); ++i)
    fingerprint[i] = static_cast<std::uint8_t>(value(digits[2 * i]) << 4U | value(digits[2 * i + 1]));
  return fingerprint;
}

/// The descriptor and the annex of a type, with all that it holds.
struct TypeTexts {
  std::string descriptor;
  std::string annex;
};

[[nodiscard]] TypeTexts texts_of(std::string_view type, const ModuleTexts& module);

template <OfSchema T>
[[nodiscard]] const TypeTexts& texts_of() {
  static const TypeTexts& texts =  // threads may outlive statics
      *new TypeTexts(texts_of(SchemaType<T>::kName, SchemaType<T>::kModule));
  return texts;
}

}  // namespace mf
