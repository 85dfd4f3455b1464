#include "mf/core/handler.hpp"

#include <exception>

namespace mf::detail {
namespace {

Failure failed(std::string message) {
  return Failure{.code = Code::handler_failed,
                 .execution = Execution::unknown,
                 .message = std::move(message),
                 .declared = nullptr};
}

void give_up(Answers& answers, std::size_t item) {
  answers.fail(item, shared(failed("the handler gave up the call without answering it")));
}

thread_local Beginning* beginning = nullptr;  // of the handler that starts on this thread

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
      return failed(name(error.code()) + (error.message().empty() ? "" : ": " + error.message()));
    return Failure{.code = error.code(),
                   .execution = Execution::unknown,
                   .message = error.message(),
                   .declared = nullptr};
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
  if (answers_ && !Beginning::takes(answers_, item_)) give_up(*answers_, item_);
}

Beginning::Beginning(const Answers* answers, std::size_t item) noexcept
    : outer_(beginning), answers_(answers), item_(item), exceptions_(std::uncaught_exceptions()) {
  beginning = this;
}

Beginning::~Beginning() {
  beginning = outer_;
  if (left_) give_up(*left_, item_);
}

void Beginning::fail(const SharedFailure& failure) {
  if (const auto answers = std::exchange(left_, nullptr)) answers->fail(item_, failure);
}

bool Beginning::takes(std::shared_ptr<Answers>& answers, std::size_t item) noexcept {
  auto* const now = beginning;
  if (now == nullptr || now->answers_ != answers.get() || now->item_ != item ||
      std::uncaught_exceptions() <= now->exceptions_)
    return false;
  now->left_ = std::move(answers);
  return true;
}

}  // namespace mf::detail
