#include "mf/topics/outlet.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"

namespace mf::topics {
namespace {

Failure stalled(std::chrono::milliseconds timeout) {
  return not_executed(Code::overloaded, "the subscriber has taken nothing for " +
                                            std::to_string(timeout.count()) +
                                            " ms while the publisher waited for room in its queue");
}

}  // namespace

void wake_all(Woken& woken) {
  for (const auto& queue : woken) queue->wake();
  woken.clear();
}

// Each thread has its own list of woken queues: no memory is allocated for it where no subscriber waits.
void Outlet::publish(std::span<ItemRef> items, std::chrono::nanoseconds patience) {
  if (remote_.load(std::memory_order_relaxed) != 0) {
    for (auto& item : items) {
      item->origin = origin_;
      (void)item->payload();
    }
  }
  thread_local Woken woken;
  Woken wake = std::exchange(woken, {});
  try {
    Lock lock(mutex_);
    TimePoint deadline{};  // of the first of them, once it waits
    while (!items.empty()) {
      std::shared_ptr<Queue> full;
      const auto count = closed_ || blocking_ == 0 ? items.size() : reserve(items, full);
      if (count == 0) {
        if (deadline == TimePoint{}) deadline = deadline_after(mf::now(), patience);
        lock.unlock();
        wake_all(wake);
        lock.lock();
        wait_for_room(lock, *full, items.front()->size, deadline);
        continue;
      }
      if (closed_) [[unlikely]]
        throw Error(Code::shutting_down, Execution::not_executed,
                    "the topics of this process have been closed: nothing of " + origin_->topic +
                        " is published any more");
      for (auto& item : items.first(count)) {
        if (!item->origin) item->origin = origin_;
        item->sequence = next_++;
      }
      hand_out(items.first(count), wake);
      items = items.subspan(count);
      deadline = {};
    }
  } catch (...) {
    wake_all(wake);
    throw;
  }
  wake_all(wake);
  woken = std::move(wake);
}

bool Outlet::waits_for(const Match& match) const noexcept {
  if (!limits_.of_subscribers) return match.queue->blocks();
  return matches_.size() == 1 || match.queue->waited_for();
}

/// Room in all queues that are waited for, for the same messages, from the first on; `full` has none for the
/// next.
std::size_t Outlet::reserve(std::span<const ItemRef> items, std::shared_ptr<Queue>& full) {
  auto count = items.size();
  for (auto& match : matches_) {
    if (!waits_for(match)) continue;
    match.reserved = match.queue->reserve(items.first(count));
    if (match.reserved == count) continue;
    full = match.queue;
    count = match.reserved;
    if (count == 0) break;
  }
  for (auto& match : matches_) {
    if (match.reserved > count) match.queue->unreserve(items.subspan(count, match.reserved - count));
    match.reserved = std::min(match.reserved, count);
  }
  return count;
}

/// Room for a gap in all queues that are waited for, or in none: then the first that has none.
std::shared_ptr<Queue> Outlet::reserve_gap() {
  for (auto& match : matches_) {
    if (!waits_for(match)) continue;
    if (match.queue->reserve_gap()) {
      match.reserved = 1;
      continue;
    }
    for (auto& before : matches_) {
      if (std::exchange(before.reserved, 0) != 0) before.queue->unreserve_gap();
    }
    return match.queue;
  }
  return nullptr;
}

void Outlet::wait_for_room(Lock& lock, Queue& queue, std::size_t size, TimePoint deadline) {
  const bool remote = std::ranges::any_of(
      matches_, [&](const Match& match) { return match.queue.get() == &queue && match.remote; });
  lock.unlock();
  const auto stalled_at = [&] {
    return remote ? deadline_after(queue.waited_since(), limits_.stall_timeout) : kNever;
  };
  if (!queue.wait_for_room(size, std::min(deadline, stalled_at()))) {
    const auto now = mf::now();
    if (now >= stalled_at()) {  // nothing was taken meanwhile
      cut(queue);
    } else if (now >= deadline) {
      throw Error(Code::deadline_exceeded, Execution::not_executed,
                  "the subscriber of " + origin_->topic + " " + queue.owner_text() +
                      ", which blocks, has had no room until the deadline: its queue holds " +
                      queue.content_text());
    }
  }
  lock.lock();
}

/// Messages with numbers one after another, all of which are replayed, or none.
void Outlet::hand_out(std::span<const ItemRef> items, Woken& wake) {
  const bool replayed = items.front()->sequence < live_;
  for (const auto& item : items) item->add_users(matches_.size());
  for (auto& match : matches_) {
    const bool reserved = std::exchange(match.reserved, 0) != 0;
    auto wanted = items;
    if (items.front()->sequence < match.from) [[unlikely]] {  // it came later than others to what is replayed
      const auto before = std::min<std::uint64_t>(match.from - items.front()->sequence, items.size());
      const auto unwanted = items.first(static_cast<std::size_t>(before));
      if (reserved) match.queue->unreserve(unwanted);
      for (const auto& item : unwanted) item->release();
      wanted = items.subspan(unwanted.size());
    }
    if (!wanted.empty() && match.queue->push(wanted, match.source, reserved, replayed))
      wake.push_back(match.queue);
  }
  if (limits_.keep == 0) return;
  for (const auto& item : items) keep(*item);
}

/// How many of them have numbers one after another, and are all replayed, or none.
std::size_t Outlet::run_of(std::span<const ItemRef> items) const {
  const auto first = items.front()->sequence;
  const auto in_row = [&](std::size_t i) {
    const auto number = items[i]->sequence;
    return number == first + i && (number < live_) == (first < live_);
  };
  std::size_t count = 1;
  while (count < items.size() && in_row(count)) ++count;
  return count;
}

std::size_t Outlet::forward(std::span<const ItemRef> items, std::shared_ptr<Queue>& full, Woken& woken) {
  std::size_t passed = 0;
  {
    const std::scoped_lock lock(mutex_);
    while (passed < items.size()) {
      auto run = items.subspan(passed);
      run = run.first(run_of(run));
      if (limits_.of_subscribers || (blocking_ != 0 && run.front()->sequence >= live_))
        run = run.first(reserve(run, full));
      if (run.empty()) break;
      if (run.front()->sequence != next_) forget_kept();
      next_ = run.back()->sequence + 1;
      hand_out(run, woken);
      passed += run.size();
    }
  }
  if (passed == items.size()) full = nullptr;  // what had no room for all at once had it for the rest
  return passed;
}

std::shared_ptr<Queue> Outlet::forward(const ItemRef& item) {
  Woken woken;
  std::shared_ptr<Queue> full;
  (void)forward({&item, 1}, full, woken);
  wake_all(woken);
  return full;
}

std::shared_ptr<Queue> Outlet::miss(std::uint64_t first, std::uint64_t count) {
  Woken woken;
  auto full = miss(first, count, Why::upstream, woken);
  wake_all(woken);
  return full;
}

// What is kept has no holes.
std::shared_ptr<Queue> Outlet::miss(std::uint64_t first, std::uint64_t count, Why why, Woken& woken) {
  const std::scoped_lock lock(mutex_);
  if (limits_.of_subscribers || blocking_ != 0) {
    if (auto full = reserve_gap()) return full;
  }
  forget_kept();
  next_ = first + count;
  for (auto& match : matches_) {
    const bool reserved = std::exchange(match.reserved, 0) != 0;
    const auto from = std::max(first, match.from);
    if (from >= next_) {
      if (reserved) match.queue->unreserve_gap();
      continue;
    }
    if (match.queue->push_gap(match.source, from, next_ - from, why, reserved)) woken.push_back(match.queue);
  }
  return nullptr;
}

void Outlet::end(Woken& woken) {
  const std::scoped_lock lock(mutex_);
  for (const auto& match : matches_) {
    if (match.queue->push_ended(match.source)) woken.push_back(match.queue);
  }
}

void Outlet::cut(Queue& stalled_queue) const {
  stalled_queue.cut(mf::detail::shared(stalled(limits_.stall_timeout)));
}

void Outlet::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
}

void Outlet::forget_kept() {
  while (!kept_.empty()) forget_oldest();
}

void Outlet::forget_oldest() {
  const auto size = kept_.front()->size;
  kept_bytes_ -= size;
  if (limits_.budget) limits_.budget->used.fetch_sub(size, std::memory_order_relaxed);
  kept_.pop_front();
}

void Outlet::keep(Item& item) {
  item.add_users(1);
  kept_.emplace_back(&item);
  kept_bytes_ += item.size;
  const auto& budget = limits_.budget;
  if (budget) budget->used.fetch_add(item.size, std::memory_order_relaxed);
  while (kept_.size() > limits_.keep || (kept_bytes_ > limits_.keep_bytes && kept_.size() > 1))
    forget_oldest();
  while (budget && !kept_.empty() && budget->used.load(std::memory_order_relaxed) > budget->most)
    forget_oldest();
}

void Outlet::attach(const std::shared_ptr<Queue>& queue, const Since& since, bool remote) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t kept_from = next_ - kept_.size();
  const std::uint64_t live = std::max(next_, live_);
  std::uint64_t first = live - std::min<std::uint64_t>(since.replay, live - kept_from);
  if (since.seen) first = std::min(*since.seen, live - 1) + 1;
  const std::uint64_t from = first;
  const auto source = limits_.of_subscribers ? queue->reuse_source(origin_, first, live)
                                             : queue->add_source(origin_, first, live);
  if (first < kept_from) {
    (void)queue->push_missed(source, first, kept_from - first, Why::not_kept);
    first = kept_from;
  }
  for (std::uint64_t number = first; number < next_; ++number) {
    const auto& item = kept_[static_cast<std::size_t>(number - kept_from)];
    item->add_users(1);
    (void)queue->push({&item, 1}, source, false, true);
  }
  matches_.push_back({.queue = queue, .source = source, .remote = remote, .from = from});
  if (remote) remote_.fetch_add(1, std::memory_order_relaxed);
  if (queue->blocks()) ++blocking_;
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
  return {.agent = origin_->shown, .published = next_ - 1, .kept = kept_.size()};
}

}  // namespace mf::topics
