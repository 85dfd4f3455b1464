#include "mf/link/handler_failures.hpp"

namespace mf::link {
namespace {

constexpr auto kLogEvery = std::chrono::seconds(1);
// Methods and agents whose lines are limited separately; all others share one limit.
constexpr std::size_t kMostLimits = 1024;

}  // namespace

void HandlerFailures::note(const Method& method, const FailedCall& call, const Failure& failure) noexcept {
  if (failure.code != Code::handler_failed) return;
  try {
    std::uint64_t calls = 1;
    {
      std::pair key(full_name(method), std::string(call.agent));
      const std::scoped_lock lock(mutex_);
      if (limits_.size() >= kMostLimits && !limits_.contains(key)) key = {};
      auto& limit = limits_[std::move(key)];
      const auto now = mf::now();
      if (limit.logged_at != TimePoint{} && now - limit.logged_at < kLogEvery) {
        ++limit.unlogged;
        return;
      }
      limit.logged_at = now;
      calls += std::exchange(limit.unlogged, 0);
    }
    log_.write(Level::warning, "handler_failed",
               {{"service", method.service.name},
                {"method", method.info.name},
                {"agent", call.agent},
                {"peer", call.peer},
                {"identity", call.identity},
                {"calls", calls},
                {"what", failure.message}});
  } catch (...) {
    // No memory: the caller still gets the failure.
  }
}

}  // namespace mf::link
