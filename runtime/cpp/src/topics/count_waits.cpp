#include "mf/topics/count_waits.hpp"

#include <algorithm>

#include "mf/link/waiter.hpp"

namespace mf::topics {

struct CountWaits::Wait {
  std::size_t count = 0;
  Ended ended = Ended::late;
  link::Waiter waiter{};

  void end(Ended how) {
    ended = how;
    waiter.finish();
  }
};

CountWaits::Ended CountWaits::wait(std::unique_lock<std::mutex>& lock, std::size_t count, TimePoint until) {
  Wait wait{.count = count};
  waits_.push_back(&wait);
  lock.unlock();
  wait.waiter.wait_until(until);
  lock.lock();
  std::erase(waits_, &wait);
  return wait.ended;
}

void CountWaits::reach(std::size_t count) {
  std::erase_if(waits_, [count](Wait* each) {
    if (each->count > count) return false;
    each->end(Ended::reached);
    return true;
  });
}

void CountWaits::tell_all() {
  for (auto* const each : waits_) each->end(Ended::told);
  waits_.clear();
}

}  // namespace mf::topics
