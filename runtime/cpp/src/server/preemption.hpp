// Was a run slow, or was its thread only not let run? A busy machine takes the processor from a thread for
// milliseconds, also within a handler of a microsecond, which then looks slow.
//
// The system counts how often that happens to a thread, but a question for each run, or for each turn, would
// cost more than the runs. So a turn asks only if the last answer is old, which bounds the cost by a
// thousandth of the processor, and the end of a slow run compares with that. An answer is good for the thread
// that has asked.
#pragma once

#include <chrono>

#include "mf/core/clock.hpp"

namespace mf::server {

/// At the beginning of a turn, which is now.
void watch_preemption(TimePoint now) noexcept;
/// Of a run that has taken so long, of which at most `most` were its own: has the processor been taken from
/// it? What has taken longer than any scheduler makes a thread wait was slow itself.
[[nodiscard]] bool was_preempted(std::chrono::nanoseconds took, std::chrono::nanoseconds most) noexcept;

}  // namespace mf::server
