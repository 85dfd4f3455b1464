#include "mf/protocol/coming.hpp"

namespace mf::protocol {

void Coming::watch(Watcher watcher) {
  std::unique_lock lock(mutex_);
  const bool lost = lost_;
  if (lost || complete()) {
    lock.unlock();
    return watcher(lost ? State::lost : State::complete);
  }
  watcher_ = std::move(watcher);
}

void Coming::tell(State state) {
  Watcher watcher;
  {
    const std::scoped_lock lock(mutex_);
    lost_ = lost_ || state == State::lost;
    watcher = state == State::coming ? watcher_ : std::exchange(watcher_, nullptr);
  }
  // Without the lock: a watcher that writes received bytes may find that its connection has ended; one that
  // waited for the end may pass the payload on, and set another watcher.
  if (watcher) watcher(state);
}

}  // namespace mf::protocol
