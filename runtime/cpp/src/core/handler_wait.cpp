#include "mf/core/handler_wait.hpp"

#include <string>

namespace mf::detail {

constinit thread_local Place* place = nullptr;

void HandlerWait::begin() noexcept {
  if (place->leave()) {
    place_ = place;
    place = nullptr;
  } else {
    threads_ = place->threads();
  }
}

void HandlerWait::end() noexcept {
  place = place_;
  place->come_back();
}

Failure HandlerWait::refusal(Execution execution) const {
  return {.code = Code::overloaded,
          .execution = execution,
          .message = "all " + std::to_string(threads_) + " workers wait for calls that their handlers made",
          .declared = nullptr};
}

}  // namespace mf::detail
