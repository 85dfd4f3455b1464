#include "client/opening.hpp"
#include "mf/core/failure.hpp"
#include "mf/transport/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mf::client {
namespace {

// How long calls wait for other instances once the first one is available.
constexpr std::chrono::milliseconds kMoment{50};

}  // namespace

Opening::Opening(std::vector<Instance> instances, std::size_t most, Attempt attempt)
    : instances_(std::move(instances)),
      most_(most),
      threads_(std::min(instances_.size(), most)),
      attempt_(std::move(attempt)),
      running_(threads_) {}

void Opening::run() {
  std::unique_lock lock(mutex_);
  while (next_ < instances_.size() && opened_ < most_ && !given_up_) {
    const auto& instance = instances_[next_++];
    lock.unlock();
    const auto attempted = safely(instance);
    lock.lock();
    if (attempted) {
      ++opened_;
      changed_.notify_all();
    } else if (failure_.message.empty() || attempted.failure().code != Code::schema_mismatch) {
      failure_ = attempted.failure();  // one with another schema says nothing about the others
    }
  }
  if (--running_ == 0) changed_.notify_all();
}

Outcome<void> Opening::safely(const Instance& instance) {
  try {
    return attempt_(instance);
  } catch (const std::exception& error) {
    return not_executed(Code::internal, error.what());
  }
}

bool Opening::covers(const std::vector<Instance>& instances) {
  const std::scoped_lock lock(mutex_);
  return running_ != 0 && !given_up_ && std::ranges::all_of(instances, [this](const Instance& wanted) {
           return std::ranges::find(instances_, wanted) != instances_.end();
         });
}

Opening::Result Opening::wait(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return running_ == 0 || given_up_; };
  const auto some = [&] { return ended() || opened_ != 0; };
  if (deadline == kNever) {
    changed_.wait(lock, some);
  } else {
    transport::wait_until(changed_, lock, deadline, some);
  }
  if (!ended() && opened_ != 0)
    transport::wait_until(changed_, lock, std::min(deadline, mf::now() + kMoment), ended);
  return {.opened = opened_ != 0, .all_ended = running_ == 0, .failure = failure_};
}

void Opening::give_up() {
  const std::scoped_lock lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
}

}  // namespace mf::client
