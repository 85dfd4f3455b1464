// R1. What the schema of a declared type says, for values that take it along: in flexible messages, and in
// files of values.
//
//   mf::SchemaType<Hit>::kFingerprint            needs the generated header <module>.schema.hpp
//   mf::TypeTexts texts = mf::texts_of<Hit>();   its descriptor and annex (docs/protocol.md, 7 and 7a)
//
// Generated code has the lines of each type alone, and how to get at the types in it: the texts of a closure
// are put together when they are first asked for, and then kept.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mf/core/service.hpp"

namespace mf {

/// Of a struct, error, union, enum or flags of a schema: `kName`, the full name, `kFingerprint`, and
/// `text()`. The generated header <module>.schema.hpp specialises it.
template <class T>
struct SchemaType;

template <class T>
concept OfSchema = requires { SchemaType<T>::kFingerprint; };

/// One declared type in its schema.
struct TypeText {
  using Get = const TypeText& (*)();

  std::string_view name;
  std::string_view lines;  // of the descriptor
  std::string_view annex;  // what the annex says under the type's line
  std::span<const Get> holds;
};

/// The descriptor and the annex of a type, with all that it holds.
struct TypeTexts {
  std::string descriptor;
  std::string annex;
};

[[nodiscard]] TypeTexts texts_of(const TypeText& type);

template <OfSchema T>
[[nodiscard]] const TypeTexts& texts_of() {
  static const TypeTexts& texts =
      *new TypeTexts(texts_of(SchemaType<T>::text()));  // threads may outlive statics
  return texts;
}

}  // namespace mf
