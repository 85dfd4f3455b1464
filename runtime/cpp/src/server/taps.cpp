#include "mf/server/taps.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "mf/core/error.hpp"

namespace mf::server {
namespace {

/// Those of several taps.
class ForwardedTaps final : public ForwardedTap {
 public:
  explicit ForwardedTaps(std::vector<std::shared_ptr<ForwardedTap>> all) : all_(std::move(all)) {}
  void end(const ForwardedEnd& how) noexcept override {
    for (const auto& each : all_) each->end(how);
  }

 private:
  const std::vector<std::shared_ptr<ForwardedTap>> all_;
};

}  // namespace

bool is_drawn(double share) noexcept {
  // Taps draws for a message, and then so does each tap with a smaller share. A double takes two steps of the
  // generator: after only one, the second draw would depend on the first where shares are small.
  thread_local std::minstd_rand draw{std::random_device{}()};
  return share >= 1.0 || std::uniform_real_distribution<double>()(draw) < share;
}

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

std::shared_ptr<ForwardedTap> Taps::begin(const ForwardedCall& call) const noexcept {
  try {
    std::vector<std::shared_ptr<Tap>> taps;
    {
      const std::scoped_lock lock(mutex_);
      taps = taps_;
    }
    std::vector<std::shared_ptr<ForwardedTap>> wanted;
    for (const auto& tap : taps)
      if (auto begun = tap->begin(call)) wanted.push_back(std::move(begun));
    if (wanted.size() == 1) return std::move(wanted.front());
    return wanted.empty() ? nullptr : std::make_shared<ForwardedTaps>(std::move(wanted));
  } catch (...) {
    log_escaped_exception(log_, "a tap of forwarded calls");
    return nullptr;
  }
}

void Taps::changed() {
  Interceptors all(taps_.begin(), taps_.end());
  all.insert(all.end(), inside_.begin(), inside_.end());
  list_ = mf::detail::interceptors_of(all, log_);
  double share = 0.0;
  for (const auto& tap : taps_) share = std::max(share, tap->share());
  for (const auto& tap : taps_) tap->asked_about(share);
  share_.store(static_cast<float>(share), std::memory_order_relaxed);
}

}  // namespace mf::server
