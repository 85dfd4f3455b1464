// R1. Values as JSON (docs/json.md): the same text in every runtime, for people, logs, tests and tools.
//
//   std::string text = mf::to_json(hit);
//   mf::Result<Hit> hit = mf::from_json<Hit>(text);
//
// The types of a module have it in <module>.json.hpp, whose .json.cpp is compiled by who uses it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/json_container.hpp"
#include "mf/codec/json_value.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/result.hpp"
#include "mf/codec/tier.hpp"
#include "mf/core/error.hpp"

namespace mf {

/// Throws Error(INVALID_ARGUMENT) for what readers refuse: a string that is not UTF-8, a closed enum with an
/// unknown number, what is nested too deep, a reference that is null and must not be.
template <class T>
[[nodiscard]] std::string to_json(const T& value) {
  codec::JsonWriter writer;
  codec::Json<T>::write(writer, value);
  if (!writer.error().empty()) {
    throw Error(Code::invalid_argument, Execution::not_executed, std::string(writer.error()));
  }
  return std::move(writer).text();
}

/// One value and nothing behind it, into a new one.
template <class T>
[[nodiscard]] Result<T> from_json(std::string_view text, const codec::Limits& limits = {}) {
  codec::JsonReader reader(text, limits);
  Result<T> result{std::in_place};
  if (reader.begin() && codec::Json<T>::read(reader, *result) && reader.finish()) {
    return result;
  }
  if constexpr (!codec::kShortName<T>.empty()) {
    reader.inside(codec::kShortName<T>);
  }
  result.refuse(reader.error());
  return result;
}

}  // namespace mf
