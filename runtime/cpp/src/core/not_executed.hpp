// The failure of a call that certainly did not run.
#pragma once

#include <string>
#include <utility>

#include "mf/core/outcome.hpp"

namespace mf {

[[nodiscard]] inline Failure not_executed(Code code, std::string message) {
  return {
      .code = code, .execution = Execution::not_executed, .message = std::move(message), .declared = nullptr};
}

}  // namespace mf
