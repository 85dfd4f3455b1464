#include "mf/core/error.hpp"

#include <array>

namespace mf {
namespace {

constexpr std::array<const char*, kLastCode + 1> kNames{
    "OK",
    "DECLARED",
    "INVALID_ARGUMENT",
    "UNKNOWN_SERVICE",
    "UNKNOWN_AGENT",
    "UNKNOWN_METHOD",
    "SCHEMA_MISMATCH",
    "HANDLER_FAILED",
    "DEADLINE_EXCEEDED",
    "CANCELLED",
    "OVERLOADED",
    "UNAVAILABLE",
    "CONNECTION_LOST",
    "MESSAGE_TOO_LARGE",
    "DECODE_ERROR",
    "PROTOCOL_ERROR",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "SHUTTING_DOWN",
    "INTERNAL",
};

}  // namespace

const char* name(Code code) noexcept {
  const auto number = static_cast<std::size_t>(code);
  return number < kNames.size() ? kNames[number] : "UNKNOWN_CODE";
}

const char* name(Execution execution) noexcept {
  return execution == Execution::not_executed ? "NOT_EXECUTED" : "UNKNOWN";
}

}  // namespace mf
