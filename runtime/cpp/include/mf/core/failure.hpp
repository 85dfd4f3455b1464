#pragma once
// The factories of failures: every part of the runtime says with them what became of a call. They are out of
// line, since failures are rare, and know no thread and no state.

#include <string>
#include <string_view>

#include "mf/core/error.hpp"
#include "mf/core/outcome.hpp"

namespace mf {

/// The call certainly did not run: it is safe to send it again.
[[nodiscard]] Failure not_executed(Code code, std::string message);
/// The call may have run, or may still run.
[[nodiscard]] Failure may_have_run(Code code, std::string message);
/// For callers that decide at run time which of the two it is.
[[nodiscard]] Failure make_failure(Code code, Execution execution, std::string message);

/// The same failure with `context` before its reason, in the place of any other one: so it is said once,
/// however often a failure is passed on.
[[nodiscard]] Failure in_context(std::string_view context, Failure failure);
/// The same failure with these words at the start of its reason.
[[nodiscard]] Failure preceded_by(std::string_view words, Failure failure);

/// HANDLER_FAILED with the text of an exception that was not meant for the caller (Failure::unexpected).
[[nodiscard]] Failure unexpected_failure(std::string message);

[[nodiscard]] Failure cancelled_by_caller(Execution execution);
/// Its text needs no memory.
[[nodiscard]] Failure out_of_memory() noexcept;

/// The same failure as an exception, and back. A declared error keeps its code and name only.
[[nodiscard]] Error error_of(const Failure& failure);
[[nodiscard]] Failure failure_of(const Error& error);

[[nodiscard]] Error not_executed_error(Code code, std::string message);

}  // namespace mf
