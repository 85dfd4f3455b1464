// One JSON line a check: {"name", "mode", "ok", "detail"}; and how an outcome differs from what was expected.
#pragma once

#include <string>
#include <string_view>

#include "mf/core/function_ref.hpp"
#include "mf/core/outcome.hpp"
#include "say.hpp"

namespace interop_test {

/// An empty problem: all is well.
void record(const std::string& name, std::string_view mode, const std::string& problem);
/// Runs a check, which gives its problem; whatever it throws is one.
void check(const std::string& name, std::string_view mode, mf::FunctionRef<std::string()> body);

std::string shown(const mf::Failure& failure);
/// In words; messages may say more than expected, and servers keep the texts of exceptions to themselves.
/// `expected` and `got` are failures.
std::string differ(const mf::Failure& expected, const mf::Failure& got);

template <class T>
std::string differ(const mf::Outcome<T>& expected, const mf::Outcome<T>& got) {
  if (!expected.ok() && !got.ok()) return differ(expected.failure(), got.failure());
  if (!got.ok()) return "expected a value, got " + shown(got.failure());
  if (!expected.ok()) return "expected " + shown(expected.failure()) + ", got a value";
  if constexpr (!std::is_void_v<T>) {
    if (!(expected.value() == got.value())) return "another value than expected";
  }
  return {};
}

template <class T>
std::string differ_all(const mf::Outcomes<T>& expected, const mf::Outcomes<T>& got) {
  if (expected.size() != got.size()) {
    return "expected " + std::to_string(expected.size()) + " outcomes, got " + std::to_string(got.size());
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (auto problem = differ(expected[i], got[i]); !problem.empty()) {
      return "item " + std::to_string(i) + ": " + problem;
    }
  }
  return {};
}

}  // namespace interop_test
