// What is promised of a waiting thread, apart from the runs: it is woken as soon as what it waits for is
// there, and until then it does nothing.
#pragma once

#include <string>
#include <vector>

namespace simulated {

/// Threads that wait until a time while others keep the processor busy. Each of these is called on a
/// scheduler that has begun, and returns what is not so, in words.
[[nodiscard]] std::vector<std::string> late_waits();
/// A publisher whose subscriber elsewhere takes nothing, although messages wait for it.
[[nodiscard]] std::vector<std::string> restless_publisher();

}  // namespace simulated
