// R1. What the schema of a declared type says, for values that take it along: in flexible messages, and in
// files of values.
//
//   mf::SchemaType<Hit>::kFingerprint            needs the generated header <module>.hpp
//   mf::TypeTexts texts = mf::texts_of<Hit>();   its descriptor and annex (docs/protocol.md, 7 and 7a)
//
// Generated code has one text for all types of a module. The texts of one type or service and all that it
// holds are put together when they are first asked for, and then kept. mf/codec/spelled_type.hpp has the same
// of containers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/core/service_texts.hpp"

namespace mf {

/// A type of tier custom.
struct CustomType {
  std::string_view name;  // the full name
  std::string (*refusal)(
      std::span<const std::byte> from);  // why its codec refuses bytes; empty: it takes them
};

/// What a module says of the types that it declares.
struct ModuleTexts {
  std::string_view types;  // the lines that descriptors have of them, but fields in the order of the schema
  std::string_view annex;  // the lines that annexes have of them
  std::span<const CustomType> customs;
  std::span<const ModuleTexts* const> imports;  // of the types that they hold
};

/// Of a struct, error, union, enum or flags of a schema: `kName`, the full name, `kFingerprint`, and
/// `kModule`, the texts of its module. The generated header <module>.hpp specialises it.
template <class T>
struct SchemaType;

template <class T>
concept OfSchema = requires { SchemaType<T>::kFingerprint; };

/// The descriptor and the annex of a type, with all that it holds.
[[nodiscard]] TypeTexts texts_of(std::string_view type, const ModuleTexts& module);

/// The same of a service or topic, of which these are the lines of its own.
[[nodiscard]] TypeTexts texts_of(std::string_view descriptor, std::string_view annex,
                                 const ModuleTexts& module);

/// A type or an expression of types, `list<sf1.Hit>`, and the modules of the types in it.
struct SpelledType {
  std::string text;
  std::vector<const ModuleTexts*> modules;
};

/// What a program has of its own types, beyond the description that it sends to others.
struct OwnTexts {
  TypeTexts texts;
  std::string types;  // the lines of the descriptor, fields in the order of their schemas
  std::vector<CustomType> customs;
};
[[nodiscard]] OwnTexts own_texts_of(const SpelledType& type);

template <OfSchema T>
[[nodiscard]] const TypeTexts& texts_of() {
  static const TypeTexts& texts =  // threads may outlive statics
      *new TypeTexts(texts_of(SchemaType<T>::kName, SchemaType<T>::kModule));
  return texts;
}

/// For the ServiceInfo of a service or topic.
template <const std::string_view& kDescriptor, const std::string_view& kAnnex, const ModuleTexts& kModule>
[[nodiscard]] const TypeTexts& texts_of_service() {
  static const TypeTexts& texts =  // threads may outlive statics
      *new TypeTexts(texts_of(kDescriptor, kAnnex, kModule));
  return texts;
}

}  // namespace mf
