// The callbacks of a mailbox.
//
// A message that matches by values and kinds goes to the callback that was registered first, before any call
// that waits; where a function of the pattern decides, the callback competes with the calls that wait, and
// the first to ask gets the message. What a callback throws is logged, and it is called again with the next
// message.
#include <algorithm>

#include "flex/mailbox.hpp"

namespace mf::flex {
namespace {

/// Of a callback whose pattern has functions: wakes the thread that asks them.
class CallingWaiter final : public Waiter {
 public:
  CallingWaiter(Asked asked, std::function<void()> woken)
      : Waiter(std::move(asked)), woken_(std::move(woken)) {}
  void wake() override { woken_(); }

 private:
  const std::function<void()> woken_;
};

}  // namespace

std::shared_ptr<Registration> Mailbox::add_callback(std::function<void(const Message&)> function,
                                                    Asked asked) {
  const auto made = std::make_shared<Registration>(std::move(function), std::move(asked));
  const std::scoped_lock lock(mutex_);
  check_open();
  if (made->asked.tested()) {
    made->waiter = std::make_shared<CallingWaiter>(made->asked, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      const std::scoped_lock inner(self->mutex_);
      self->look_ = true;
      self->to_call_.notify_one();
    });
    made->waiter->fresh = queue_.numbers();
    waiters_.add(made->waiter);
  } else {
    for (auto number = queue_.first(made->asked); number != Queue::kNone; number = queue_.first(made->asked))
      made->backlog.push_back(queue_.take(number));
  }
  callbacks_.push_back(made);
  look_ = true;
  if (!caller_.joinable()) caller_ = std::thread([self = shared_from_this()] { self->run_callbacks(); });
  to_call_.notify_one();
  return made;
}

void Mailbox::remove_callback(const std::shared_ptr<Registration>& registration) {
  if (registration->waiter) end(*registration->waiter, true);
  std::vector<Waiters::Ref> woken;
  {
    Lock lock(mutex_);
    std::erase(callbacks_, registration);
    while (!registration->backlog.empty()) {
      auto parcel = std::move(registration->backlog.front());
      registration->backlog.pop_front();
      const auto number = queue_.put(parcel);
      const auto some = waiters_.of(parcel->message, number);
      woken.insert(woken.end(), some.begin(), some.end());
    }
  }
  for (const auto& each : woken) each->wake();
  Lock lock(mutex_);
  if (caller_.get_id() == std::this_thread::get_id()) return;
  if (running_ != registration.get()) return;
  blocking();
  called_.wait(lock, [&] { return running_ != registration.get(); });
}

std::pair<std::size_t, std::size_t> Mailbox::counts(const Registration& registration) const {
  const std::scoped_lock lock(mutex_);
  return {registration.calls, registration.raised};
}

bool Mailbox::claim(const ParcelRef& parcel) {
  std::string key;
  for (const auto& each : callbacks_) {
    if (each->asked.tested() || !key_of(each->asked.shape(), parcel->message, key) ||
        key != each->asked.key())
      continue;
    each->backlog.push_back(parcel);
    look_ = true;
    to_call_.notify_one();
    return true;
  }
  return false;
}

void Mailbox::run_callbacks() {
  Lock lock(mutex_);
  while (!closed_) {
    to_call_.wait(lock, [this] { return look_ || closed_; });
    look_ = false;
    for (bool busy = true; busy && !closed_;) {
      busy = false;
      const auto all = callbacks_;  // it changes while they run
      for (const auto& each : all) {
        if (closed_) break;
        const auto parcel = next_of(lock, *each);
        if (!parcel) continue;
        busy = true;
        call(lock, each, parcel);
      }
    }
  }
}

/// Null: there is nothing for it.
ParcelRef Mailbox::next_of(Lock& lock, Registration& registration) {
  if (!registration.backlog.empty()) {
    auto parcel = std::move(registration.backlog.front());
    registration.backlog.pop_front();
    return parcel;
  }
  if (!registration.waiter ||
      std::ranges::none_of(callbacks_, [&](const auto& each) { return each.get() == &registration; }))
    return nullptr;
  ParcelRef parcel;
  auto& waiter = *registration.waiter;
  running_ = &registration;
  while (!parcel && !closed_ && !waiter.fresh.empty()) {
    const auto number = waiter.fresh.front();
    waiter.fresh.erase(waiter.fresh.begin());
    lock.unlock();
    bool raised = false;
    try {
      parcel = take_if_passes(registration.asked, number);
    } catch (...) {  // of a function of the pattern: the message is for others
      raised = true;
      log_escaped_exception(core_->options().log, "a function of a pattern");
    }
    lock.lock();
    if (parcel) --in_hand_;  // close() of the mailbox waits for this thread
    if (raised) ++registration.raised;
  }
  waiter.woken = false;
  running_ = nullptr;
  called_.notify_all();
  return parcel;
}

void Mailbox::call(Lock& lock, const std::shared_ptr<Registration>& registration, const ParcelRef& parcel) {
  running_ = registration.get();
  ++registration->calls;
  lock.unlock();
  bool raised = false;
  try {
    registration->function(parcel->message);
  } catch (...) {
    raised = true;
    log_escaped_exception(core_->options().log, "a callback of a mailbox");
  }
  lock.lock();
  ++in_hand_;
  lock.unlock();
  (void)taken(parcel);
  lock.lock();
  if (raised) ++registration->raised;
  running_ = nullptr;
  called_.notify_all();
}

}  // namespace mf::flex
