#include "mf/core/outcome.hpp"

namespace mf {

void Failure::raise() const {
  if (declared != nullptr) declared->raise();
  throw Error(code, execution, message);
}

Failure Failure::of(const DeclaredError& error) {
  return {Code::declared, Execution::unknown, error.what(), error.clone()};
}

Failure Failure::from_current_exception() {
  try {
    throw;
  } catch (const DeclaredError& error) {
    return of(error);
  } catch (const Error& error) {
    return {error.code(), error.execution(), error.message(), nullptr};
  } catch (const std::exception& error) {
    return {Code::handler_failed, Execution::unknown, error.what(), nullptr};
  } catch (...) {
    return {Code::handler_failed, Execution::unknown,
            "the handler threw something that is not a std::exception", nullptr};
  }
}

namespace detail {

const Failure& unset_failure() noexcept {
  static const Failure kFailure{Code::internal, Execution::unknown, "nobody set the outcome of this item",
                                nullptr};
  return kFailure;
}

SharedFailure shared(Failure failure) {
  return std::make_shared<const Failure>(std::move(failure));
}

SharedFailure shared(const Error& error) {
  return shared(Failure{error.code(), error.execution(), error.message(), nullptr});
}

SharedFailure shared(const DeclaredError& error) {
  return shared(Failure::of(error));
}

}  // namespace detail
}  // namespace mf
