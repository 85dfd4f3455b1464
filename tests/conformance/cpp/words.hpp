// A line of standard input, and the JSON of the line that answers it. programs/words.py is the same in
// Python.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/options.hpp"
#include "mf/core/outcome.hpp"

namespace conformance_test {

/// "verb agent argument… key=value…": `deadline` and `idle` are milliseconds, other keys are metadata.
struct Words {
  explicit Words(const std::string& line);

  [[nodiscard]] std::int64_t number(std::size_t at) const { return std::stoll(arguments.at(at)); }

  std::string verb;
  std::string agent;
  std::vector<std::string> arguments;
  mf::CallOptions options;
};

/// "a*3" is "aaa"; every other word is itself.
[[nodiscard]] std::string expanded(const std::string& word);
/// Long texts by their beginning and their length.
[[nodiscard]] std::string shortened(const std::string& text);

using Json = std::string;
[[nodiscard]] Json text(std::string_view value);
[[nodiscard]] Json object(std::initializer_list<std::pair<std::string_view, Json>> members);
[[nodiscard]] Json array(const std::vector<Json>& items);
[[nodiscard]] Json texts(const std::vector<std::string>& items);
[[nodiscard]] Json failed(const mf::Failure& failure);

inline Json json(std::uint64_t value) {
  return std::to_string(value);
}
inline Json json(std::int64_t value) {
  return std::to_string(value);
}
inline Json json(std::uint32_t value) {
  return std::to_string(value);
}
inline Json json(const std::vector<std::string>& value) {
  return texts(value);
}

/// {"value": …}, or how it failed.
template <class T>
Json outcome(const mf::Outcome<T>& ended) {
  if (!ended.ok()) return failed(ended.failure());
  if constexpr (std::is_void_v<T>) {
    return object({{"value", "null"}});
  } else {
    return object({{"value", json(ended.value())}});
  }
}

/// How a call of a function ended.
template <class Call>
auto ended(Call&& call) -> mf::Outcome<std::invoke_result_t<Call&>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (...) {
    return mf::Failure::from_current_exception();
  }
}

}  // namespace conformance_test
