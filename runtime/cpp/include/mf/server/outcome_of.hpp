// The name under which generated batch functions find outcome_of: as mf::outcome_of, but an item whose
// deadline has passed meanwhile is not run.
#pragma once

#include <utility>

#include "mf/core/current_call.hpp"
#include "mf/core/handler.hpp"

namespace mf::server {

template <class Handler>
[[nodiscard]] auto outcome_of(Handler&& handler) -> decltype(mf::outcome_of(std::forward<Handler>(handler))) {
  if (current_call().expired_roughly()) [[unlikely]] {
    return Failure{.code = Code::deadline_exceeded,
                   .execution = Execution::not_executed,
                   .message = "the deadline passed while earlier items of the batch ran",
                   .declared = nullptr};
  }
  return mf::outcome_of(std::forward<Handler>(handler));
}

}  // namespace mf::server
