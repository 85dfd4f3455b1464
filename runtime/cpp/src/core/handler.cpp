#include "mf/core/handler.hpp"

#include <exception>

#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"

namespace mf::detail {
namespace {

void give_up(Answers& answers, std::size_t item) {
  answers.fail(
      item, shared(may_have_run(Code::handler_failed, "the handler gave up the call without answering it")));
}

thread_local Beginning* beginning = nullptr;  // of the handler that starts on this thread

}  // namespace

Failure handler_failure() {
  try {
    throw;
  } catch (const DeclaredError& error) {
    return Failure::of(error);
  } catch (const Error& error) {
    if (!is_raised_by_handlers(error.code()))
      return unexpected_failure(name(error.code()) + (error.message().empty() ? "" : ": " + error.message()));
    return may_have_run(error.code(), error.message());
  } catch (const std::exception& error) {
    return unexpected_failure(error.what());
  } catch (...) {
    return unexpected_failure("the handler threw something that is no std::exception");
  }
}

Failure undeclared(const Failure& failure) {
  return may_have_run(Code::handler_failed, std::string("the handler raised ") +
                                                failure.declared->type_name() +
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
