#include "mf/core/handler_wait.hpp"

#include <string>

#include "mf/core/failure.hpp"

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
  return make_failure(Code::overloaded, execution,
                      "all " + std::to_string(threads_) + " workers wait for calls that their handlers made");
}

}  // namespace mf::detail
