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
  std::unique_lock lock(mutex_);
  lost_ = lost_ || state == State::lost;
  if (!watcher_) return;
  if (state == State::coming) return watcher_(state);
  const auto last = std::exchange(watcher_, nullptr);
  lock.unlock();  // who has waited for the end may pass it on, and watch anew
  last(state);
}

}  // namespace mf::protocol
