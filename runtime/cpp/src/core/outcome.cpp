#include "mf/core/outcome.hpp"

#include "mf/core/failure.hpp"

namespace mf {

void Failure::raise() const {
  if (declared != nullptr) declared->raise();
  throw Error(code, execution, message);
}

Failure Failure::of(const DeclaredError& error) {
  auto failure = may_have_run(Code::declared, error.type_name());
  failure.declared = error.clone();
  return failure;
}

Failure Failure::from_current_exception() {
  try {
    throw;
  } catch (const DeclaredError& error) {
    return of(error);
  } catch (const Error& error) {
    return failure_of(error);
  } catch (const std::exception& error) {
    return unexpected_failure(error.what());
  } catch (...) {
    return unexpected_failure("the handler threw something that is not a std::exception");
  }
}

namespace detail {

const Failure& unset_failure() noexcept {
  static const Failure kFailure = may_have_run(Code::internal, "the outcome of this item was not set");
  return kFailure;
}

SharedFailure shared(Failure failure) {
  return std::make_shared<const Failure>(std::move(failure));
}

SharedFailure shared(const Error& error) {
  return shared(failure_of(error));
}

SharedFailure shared(const DeclaredError& error) {
  return shared(Failure::of(error));
}

}  // namespace detail
}  // namespace mf
