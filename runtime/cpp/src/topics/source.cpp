#include "mf/topics/source.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::topics {
namespace {

// The memory for so many subscriptions is kept after they have left.
constexpr std::size_t kFew = 64;

}  // namespace

// Each thread has its own list of woken queues: no memory is allocated for it where no subscriber waits.
void Board::Source::publish(std::span<ItemRef> items, std::chrono::nanoseconds patience) {
  encode(items);
  thread_local Woken woken;
  Woken wake = std::exchange(woken, {});
  try {
    Lock lock(mutex_);
    TimePoint deadline{};  // of the first of them, once it waits
    while (!items.empty()) {
      if (closed_) [[unlikely]]
        throw Error(Code::shutting_down, Execution::not_executed,
                    "the topics of this process have been closed: nothing of " + origin_->topic +
                        " is published any more");
      for (std::size_t i = 0; i < items.size(); ++i) items[i]->sequence = next_ + i;
      std::shared_ptr<Inbox> full;
      const auto count = pass(items, blocking_ != 0, full, wake);
      if (count == 0) {
        if (deadline == TimePoint{}) deadline = deadline_after(mf::now(), patience);
        lock.unlock();
        wake.wake();
        lock.lock();
        wait_for_room(lock, *full, items.front()->size, deadline);
        continue;
      }
      items = items.subspan(count);
      deadline = {};
    }
  } catch (...) {
    wake.wake();
    throw;
  }
  wake.wake();
  woken = std::move(wake);
}

void Board::Source::encode(std::span<ItemRef> items) const {
  const bool remote = remote_.load(std::memory_order_relaxed) != 0;
  std::size_t encoded = 0;
  for (auto& item : items) {
    item->origin = origin_;
    if (item->has_payload()) {
      ++encoded;
    } else if (remote) {
      (void)item->payload();
    }
  }
  if (encoded != 0) origin_->counters->encoded.fetch_add(encoded, std::memory_order_relaxed);
}

bool Board::Source::waits_for(const Match& match) const noexcept {
  if (rules_.keeper != Keeper::client) return match.inbox->blocks();
  return matches_.size() == 1 || match.inbox->waited_for();
}

/// Room in all queues that are waited for, for the same messages, from the first on; `full` has none for the
/// next.
std::size_t Board::Source::reserve(std::span<const ItemRef> items, std::shared_ptr<Inbox>& full) {
  auto count = items.size();
  for (auto& match : matches_) {
    if (!waits_for(match)) continue;
    match.reserved = match.inbox->reserve(items.first(count));
    if (match.reserved == count) continue;
    full = match.inbox;
    count = match.reserved;
    if (count == 0) break;
  }
  for (auto& match : matches_) {
    if (match.reserved > count) match.inbox->unreserve(items.subspan(count, match.reserved - count));
    match.reserved = std::min(match.reserved, count);
  }
  return count;
}

void Board::Source::wait_for_room(Lock& lock, Inbox& inbox, std::size_t size, TimePoint deadline) {
  const auto place = places_.find(&inbox);
  const bool remote = place != places_.end() && matches_[place->second].remote;
  lock.unlock();
  const auto stall_timeout = remote ? std::optional(rules_.stall_timeout) : std::nullopt;
  if (!inbox.wait_for_room(size, deadline, stall_timeout) && mf::now() >= deadline)
    throw Error(Code::deadline_exceeded, Execution::not_executed,
                "the subscriber of " + origin_->topic + " " + inbox.owner_text() +
                    ", which blocks, has had no room until the deadline: its queue holds " +
                    inbox.content_text());
  lock.lock();
}

/// An inbox that must not drop takes what is replayed beyond its bounds.
Inbox::Room Board::Source::room_for(const Inbox& inbox, bool reserved, bool replayed) noexcept {
  if (reserved) return Inbox::Room::reserved;
  const auto overflow = inbox.bounds().overflow;
  const bool must_not_drop = overflow == Overflow::block || overflow == Overflow::disconnect;
  return replayed && must_not_drop ? Inbox::Room::beyond : Inbox::Room::look;
}

/// Messages with numbers one after another, all of which are replayed, or none; what it passes is given away.
/// Returns how many, from the first on. If these are not all, `full` has no room for the next.
std::size_t Board::Source::pass(std::span<ItemRef> items, bool waits, std::shared_ptr<Inbox>& full,
                                Woken& wake) {
  if (waits && matches_.size() == 1 && keep_ == 0) {
    const auto& match = matches_.front();
    const auto first = items.front()->sequence;
    if (waits_for(match) && first >= match.from) {
      bool woken = false;
      const auto count = match.inbox->push_fitting(items, match.source, woken);
      if (woken) wake.add(match.inbox);
      if (count != items.size()) full = match.inbox;
      if (count != 0) next_ = first + count;
      return count;
    }
  }
  if (waits) items = items.first(reserve(items, full));
  if (!items.empty()) hand_out(items, wake);
  return items.size();
}

void Board::Source::hand_out(std::span<ItemRef> items, Woken& wake) {
  struct GivesAway {  // whatever happens: an inbox may have taken its reference
    std::span<ItemRef> items;
    ~GivesAway() {
      for (auto& item : items) item.give_up();
    }
  };
  const bool replayed = items.front()->sequence < live_;
  if (items.front()->sequence != next_) forget_kept();
  next_ = items.back()->sequence + 1;
  const std::size_t users = matches_.size() + (keep_ != 0 ? 1 : 0);
  if (users == 0) return;
  const GivesAway gives_away{items};
  if (users != 1) {
    for (const auto& item : items) item->add_users(users - 1);
  }
  for (auto& match : matches_) {
    const bool reserved = std::exchange(match.reserved, 0) != 0;
    auto wanted = items;
    if (items.front()->sequence < match.from) [[unlikely]] {  // it came later than others to what is replayed
      const auto before = std::min<std::uint64_t>(match.from - items.front()->sequence, items.size());
      const auto unwanted = items.first(static_cast<std::size_t>(before));
      if (reserved) match.inbox->unreserve(unwanted);
      for (const auto& item : unwanted) item->release();
      wanted = items.subspan(unwanted.size());
    }
    if (!wanted.empty() &&
        match.inbox->push(wanted, match.source, room_for(*match.inbox, reserved, replayed)))
      wake.add(match.inbox);
  }
  if (keep_ == 0) return;
  for (const auto& item : items) keep(*item);
}

/// How many of them have numbers one after another, and are all replayed, or none.
std::size_t Board::Source::run_of(std::span<const ItemRef> items) const {
  const auto first = items.front()->sequence;
  const auto in_row = [&](std::size_t i) {
    const auto number = items[i]->sequence;
    return number == first + i && (number < live_) == (first < live_);
  };
  std::size_t count = 1;
  while (count < items.size() && in_row(count)) ++count;
  return count;
}

std::size_t Board::Source::forward(std::span<ItemRef> items, std::shared_ptr<Inbox>& full, Woken& woken) {
  std::size_t passed = 0;
  {
    const std::scoped_lock lock(mutex_);
    while (passed < items.size()) {
      auto run = items.subspan(passed);
      run = run.first(run_of(run));
      const bool waits =
          rules_.keeper == Keeper::client || (blocking_ != 0 && run.front()->sequence >= live_);
      const auto count = pass(run, waits, full, woken);
      if (count == 0) break;
      passed += count;
    }
  }
  if (passed == items.size()) full = nullptr;  // what had no room for all at once had it for the rest
  return passed;
}

// A gap takes the room of a message without a size. What is kept has no holes.
std::shared_ptr<Inbox> Board::Source::miss(std::uint64_t first, std::uint64_t count, Why why, Woken& woken) {
  const ItemRef gap(Unread::received({}));
  std::shared_ptr<Inbox> full;
  const std::scoped_lock lock(mutex_);
  if ((rules_.keeper == Keeper::client || blocking_ != 0) && reserve({&gap, 1}, full) == 0) return full;
  forget_kept();
  next_ = first + count;
  for (auto& match : matches_) {
    const bool reserved = std::exchange(match.reserved, 0) != 0;
    const auto from = std::max(first, match.from);
    if (from >= next_) {
      if (reserved) match.inbox->unreserve({&gap, 1});
      continue;
    }
    if (match.inbox->push_gap(match.source, from, next_ - from, why,
                              reserved ? Inbox::Room::reserved : Inbox::Room::look))
      woken.add(match.inbox);
  }
  return nullptr;
}

void Board::Source::end(Woken& woken) {
  std::vector<Match> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  gone.swap(matches_);
  places_.clear();
  remote_ = blocking_ = 0;
  note_ways();
  for (const auto& match : gone) {
    if (match.inbox->push_ended(match.source)) woken.add(match.inbox);
  }
}

void Board::Source::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
}

void Board::Source::forget_kept() {
  while (!kept_.empty()) forget_oldest();
}

void Board::Source::forget_oldest() {
  const auto size = kept_.front()->size;
  kept_bytes_ -= size;
  if (rules_.budget) rules_.budget->used.fetch_sub(size, std::memory_order_relaxed);
  kept_.pop_front();
}

/// Takes over one reference.
void Board::Source::keep(Item& item) {
  kept_.emplace_back(&item);
  kept_bytes_ += item.size;
  const auto& budget = rules_.budget;
  if (budget) budget->used.fetch_add(item.size, std::memory_order_relaxed);
  while (kept_.size() > keep_ || (kept_bytes_ > rules_.keep_bytes && kept_.size() > 1)) forget_oldest();
  while (budget && !kept_.empty() && budget->used.load(std::memory_order_relaxed) > budget->most)
    forget_oldest();
}

void Board::Source::attach(const std::shared_ptr<Inbox>& inbox, const Since& since, bool remote) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t kept_from = next_ - kept_.size();
  const std::uint64_t live = std::max(next_, live_);
  std::uint64_t first = live - std::min<std::uint64_t>(since.replay, live - kept_from);
  if (since.seen) first = std::min(*since.seen, live - 1) + 1;
  const std::uint64_t from = first;
  const auto source = inbox->add_source(origin_, first, live, rules_.keeper == Keeper::client);
  if (first < kept_from) {
    (void)inbox->push_gap(source, first, kept_from - first, Why::not_kept, Inbox::Room::beyond);
    first = kept_from;
  }
  for (std::uint64_t number = first; number < next_; ++number) {
    const auto& item = kept_[static_cast<std::size_t>(number - kept_from)];
    item->add_users(1);
    (void)inbox->push({&item, 1}, source, room_for(*inbox, false, true));
  }
  places_.emplace(inbox.get(), matches_.size());
  matches_.push_back({.inbox = inbox, .source = source, .remote = remote, .from = from});
  if (remote) remote_.fetch_add(1, std::memory_order_relaxed);
  if (inbox->blocks()) ++blocking_;
  note_ways();
}

void Board::Source::detach(const Inbox& inbox) {
  std::shared_ptr<Inbox> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = places_.extract(&inbox);
  if (found.empty()) return;
  auto& place = matches_[found.mapped()];
  if (place.remote) remote_.fetch_sub(1, std::memory_order_relaxed);
  if (inbox.blocks()) --blocking_;
  gone = std::move(place.inbox);
  if (found.mapped() + 1 != matches_.size()) {
    place = std::move(matches_.back());
    places_[place.inbox.get()] = found.mapped();
  }
  matches_.pop_back();
  note_ways();
  if (matches_.capacity() > kFew && matches_.size() < matches_.capacity() / 8) {
    matches_.shrink_to_fit();
    places_.rehash(0);
  }
}

AgentStats Board::Source::stats() const {
  const std::scoped_lock lock(mutex_);
  return {.agent = origin_->shown, .published = next_ - 1, .kept = kept_.size()};
}

}  // namespace mf::topics
