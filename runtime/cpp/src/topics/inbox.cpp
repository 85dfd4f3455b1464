#include "mf/topics/inbox.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"

namespace mf::topics {
namespace {

// For how many messages there must be room before a waiting publisher is notified: a thread, which costs a
// switch each time, or a function.
constexpr std::uint32_t kMoreForThreads = 256;
constexpr std::uint32_t kMoreForCallbacks = 64;
// So many sources stay what they were after their ends: a reader of their entries may still look.
constexpr std::size_t kSpent = 1'024;
constexpr std::size_t kCrowd = 1U << 17U;

template <class Bound>
Bound within(Bound asked, Bound most) noexcept {
  return asked == 0 ? most : std::min(asked, most);
}

}  // namespace

Inbox::Inbox(const Bounds& wanted, const TopicsOptions& most)
    : Inbox({.max_messages = within(wanted.max_messages, most.max_messages),
             .max_bytes = within(wanted.max_bytes, most.max_bytes),
             .overflow = wanted.overflow}) {}

void Inbox::Ring::grow() {
  std::vector<Entry> larger(std::max<std::size_t>(16, slots_.size() * 2));
  for (auto place = begin_; place != end_; ++place)
    larger[place & (larger.size() - 1)] = std::move(at(place));
  slots_ = std::move(larger);
}

std::uint32_t Inbox::add_source(std::shared_ptr<const Origin> origin, std::uint64_t next, std::uint64_t live,
                                bool reuse) {
  const std::scoped_lock lock(mutex_);
  auto number = static_cast<std::uint32_t>(sources_.size());
  if (reuse && spent_.size() > kSpent) {
    number = spent_.front();
    spent_.pop_front();
    sources_[number] = {};
  } else {
    sources_.emplace_back();
  }
  sources_[number].origin = std::move(origin);
  if (!closed_ && !ended_)
    ring_.push({.first = next, .count = std::max(next, live) - next, .source = number, .kind = Kind::source});
  return number;
}

bool Inbox::crowded() const {
  const std::scoped_lock lock(mutex_);
  return ring_.size() - messages_ - gaps_ + front_.size() > kCrowd;
}

Inbox::Entry Inbox::pop() {
  auto entry = ring_.pop();
  if (entry.kind == Kind::message) {
    --messages_;
    bytes_ -= entry.item->size;
  }
  if (entry.counts) --gaps_;
  return entry;
}

// Beginnings, ends and gaps that stood before a dropped message stay before all that waits.
void Inbox::drop_oldest(std::size_t size) {
  while (!has_room(size) && !ring_.empty()) {
    auto oldest = pop();
    switch (oldest.kind) {
      case Kind::message:
        ++dropped_;
        put_in_front(
            {.first = oldest.item->sequence, .count = 1, .source = oldest.source, .kind = Kind::missed});
        break;
      case Kind::missed:
        put_in_front(std::move(oldest));
        break;
      case Kind::source:
      case Kind::ended:
        front_.push_back(std::move(oldest));
        break;
    }
  }
}

/// A gap that follows the latest one of its source becomes part of it. Where their reasons differ and there
/// are many already, all of them count as dropped.
void Inbox::put_in_front(Entry&& gap) {
  auto& latest = sources_[gap.source].gap_in_front;
  if (latest > front_taken_) {
    auto& before = front_[latest - front_taken_ - 1];
    const bool many = front_.size() >= bounds_.max_messages;
    if (sum_of(before.first, before.count) == gap.first && (before.why == gap.why || many)) {
      if (before.why != gap.why) before.why = Why::dropped;
      before.count = sum_of(before.count, gap.count);
      return;
    }
  }
  front_.push_back(std::move(gap));
  latest = front_taken_ + front_.size();
}

/// Whether the latest gap of the source still waits in the ring, and these numbers follow it: then nothing
/// else of the source has come in between.
bool Inbox::continues_gap(std::uint32_t source, std::uint64_t first, Why why) noexcept {
  const auto* const before = ring_.pushed(sources_[source].gap_in_ring);
  return before != nullptr && before->why == why && sum_of(before->first, before->count) == first;
}

void Inbox::put_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why, bool counts) {
  auto& latest = sources_[source].gap_in_ring;
  if (continues_gap(source, first, why)) {
    auto& before = *ring_.pushed(latest);
    before.count = sum_of(before.count, count);
    return;
  }
  if (counts) ++gaps_;
  latest = ring_.push(
      {.first = first, .count = count, .source = source, .kind = Kind::missed, .why = why, .counts = counts});
}

bool Inbox::push(std::span<const ItemRef> items, std::uint32_t source, Room room) {
  const std::scoped_lock lock(mutex_);
  const bool open = !closed_ && !ended_;
  for (const auto& item : items) {
    if (room == Room::reserved) {
      --reserved_;
      reserved_bytes_ -= item->size;
    }
    push_one(ItemRef(item.get()), source, room);
  }
  return open && wanted();
}

void Inbox::push_one(ItemRef item, std::uint32_t source, Room room) {
  if (closed_ || ended_) [[unlikely]]
    return;
  const std::size_t size = item->size;
  if (room == Room::look && !has_room(size)) [[unlikely]] {
    switch (bounds_.overflow) {
      case Overflow::drop_oldest:
        drop_oldest(size);
        break;
      case Overflow::drop_newest:
      case Overflow::block:  // it is not waited for any more
        ++dropped_;
        return put_gap(source, item->sequence, 1, Why::dropped, false);
      case Overflow::disconnect:
        return disconnect();  // before this message, which it has not dropped
    }
  }
  ++messages_;
  bytes_ += size;
  ring_.push({.item = std::move(item), .source = source});
}

void Inbox::disconnect() {
  ended_ = true;
  why_ = mf::detail::shared(
      not_executed(Code::overloaded, "the subscriber does not keep up: its queue of " +
                                         std::to_string(bounds_.max_messages) + " messages and " +
                                         std::to_string(bounds_.max_bytes) +
                                         " bytes is full, and it asked to be disconnected then"));
}

bool Inbox::push_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why, Room room) {
  const std::scoped_lock lock(mutex_);
  if (room == Room::reserved) --reserved_;
  if (closed_ || ended_) return false;
  if (room == Room::look && !continues_gap(source, first, why) && !has_room(0)) {
    switch (bounds_.overflow) {
      case Overflow::drop_oldest:
        drop_oldest(0);
        break;
      case Overflow::drop_newest:
      case Overflow::block:
        dropped_ = sum_of(dropped_, count);
        put_gap(source, first, count, Why::dropped, false);
        return wanted();
      case Overflow::disconnect:
        disconnect();
        return wanted();
    }
  }
  if (why == Why::not_kept) not_kept_ = sum_of(not_kept_, count);
  put_gap(source, first, count, why, true);
  return wanted();
}

bool Inbox::push_ended(std::uint32_t source) {
  const std::scoped_lock lock(mutex_);
  if (closed_ || ended_) return false;
  ring_.push({.source = source, .kind = Kind::ended});
  return wanted();
}

void Inbox::cut(std::shared_ptr<const Failure> why) {
  UniqueFunction<void()> cut;
  Rooms rooms;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || (ended_ && why_)) return;
    ended_ = true;
    why_ = std::move(why);
    rooms = release_rooms();
    cut = std::exchange(cut_, nullptr);
  }
  if (cut) {
    cut();
  } else {
    wake();
  }
  for (auto& [size, room] : rooms) room();
}

void Inbox::when_cut(UniqueFunction<void()> cut) {
  const std::scoped_lock lock(mutex_);
  cut_ = std::move(cut);
}

bool Inbox::end(std::shared_ptr<const Failure> why) {
  Rooms rooms;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(ended_, true)) return false;
    why_ = std::move(why);
    rooms = release_rooms();
    wake = wanted();
  }
  for (auto& [size, room] : rooms) room();
  return wake;
}

/// No caller waits for room any more.
Inbox::Rooms Inbox::release_rooms() {
  for (const auto& [size, waiter] : room_waiters_) waiter->finish();
  room_waiters_.clear();
  return std::exchange(rooms_, {});
}

void Inbox::wake() {
  UniqueFunction<void()> ready;
  {
    const std::scoped_lock lock(mutex_);
    if (says_nothing()) return;
    if (!waiters_.empty()) {
      waiters_.back()->finish();
      waiters_.pop_back();
    }
    ready = std::exchange(ready_, nullptr);
  }
  if (ready) ready();
}

std::size_t Inbox::reserve(std::span<const ItemRef> items) {
  const std::scoped_lock lock(mutex_);
  std::size_t count = 0;
  for (const auto& item : items) {
    if (!closed_ && !ended_ && !has_room(item->size)) break;
    ++reserved_;
    reserved_bytes_ += item->size;
    ++count;
  }
  return count;
}

void Inbox::unreserve(std::span<const ItemRef> items) {
  const std::scoped_lock lock(mutex_);
  reserved_ -= items.size();
  for (const auto& item : items) reserved_bytes_ -= item->size;
}

bool Inbox::room_for(std::size_t size) const {
  const std::scoped_lock lock(mutex_);
  return closed_ || ended_ || has_room(size);
}

bool Inbox::wait_for_room(std::size_t size, TimePoint until,
                          std::optional<std::chrono::milliseconds> stall_timeout) {
  link::Waiter waiter;
  auto wake_at = until;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || ended_ || has_room(size)) return true;
    room_waiters_.emplace_back(size, &waiter);
    if (waited_since_ == TimePoint{}) waited_since_ = mf::now();
    if (stall_timeout) wake_at = std::min(until, deadline_after(waited_since_, *stall_timeout));
  }
  waiter.wait_until(wake_at);
  auto stalled_at = kNever;
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(room_waiters_, [&](const auto& each) { return each.second == &waiter; });
    if (closed_ || ended_ || has_room(size)) return true;
    if (stall_timeout && waited_since_ != TimePoint{})
      stalled_at = deadline_after(waited_since_, *stall_timeout);
  }
  if (mf::now() < stalled_at) return false;  // kNever, or something was taken meanwhile
  cut_stalled(*stall_timeout);
  return true;
}

void Inbox::cut_stalled(std::chrono::milliseconds timeout) {
  cut(mf::detail::shared(not_executed(
      Code::overloaded, "the subscriber has taken nothing for " + std::to_string(timeout.count()) +
                            " ms while the publisher waited for room in its queue")));
}

void Inbox::when_room(std::size_t size, UniqueFunction<void()> room) {
  {
    const std::scoped_lock lock(mutex_);
    if (!closed_ && !ended_ && !has_room(size)) {
      rooms_.emplace_back(size, std::move(room));
      if (waited_since_ == TimePoint{}) waited_since_ = mf::now();
      return;
    }
  }
  room();
}

TimePoint Inbox::waited_since() const {
  const std::scoped_lock lock(mutex_);
  return waited_since_ != TimePoint{} ? waited_since_ : mf::now();
}

bool Inbox::watch() {
  const std::scoped_lock lock(mutex_);
  return !std::exchange(watched_, true);
}

bool Inbox::still_awaited() {
  const std::scoped_lock lock(mutex_);
  watched_ = watched_ && room_wanted();
  return watched_;
}

void Inbox::look_again() {
  Rooms rooms;
  {
    const std::scoped_lock lock(mutex_);
    rooms = release_rooms();
    waited_since_ = {};
  }
  for (auto& [size, room] : rooms) room();
}

void Inbox::give_way() {
  {
    const std::scoped_lock lock(mutex_);
    watched_ = false;
    gives_way_.store(true, std::memory_order_relaxed);
  }
  look_again();
}

Inbox::Got Inbox::take_one(Entry& into) {
  if (!front_.empty()) [[unlikely]] {
    into = std::move(front_.front());
    front_.pop_front();
    ++front_taken_;
  } else if (ring_.empty()) {
    return ended_ || closed_ ? Got::ended : Got::nothing;
  } else {
    into = pop();
    if (into.kind == Kind::message) ++delivered_;
  }
  if (into.kind == Kind::ended) spent_.push_back(into.source);
  return Got::entry;
}

/// Something was taken: all that wait for room are notified once there is enough, without the lock where a
/// function is to run. All, since the first of them may have nothing to put here, or wait for another inbox.
void Inbox::release_room(Lock& lock) {
  const bool over = closed_ || ended_;
  std::erase_if(room_waiters_, [&](const auto& each) {
    if (!over && !has_more_room(each.first, kMoreForThreads)) return false;
    each.second->finish();
    return true;
  });
  const auto ready = std::partition(rooms_.begin(), rooms_.end(), [&](const auto& each) {
    return !over && !has_more_room(each.first, kMoreForCallbacks);
  });
  Rooms rooms(std::make_move_iterator(ready), std::make_move_iterator(rooms_.end()));
  rooms_.erase(ready, rooms_.end());
  if (room_waiters_.empty() && rooms_.empty()) waited_since_ = {};
  if (has_more_room(0, kMoreForCallbacks)) gives_way_.store(false, std::memory_order_relaxed);
  if (rooms.empty()) return;
  lock.unlock();
  for (auto& [size, room] : rooms) room();
}

Inbox::Got Inbox::take(Entry& into) {
  Lock lock(mutex_);
  const auto got = take_one(into);
  if (got == Got::entry && (room_wanted() || gives_way_.load(std::memory_order_relaxed))) [[unlikely]] {
    if (watched_) waited_since_ = mf::now();
    release_room(lock);
  }
  return got;
}

std::size_t Inbox::take_some(std::vector<Entry>& into, std::size_t most, Got& got) {
  std::size_t count = 0;
  Lock lock(mutex_);
  got = Got::entry;
  while (count < most) {
    if (count == into.size()) into.emplace_back();
    got = take_one(into[count]);
    if (got != Got::entry) break;
    ++count;
  }
  if (count != 0 && (room_wanted() || gives_way_.load(std::memory_order_relaxed))) [[unlikely]] {
    if (room_wanted()) waited_since_ = mf::now();
    release_room(lock);
  }
  return count;
}

Inbox::Got Inbox::wait(Entry& into, TimePoint until) {
  for (;;) {
    if (const auto got = take(into); got != Got::nothing) return got;
    if (until != kNever && mf::now() >= until) return Got::nothing;
    link::Waiter waiter;
    {
      const std::scoped_lock lock(mutex_);
      if (!says_nothing()) continue;
      waiters_.push_back(&waiter);
    }
    waiter.wait_until(until);
    const std::scoped_lock lock(mutex_);
    std::erase(waiters_, &waiter);
  }
}

void Inbox::when_ready(UniqueFunction<void()> ready) {
  {
    const std::scoped_lock lock(mutex_);
    if (says_nothing()) {
      ready_ = std::move(ready);
      return;
    }
  }
  ready();
}

void Inbox::count_undeliverable() {
  const std::scoped_lock lock(mutex_);
  --delivered_;
  ++dropped_;
}

void Inbox::close() {
  Ring dropped;  // the last users of items may be here, and their ends may be slow
  UniqueFunction<void()> ready;
  Rooms rooms;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    std::swap(dropped, ring_);
    front_taken_ += front_.size();
    front_.clear();
    cut_ = nullptr;
    dropped_ += messages_;
    messages_ = gaps_ = bytes_ = 0;
    for (auto* const waiter : waiters_) waiter->finish();
    waiters_.clear();
    ready = std::exchange(ready_, nullptr);
    rooms = release_rooms();
  }
  if (ready) ready();
  for (auto& [size, room] : rooms) room();
}

SubscriptionStats Inbox::subscription() const {
  const auto now = figures();
  SubscriptionStats stats{.peer = peer_,
                          .agents = agents_,
                          .overflow = bounds_.overflow,
                          .delivered = now.delivered,
                          .dropped = now.dropped,
                          .not_kept = now.not_kept,
                          .queued = now.queued,
                          .queued_bytes = now.bytes};
  if (const auto failure = why(); failure && failure->code != Code::shutting_down) stats.why = *failure;
  return stats;
}

std::string Inbox::owner_text() const {
  auto text = peer_.empty() ? "in this process" : "at " + peer_;
  if (!agents_.empty()) text += " for \"" + shortened(agents_) + '"';
  return text;
}

std::string Inbox::content_text() const {
  const std::scoped_lock lock(mutex_);
  return std::to_string(messages_ + gaps_) + " of " + std::to_string(bounds_.max_messages) +
         " messages and " + std::to_string(bytes_) + " of " + std::to_string(bounds_.max_bytes) + " bytes";
}

bool Inbox::ended() const {
  const std::scoped_lock lock(mutex_);
  return ended_ || closed_;
}

std::shared_ptr<const Failure> Inbox::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

std::shared_ptr<const Origin> Inbox::origin(std::uint32_t source) const {
  const std::scoped_lock lock(mutex_);
  return sources_[source].origin;
}

Inbox::Figures Inbox::figures() const {
  const std::scoped_lock lock(mutex_);
  return {.delivered = delivered_,
          .dropped = dropped_,
          .not_kept = not_kept_,
          .queued = messages_,
          .bytes = bytes_};
}

}  // namespace mf::topics
