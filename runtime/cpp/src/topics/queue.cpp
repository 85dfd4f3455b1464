#include "mf/topics/queue.hpp"

#include <algorithm>
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
// So many sources stay what they were after their ends: whoever has taken entries of them may still look.
constexpr std::size_t kSpent = 1'024;
constexpr std::size_t kCrowd = 1U << 17U;

template <class Bound>
Bound within(Bound asked, Bound most) noexcept {
  return asked == 0 ? most : std::min(asked, most);
}

}  // namespace

Queue::Queue(const Bounds& wanted, const TopicsOptions& most)
    : Queue({.max_messages = within(wanted.max_messages, most.max_messages),
             .max_bytes = within(wanted.max_bytes, most.max_bytes),
             .overflow = wanted.overflow}) {}

void Queue::Ring::grow() {
  std::vector<Entry> larger(std::max<std::size_t>(16, slots_.size() * 2));
  const auto count = size();
  for (std::size_t i = 0; i < count; ++i) larger[i] = std::move(slots_[(begin_ + i) & (slots_.size() - 1)]);
  slots_ = std::move(larger);
  begin_ = 0;
  end_ = count;
}

std::uint32_t Queue::add_source(std::shared_ptr<const Origin> origin, std::uint64_t next,
                                std::uint64_t live) {
  const std::scoped_lock lock(mutex_);
  const auto number = static_cast<std::uint32_t>(sources_.size());
  sources_.push_back({.origin = std::move(origin)});
  tell_source(number, next, live);
  return number;
}

std::uint32_t Queue::reuse_source(std::shared_ptr<const Origin> origin, std::uint64_t next,
                                  std::uint64_t live) {
  {
    const std::scoped_lock lock(mutex_);
    if (spent_.size() > kSpent) {
      const auto number = spent_.front();
      spent_.pop_front();
      std::swap(sources_[number].origin, origin);
      tell_source(number, next, live);
      return number;
    }
  }
  return add_source(std::move(origin), next, live);
}

void Queue::tell_source(std::uint32_t source, std::uint64_t next, std::uint64_t live) {
  if (!closed_ && !ended_)
    ring_.push({.first = next, .count = std::max(next, live) - next, .source = source, .kind = Kind::source});
}

bool Queue::crowded() const {
  const std::scoped_lock lock(mutex_);
  return ring_.size() - messages_ + urgent_.size() > kCrowd;
}

void Queue::miss(std::uint32_t source, std::uint64_t sequence) {
  auto& of = sources_[source];
  if (of.missed++ == 0) {
    of.missed_from = sequence;
    missing_.push_back(source);
  }
  ++dropped_;
}

void Queue::tell_missed(std::uint32_t source, Entry& into) {
  auto& of = sources_[source];
  into = {.first = of.missed_from,
          .count = std::exchange(of.missed, 0),
          .source = source,
          .kind = Kind::missed,
          .why = Why::dropped};
}

// Events that stood before a dropped message stay, and are told first; what is missed of their source before
// them even before them.
void Queue::drop_oldest(std::size_t size) {
  while (!has_room(size) && !ring_.empty()) {
    auto oldest = ring_.pop();
    leaves(oldest);
    if (oldest.kind == Kind::message) {
      bytes_ -= oldest.item->size;
      miss(oldest.source, oldest.item->sequence);
      continue;
    }
    if (sources_[oldest.source].missed != 0) {
      Entry missed;
      tell_missed(oldest.source, missed);
      std::erase(missing_, oldest.source);
      put_urgent_gap(std::move(missed));
    }
    if (oldest.kind == Kind::missed) {
      put_urgent_gap(std::move(oldest));
    } else {
      sources_[oldest.source].urgent = 0;  // later gaps come after this entry
      urgent_.push_back(std::move(oldest));
    }
  }
}

/// A gap that follows the latest one of its source becomes part of it: a queue that is not emptied must not
/// grow. Where their reasons differ and there are many already, all of them count as dropped.
void Queue::put_urgent_gap(Entry&& gap) {
  auto& of = sources_[gap.source];
  if (of.urgent > urgent_taken_) {
    auto& before = urgent_[of.urgent - urgent_taken_ - 1];
    const bool many = urgent_.size() >= bounds_.max_messages;
    if (sum_of(before.first, before.count) == gap.first && (before.why == gap.why || many)) {
      if (before.why != gap.why) before.why = Why::dropped;
      before.count = sum_of(before.count, gap.count);
      return;
    }
  }
  urgent_.push_back(std::move(gap));
  of.urgent = urgent_taken_ + urgent_.size();
}

void Queue::leaves(const Entry& entry) noexcept {
  if (entry.kind == Kind::message || entry.kind == Kind::missed) --messages_;
  if (entry.kind == Kind::missed) --gaps_;
}

bool Queue::push(std::span<const ItemRef> items, std::uint32_t source, bool reserved, bool kept) {
  const bool anyhow =
      kept && (bounds_.overflow == Overflow::block || bounds_.overflow == Overflow::disconnect);
  const std::scoped_lock lock(mutex_);
  const bool open = !closed_ && !ended_;
  for (const auto& item : items) {
    if (reserved && reserved_ != 0) {
      --reserved_;
      reserved_bytes_ -= item->size;
    }
    push_one(ItemRef(item.get()), source, anyhow);
  }
  return open && wanted();
}

void Queue::push_one(ItemRef item, std::uint32_t source, bool anyhow) {
  if (closed_ || ended_) [[unlikely]]
    return;
  const std::size_t size = item->size;
  if (!anyhow && !has_room(size)) [[unlikely]] {
    switch (bounds_.overflow) {
      case Overflow::drop_oldest:
        drop_oldest(size);
        break;
      case Overflow::drop_newest:
      case Overflow::block:  // who does not wait for room, drops
        return miss(source, item->sequence);
      case Overflow::disconnect:
        return disconnect();  // before this message, which it has not dropped
    }
  }
  tell_missed_before(source);
  ++messages_;
  bytes_ += size;
  ring_.push({.item = std::move(item), .source = source});
}

/// What was dropped of the newest stands before what is pushed next.
void Queue::tell_missed_before(std::uint32_t source) {
  if (bounds_.overflow == Overflow::drop_oldest || missing_.empty() || sources_[source].missed == 0)
      [[likely]]
    return;
  Entry missed;
  tell_missed(source, missed);
  std::erase(missing_, source);
  ++messages_;
  ++gaps_;
  ring_.push(std::move(missed));
}

void Queue::disconnect() {
  ended_ = true;
  why_ = mf::detail::shared(
      not_executed(Code::overloaded, "the subscriber does not keep up: its queue of " +
                                         std::to_string(bounds_.max_messages) + " messages and " +
                                         std::to_string(bounds_.max_bytes) +
                                         " bytes is full, and it asked to be disconnected then"));
}

bool Queue::push_missed(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why,
                        bool reserved) {
  const std::scoped_lock lock(mutex_);
  if (reserved && reserved_ != 0) --reserved_;
  if (closed_ || ended_) return false;
  ++messages_;
  ++gaps_;
  if (why == Why::not_kept) not_kept_ = sum_of(not_kept_, count);
  ring_.push({.first = first, .count = count, .source = source, .kind = Kind::missed, .why = why});
  return wanted();
}

bool Queue::push_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why, bool reserved) {
  {
    const std::scoped_lock lock(mutex_);
    if (!reserved && !closed_ && !ended_ && !has_room(0)) {
      auto& of = sources_[source];
      switch (bounds_.overflow) {
        case Overflow::drop_oldest:
          drop_oldest(0);
          break;
        case Overflow::drop_newest:
        case Overflow::block:
          if (of.missed == 0) {
            of.missed_from = first;
            missing_.push_back(source);
          }
          of.missed = sum_of(of.missed, count);
          dropped_ = sum_of(dropped_, count);
          return wanted();
        case Overflow::disconnect:
          disconnect();
          return wanted();
      }
    }
    if (!closed_ && !ended_) tell_missed_before(source);
  }
  return push_missed(source, first, count, why, reserved);
}

bool Queue::push_ended(std::uint32_t source) {
  const std::scoped_lock lock(mutex_);
  if (closed_ || ended_) return false;
  tell_missed_before(source);
  ring_.push({.source = source, .kind = Kind::ended});
  return wanted();
}

void Queue::cut(std::shared_ptr<const Failure> why) {
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

void Queue::when_cut(UniqueFunction<void()> cut) {
  const std::scoped_lock lock(mutex_);
  cut_ = std::move(cut);
}

bool Queue::end(std::shared_ptr<const Failure> why) {
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

/// Nobody waits for room any more.
Queue::Rooms Queue::release_rooms() {
  for (const auto& [size, waiter] : room_waiters_) waiter->finish();
  room_waiters_.clear();
  return std::exchange(rooms_, {});
}

void Queue::wake() {
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

std::size_t Queue::reserve(std::span<const ItemRef> items) {
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

void Queue::unreserve(std::span<const ItemRef> items) {
  const std::scoped_lock lock(mutex_);
  reserved_ -= items.size();
  for (const auto& item : items) reserved_bytes_ -= item->size;
}

bool Queue::room_for(std::size_t size) const {
  const std::scoped_lock lock(mutex_);
  return closed_ || ended_ || has_room(size);
}

bool Queue::reserve_gap() {
  const std::scoped_lock lock(mutex_);
  if (!closed_ && !ended_ && !has_room(0)) return false;
  ++reserved_;
  return true;
}

void Queue::unreserve_gap() {
  const std::scoped_lock lock(mutex_);
  --reserved_;
}

bool Queue::wait_for_room(std::size_t size, TimePoint until) {
  link::Waiter waiter;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || ended_ || has_room(size)) return true;
    room_waiters_.emplace_back(size, &waiter);
    if (waited_since_ == TimePoint{}) waited_since_ = mf::now();
  }
  waiter.wait_until(until);
  const std::scoped_lock lock(mutex_);
  std::erase_if(room_waiters_, [&](const auto& each) { return each.second == &waiter; });
  return closed_ || ended_ || has_room(size);
}

void Queue::when_room(std::size_t size, UniqueFunction<void()> room) {
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

TimePoint Queue::waited_since() const {
  const std::scoped_lock lock(mutex_);
  return waited_since_ != TimePoint{} ? waited_since_ : mf::now();
}

bool Queue::awaited() const {
  const std::scoped_lock lock(mutex_);
  return room_wanted();
}

void Queue::look_again() {
  Rooms rooms;
  {
    const std::scoped_lock lock(mutex_);
    rooms = release_rooms();
    waited_since_ = {};
  }
  for (auto& [size, room] : rooms) room();
}

void Queue::give_way() {
  gives_way_.store(true, std::memory_order_relaxed);
  look_again();
}

Queue::Got Queue::take(Entry& into, Lock& /*lock*/) {
  if (!urgent_.empty()) [[unlikely]] {
    into = std::move(urgent_.front());
    urgent_.pop_front();
    ++urgent_taken_;
    return Got::entry;
  }
  // Of sources whose first entry is still in the ring nothing was dropped from its front.
  if (!missing_.empty() && (ring_.empty() || bounds_.overflow == Overflow::drop_oldest)) [[unlikely]] {
    tell_missed(missing_.back(), into);
    missing_.pop_back();
    return Got::entry;
  }
  if (ring_.empty()) return ended_ || closed_ ? Got::ended : Got::nothing;
  into = ring_.pop();
  leaves(into);
  if (into.kind == Kind::message) {
    bytes_ -= into.item->size;
    ++delivered_;
  } else if (into.kind == Kind::ended) {
    spent_.push_back(into.source);
  }
  return Got::entry;
}

/// Something was taken: who waits for room learns of it once there is enough, without the lock where a
/// function is to run.
void Queue::release_room(Lock& lock) {
  const bool over = closed_ || ended_;
  std::erase_if(room_waiters_, [&](const auto& each) {
    if (!over && !has_more_room(each.first, kMoreForThreads)) return false;
    each.second->finish();
    return true;
  });
  UniqueFunction<void()> room;
  for (auto each = rooms_.begin(); each != rooms_.end(); ++each) {
    if (!over && !has_more_room(each->first, kMoreForCallbacks)) continue;
    room = std::move(each->second);
    rooms_.erase(each);
    break;
  }
  if (room_waiters_.empty() && rooms_.empty()) waited_since_ = {};
  if (has_more_room(0, kMoreForCallbacks)) gives_way_.store(false, std::memory_order_relaxed);
  if (!room) return;
  lock.unlock();
  room();
}

Queue::Got Queue::take(Entry& into) {
  Lock lock(mutex_);
  const auto got = take(into, lock);
  if (got == Got::entry && (room_wanted() || gives_way_.load(std::memory_order_relaxed))) [[unlikely]]
    release_room(lock);
  return got;
}

std::size_t Queue::take_some(std::vector<Entry>& into, std::size_t most, Got& got) {
  std::size_t count = 0;
  Lock lock(mutex_);
  got = Got::entry;
  while (count < most) {
    if (count == into.size()) into.emplace_back();
    got = take(into[count], lock);
    if (got != Got::entry) break;
    ++count;
  }
  if (count != 0 && (room_wanted() || gives_way_.load(std::memory_order_relaxed))) [[unlikely]] {
    if (room_wanted()) waited_since_ = mf::now();
    release_room(lock);
  }
  return count;
}

Queue::Got Queue::wait(Entry& into, TimePoint until) {
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

void Queue::when_ready(UniqueFunction<void()> ready) {
  {
    const std::scoped_lock lock(mutex_);
    if (says_nothing()) {
      ready_ = std::move(ready);
      return;
    }
  }
  ready();
}

void Queue::count_undeliverable() {
  const std::scoped_lock lock(mutex_);
  --delivered_;
  ++dropped_;
}

void Queue::close() {
  Ring dropped;  // the last users of items may be here, and their ends may be slow
  UniqueFunction<void()> ready;
  Rooms rooms;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    std::swap(dropped, ring_);
    urgent_taken_ += urgent_.size();
    urgent_.clear();
    missing_.clear();
    cut_ = nullptr;
    dropped_ += messages_ - gaps_;
    messages_ = 0;
    gaps_ = 0;
    bytes_ = 0;
    for (auto* const waiter : waiters_) waiter->finish();
    waiters_.clear();
    ready = std::exchange(ready_, nullptr);
    rooms = release_rooms();
  }
  if (ready) ready();
  for (auto& [size, room] : rooms) room();
}

SubscriptionStats Queue::subscription() const {
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

std::string Queue::owner_text() const {
  auto text = peer_.empty() ? "in this process" : "at " + peer_;
  if (!agents_.empty()) text += " for \"" + shortened(agents_) + '"';
  return text;
}

std::string Queue::content_text() const {
  const std::scoped_lock lock(mutex_);
  return std::to_string(messages_) + " of " + std::to_string(bounds_.max_messages) + " messages and " +
         std::to_string(bytes_) + " of " + std::to_string(bounds_.max_bytes) + " bytes";
}

bool Queue::ended() const {
  const std::scoped_lock lock(mutex_);
  return ended_ || closed_;
}

std::shared_ptr<const Failure> Queue::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

std::shared_ptr<const Origin> Queue::origin(std::uint32_t source) const {
  const std::scoped_lock lock(mutex_);
  return sources_[source].origin;
}

Queue::Figures Queue::figures() const {
  const std::scoped_lock lock(mutex_);
  return {.delivered = delivered_,
          .dropped = dropped_,
          .not_kept = not_kept_,
          .queued = messages_ - gaps_,
          .bytes = bytes_};
}

}  // namespace mf::topics
