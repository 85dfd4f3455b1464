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
  Failure failure;
  failure.code = code;
  failure.execution = execution;
  failure.message = std::move(message);
  return failure;
}

Failure in_context(std::string_view context, Failure failure) {
  failure.message.replace(0, failure.context_size, context);
  failure.context_size = static_cast<std::uint32_t>(context.size());
  return failure;
}

Failure preceded_by(std::string_view words, Failure failure) {
  failure.message.insert(failure.context_size, words);
  return failure;
}

Failure unexpected_failure(std::string message) {
  auto failure = may_have_run(Code::handler_failed, std::move(message));
  failure.unexpected = true;
  return failure;
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
