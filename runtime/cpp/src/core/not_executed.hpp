// The failure of a call that certainly did not run, as a value and as an exception.
#pragma once

#include <string>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/outcome.hpp"

namespace mf {

[[nodiscard]] inline Failure not_executed(Code code, std::string message) {
  return {
      .code = code, .execution = Execution::not_executed, .message = std::move(message), .declared = nullptr};
}

[[nodiscard]] inline Error not_executed_error(Code code, std::string message) {
  return {code, Execution::not_executed, std::move(message)};
}

}  // namespace mf
