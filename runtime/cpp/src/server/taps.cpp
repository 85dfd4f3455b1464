#include "mf/server/taps.hpp"

#include <algorithm>
#include <string>

#include "mf/core/error.hpp"

namespace mf::server {

void Taps::add(const std::shared_ptr<Tap>& tap) {
  const std::scoped_lock lock(mutex_);
  if (stops_) throw Error(Code::shutting_down, Execution::not_executed, "the server is stopping");
  if (taps_.size() >= kMost)
    throw Error(Code::overloaded, Execution::not_executed,
                "this server has " + std::to_string(kMost) + " taps already");
  taps_.push_back(tap);
  changed();
}

void Taps::remove(const Tap& tap) {
  const std::scoped_lock lock(mutex_);
  if (std::erase_if(taps_, [&](const auto& each) { return each.get() == &tap; }) != 0) changed();
}

void Taps::stop() {
  std::vector<std::shared_ptr<Tap>> stopped;
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    stopped = taps_;
  }
  for (const auto& tap : stopped) tap->stop();
}

std::shared_ptr<const mf::detail::InterceptorList> Taps::list() const {
  const std::scoped_lock lock(mutex_);
  return list_;
}

void Taps::changed() {
  Interceptors all(taps_.begin(), taps_.end());
  all.insert(all.end(), inside_.begin(), inside_.end());
  list_ = mf::detail::interceptors_of(all, log_);
  any_.store(!taps_.empty(), std::memory_order_relaxed);
}

}  // namespace mf::server
