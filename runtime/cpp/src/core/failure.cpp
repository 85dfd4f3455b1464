#include "mf/core/failure.hpp"

#include <utility>

namespace mf {

Failure not_executed(Code code, std::string message) {
  return make_failure(code, Execution::not_executed, std::move(message));
}

Failure may_have_run(Code code, std::string message) {
  return make_failure(code, Execution::unknown, std::move(message));
}

Failure make_failure(Code code, Execution execution, std::string message) {
  return {.code = code, .execution = execution, .message = std::move(message), .declared = nullptr};
}

Failure cancelled_by_caller(Execution execution) {
  return make_failure(Code::cancelled, execution, "cancelled by the caller");
}

Failure out_of_memory() noexcept {
  Failure failure;
  failure.message = "out of memory";  // short enough for the string's own place
  return failure;
}

Error error_of(const Failure& failure) {
  return {failure.code, failure.execution, failure.message};
}

Failure failure_of(const Error& error) {
  return make_failure(error.code(), error.execution(), error.message());
}

Error not_executed_error(Code code, std::string message) {
  return {code, Execution::not_executed, std::move(message)};
}

}  // namespace mf
