#include "mf/core/error.hpp"

#include <array>
#include <cstring>

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

std::string in_words(Code code, Execution execution, std::string_view message) {
  std::string text = name(code);
  if (!message.empty()) text.append(": ").append(message);
  if (execution == Execution::not_executed) text += " (not executed)";
  if (execution == Execution::unknown) text += " (may have run)";
  return text;  // of files, where there was no call: nothing more
}

}  // namespace

Error::Error(Code code, Execution execution, std::string_view message)
    : std::runtime_error(in_words(code, execution, message)),
      code_(code),
      execution_(execution),
      message_size_(message.size()) {}

std::string Error::message() const {
  return message_size_ == 0 ? std::string()
                            : std::string(what() + std::strlen(name(code_)) + 2, message_size_);
}

const char* name(Code code) noexcept {
  const auto number = static_cast<std::size_t>(code);
  return number < kNames.size() ? kNames[number] : "UNKNOWN_CODE";
}

const char* name(Execution execution) noexcept {
  if (execution == Execution::not_executed) return "NOT_EXECUTED";
  return execution == Execution::unknown ? "UNKNOWN" : "NO_CALL";
}

}  // namespace mf
