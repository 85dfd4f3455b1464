#pragma once

#include <string>
#include <utility>

#include "mf/tokens/token.hpp"

namespace mf::tokens {

[[nodiscard]] inline TokenVerdict refused(TokenFault fault, std::string message) {
  return {.claims = {}, .fault = fault, .message = std::move(message)};
}

}  // namespace mf::tokens
