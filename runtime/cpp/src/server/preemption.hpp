// Distinguishes slow runs from runs whose thread was preempted: a busy machine may interrupt a thread for
// milliseconds, also within a handler of a microsecond, which then looks slow.
// The system counts preemptions for each thread, but a query for each run, or for each turn, would cost more
// than the runs. So a turn queries only if the last result is old, which bounds the cost by a thousandth of
// the processor, and the end of a slow run compares with that. A result belongs to the querying thread.
#pragma once

#include <chrono>

#include "mf/core/clock.hpp"

namespace mf::server {

/// To be called at the start of a turn, which is now.
void watch_preemption(TimePoint now) noexcept;
/// Whether the thread was preempted during a run of `took`, of which at most `most` was its own time. Runs
/// longer than any scheduler delay were slow themselves.
[[nodiscard]] bool was_preempted(std::chrono::nanoseconds took, std::chrono::nanoseconds most) noexcept;

}  // namespace mf::server
