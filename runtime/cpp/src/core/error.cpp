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

/// "{name: \"books\"}" of the printed error; nothing if it has no fields.
std::string fields_of(const std::string& printed) {
  const auto fields = printed.find('{');
  if (fields == std::string::npos || printed.compare(fields, std::string::npos, "{}") == 0) return {};
  return printed.substr(fields);
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

DeclaredError::~DeclaredError() {
  delete what_.load(std::memory_order_acquire);
}

DeclaredError& DeclaredError::operator=(const DeclaredError&) noexcept {
  delete what_.exchange(nullptr, std::memory_order_acq_rel);
  return *this;
}

DeclaredError& DeclaredError::operator=(DeclaredError&&) noexcept {
  delete what_.exchange(nullptr, std::memory_order_acq_rel);
  return *this;
}

const char* DeclaredError::what() const noexcept {
  const auto* said = what_.load(std::memory_order_acquire);
  if (said != nullptr) return said->c_str();
  try {
    auto made = std::make_unique<const std::string>(type_name() + fields_of(printed()));
    if (what_.compare_exchange_strong(said, made.get(), std::memory_order_acq_rel)) said = made.release();
    return said->c_str();
  } catch (...) {  // there is no memory for it
    return type_name();
  }
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
