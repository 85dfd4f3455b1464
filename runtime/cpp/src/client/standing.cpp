#include "mf/client/standing.hpp"

#include "mf/core/random.hpp"

namespace mf::client {

Standing::Standing(std::shared_ptr<Core> core, std::chrono::milliseconds longest)
    : core_(std::move(core)), pauses_(random_number(), longest) {}

Standing::~Standing() {
  leave();
}

bool Standing::adopt(std::shared_ptr<StreamedCall> call) {
  const std::scoped_lock lock(mutex_);
  if (left_) return false;
  call_.swap(call);  // an earlier one goes without the lock
  up_since_ = {};
  return true;
}

void Standing::launch(const std::shared_ptr<StreamedCall>& call) {
  AsyncCall::launch(call);
  if (left()) call->abandon();  // leave() may have come before there was something to cancel
}

void Standing::came_up() {
  const std::scoped_lock lock(mutex_);
  if (up_since_ == TimePoint{}) up_since_ = mf::now();
}

void Standing::forgive() {
  const std::scoped_lock lock(mutex_);
  pauses_.forgive();
}

void Standing::again(UniqueFunction<void()> due) {
  TimePoint when;
  std::shared_ptr<StreamedCall> ended;
  {
    const std::scoped_lock lock(mutex_);
    if (left_) return;
    const auto now = mf::now();
    const auto since = std::exchange(up_since_, TimePoint{});
    ended.swap(call_);
    when = now + pauses_.after(since == TimePoint{} ? TimePoint::duration::zero() : now - since);
  }
  core_->reactor().at(when, std::move(due));
}

void Standing::reopen(const StreamedCall* call) noexcept {
  std::shared_ptr<StreamedCall> current;
  {
    const std::scoped_lock lock(mutex_);
    if (call == nullptr || call_.get() == call) current = call_;
  }
  if (current) current->abandon();
}

void Standing::leave() noexcept {
  std::shared_ptr<StreamedCall> call;
  {
    const std::scoped_lock lock(mutex_);
    left_ = true;
    call = std::move(call_);
  }
  if (call) call->abandon();
}

bool Standing::is_current(const StreamedCall* call) const {
  const std::scoped_lock lock(mutex_);
  return call_.get() == call;
}

}  // namespace mf::client
