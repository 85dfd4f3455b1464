#include "mf/core/handler.hpp"

#include <typeinfo>

namespace mf::detail {
namespace {

Failure failed(std::string message) {
  return Failure{.code = Code::handler_failed,
                 .execution = Execution::unknown,
                 .message = std::move(message),
                 .declared = nullptr};
}

bool meant_for_the_caller(Code code) noexcept {
  return code == Code::invalid_argument || code == Code::unauthenticated || code == Code::permission_denied ||
         code == Code::overloaded;
}

}  // namespace

Failure handler_failure() {
  try {
    throw;
  } catch (const DeclaredError& error) {
    return Failure::of(error);
  } catch (const Error& error) {
    if (!meant_for_the_caller(error.code()))
      return failed(std::string(name(error.code())) + ": " + error.what());
    return Failure{
        .code = error.code(), .execution = Execution::unknown, .message = error.what(), .declared = nullptr};
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("the handler threw something that is no std::exception");
  }
}

Failure undeclared(const Failure& failure) {
  return failed(std::string("the handler raised ") + failure.declared->what() +
                ", which the method does not declare");
}

void Duty::answer(void* outcome) {
  if (const auto answers = std::exchange(answers_, nullptr)) answers->answer(item_, outcome);
}

Duty::~Duty() {
  if (answers_) answers_->fail(item_, shared(failed("the handler gave up the call without answering it")));
}

}  // namespace mf::detail
