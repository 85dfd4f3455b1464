#include "mf/topics/outlet.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::topics {
namespace {

Failure stalled(std::chrono::milliseconds timeout) {
  return {.code = Code::overloaded,
          .execution = Execution::not_executed,
          .message = "the subscriber has taken nothing for " + std::to_string(timeout.count()) +
                     " ms while the publisher waited for room in its queue",
          .declared = nullptr};
}

}  // namespace

// Queues that are woken, for each thread: no memory is taken for them where nobody waits.
void Outlet::publish(std::span<ItemRef> items, std::chrono::nanoseconds patience) {
  if (remote_.load(std::memory_order_relaxed) != 0) {
    for (auto& item : items) {
      item->origin = origin_;
      (void)item->payload();
    }
  }
  thread_local std::vector<std::shared_ptr<Queue>> woken;
  std::vector<std::shared_ptr<Queue>> wake = std::exchange(woken, {});
  const auto wake_all = [&wake] {
    for (const auto& queue : wake) queue->wake();
    wake.clear();
  };
  try {
    Lock lock(mutex_);
    for (auto& item : items) {
      TimePoint deadline{};  // once it waits
      while (blocking_ != 0) {
        const auto full = reserve(item->size);
        if (!full) break;
        if (deadline == TimePoint{}) deadline = deadline_after(mf::now(), patience);
        lock.unlock();
        wake_all();
        lock.lock();
        wait_for_room(lock, *full, item->size, deadline);
      }
      if (!item->origin) item->origin = origin_;
      item->sequence = next_++;
      hand_out(*item, wake);
    }
  } catch (...) {
    wake_all();
    throw;
  }
  wake_all();
  woken = std::move(wake);
}

/// Room in all queues that block, or in none: then the first that has none.
std::shared_ptr<Queue> Outlet::reserve(std::size_t size) {
  for (std::size_t i = 0; i < matches_.size(); ++i) {
    if (!matches_[i].queue->blocks() || matches_[i].queue->reserve(size)) continue;
    for (std::size_t before = 0; before < i; ++before) {
      if (matches_[before].queue->blocks()) matches_[before].queue->unreserve(size);
    }
    return matches_[i].queue;
  }
  return nullptr;
}

void Outlet::wait_for_room(Lock& lock, Queue& queue, std::size_t size, TimePoint deadline) {
  const bool remote = std::ranges::any_of(
      matches_, [&](const Match& match) { return match.queue.get() == &queue && match.remote; });
  lock.unlock();
  const auto stalled_at = remote ? deadline_after(queue.waited_since(), limits_.stall_timeout) : kNever;
  if (!queue.wait_for_room(size, std::min(deadline, stalled_at))) {
    if (mf::now() >= stalled_at) {
      if (queue.end(mf::detail::shared(stalled(limits_.stall_timeout)))) queue.wake();
    } else if (mf::now() >= deadline) {
      throw Error(Code::deadline_exceeded, Execution::not_executed,
                  "a subscriber of " + origin_->topic + " that blocks has had no room until the deadline");
    }
  }
  lock.lock();
}

void Outlet::hand_out(Item& item, std::vector<std::shared_ptr<Queue>>& wake) {
  if (!matches_.empty()) item.add_users(matches_.size());
  for (const auto& match : matches_) {
    if (match.queue->push(&item, match.source, match.queue->blocks())) wake.push_back(match.queue);
  }
  if (limits_.keep != 0) keep(item);
}

void Outlet::keep(Item& item) {
  item.add_users(1);
  kept_.emplace_back(&item);
  kept_bytes_ += item.size;
  while (kept_.size() > limits_.keep || (kept_bytes_ > limits_.keep_bytes && kept_.size() > 1)) {
    kept_bytes_ -= kept_.front()->size;
    kept_.pop_front();
  }
}

void Outlet::attach(const std::shared_ptr<Queue>& queue, const Since& since, bool remote) {
  {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t kept_from = next_ - kept_.size();
    std::uint64_t first = next_ - std::min<std::uint64_t>(since.replay, kept_.size());
    if (since.seen) first = std::min(*since.seen, next_ - 1) + 1;
    const auto source = queue->add_source(origin_, first);
    if (first < kept_from) {
      (void)queue->push_missed(source, first, kept_from - first, Why::not_kept);
      first = kept_from;
    }
    for (std::uint64_t number = first; number < next_; ++number) {
      const auto& item = kept_[static_cast<std::size_t>(number - kept_from)];
      item->add_users(1);
      (void)queue->push(item.get(), source, false, true);
    }
    matches_.push_back({.queue = queue, .source = source, .remote = remote});
    if (remote) remote_.fetch_add(1, std::memory_order_relaxed);
    if (queue->blocks()) ++blocking_;
  }
  queue->wake();
}

void Outlet::detach(const Queue& queue) {
  std::shared_ptr<Queue> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find_if(matches_, [&](const Match& match) { return match.queue.get() == &queue; });
  if (found == matches_.end()) return;
  if (found->remote) remote_.fetch_sub(1, std::memory_order_relaxed);
  if (queue.blocks()) --blocking_;
  gone = std::move(found->queue);
  *found = std::move(matches_.back());
  matches_.pop_back();
}

AgentStats Outlet::stats() const {
  const std::scoped_lock lock(mutex_);
  return {.agent = origin_->agent, .published = next_ - 1, .kept = kept_.size()};
}

}  // namespace mf::topics
