#include "mf/core/blocking.hpp"

namespace mf {

constinit thread_local detail::IoRole* detail::io_role = nullptr;
constinit thread_local std::uint64_t detail::waits_announced = 0;

void blocking() noexcept {
  ++detail::waits_announced;
  if (detail::io_role != nullptr) detail::io_role->hand_over();
}

}  // namespace mf
