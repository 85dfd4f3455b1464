// The failures that the parts of a ClientLink, client_link*.cpp, give in common.
#pragma once

#include <string>
#include <utility>

#include "core/not_executed.hpp"

namespace mf::link {

inline Failure out_of_time(const std::string& peer) {
  return Failure{.code = Code::deadline_exceeded,
                 .execution = Execution::unknown,
                 .message = "no reply from " + peer + " within the deadline",
                 .declared = nullptr};
}

/// A failure whose text needs no memory.
inline Failure out_of_memory() noexcept {
  Failure failure;
  failure.message = "out of memory";
  return failure;
}

}  // namespace mf::link
