#include "mf/topics/inbox.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/link/stream.hpp"

namespace mf::topics {
namespace {

// For how many messages there must be room before a waiting publisher is notified: a thread, which costs a
// switch each time, or a function.
constexpr std::uint32_t kMoreForThreads = 256;
constexpr std::uint32_t kMoreForCallbacks = 64;
// So many sources stay what they were after their ends: a reader of their entries may still look.
constexpr std::size_t kSpent = 1'024;
constexpr std::size_t kCrowd = 1U << 17U;
// So many messages take() takes out of the ring at once, and at most this part of the bounds.
constexpr std::size_t kBatch = 64;
constexpr std::size_t kBatchPart = 16;
// So often, for about two microseconds, a thread looks for more before it sleeps: to wake it costs as much as
// that. Where that was in vain, up to so many times in a row, threads sleep 2, 4, 8, … times without.
constexpr int kLooks = 100;
constexpr std::uint32_t kMostInVain = 8;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Bound>
Bound within(Bound asked, Bound most) noexcept {
  return asked == 0 ? most : std::min(asked, most);
}

}  // namespace

Inbox::Inbox(const Bounds& bounds) : bounds_(bounds) {}

Inbox::~Inbox() = default;

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
    put({.first = next, .count = std::max(next, live) - next, .source = number, .kind = Kind::source});
  charge();
  return number;
}

void Inbox::charge_to(link::StreamPort& port) {
  const std::scoped_lock lock(mutex_);
  charge_ = std::make_unique<link::StreamCharge>(port);
  charge();
}

void Inbox::charge() noexcept {
  if (charge_) charge_->set(bytes_ + batch_bytes() + (ring_.size() + front_.size()) * sizeof(Entry));
}

bool Inbox::crowded() const {
  const std::scoped_lock lock(mutex_);
  return ring_.size() - messages_ - gaps_ + front_.size() > kCrowd;
}

std::uint64_t Inbox::put(Entry&& entry) {
  const auto count = ring_.push(std::move(entry));
  pushes_.store(count, std::memory_order_relaxed);
  return count;
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
  latest = put(
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
  charge();
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
  put({.item = std::move(item), .source = source});
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
  charge();
  return wanted();
}

bool Inbox::push_ended(std::uint32_t source) {
  const std::scoped_lock lock(mutex_);
  if (closed_ || ended_) return false;
  put({.source = source, .kind = Kind::ended});
  charge();
  return wanted();
}

void Inbox::cut(std::shared_ptr<const Failure> why) {
  UniqueFunction<void()> cut;
  RoomWaits waits;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || (ended_ && why_)) return;
    ended_ = true;
    why_ = std::move(why);
    waits = release_waits(true);
    cut = std::exchange(cut_, nullptr);
  }
  if (cut) {
    cut();
  } else {
    wake();
  }
  notify(std::move(waits));
}

void Inbox::when_cut(UniqueFunction<void()> cut) {
  const std::scoped_lock lock(mutex_);
  cut_ = std::move(cut);
}

bool Inbox::end(std::shared_ptr<const Failure> why) {
  RoomWaits waits;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(ended_, true)) return false;
    why_ = std::move(why);
    waits = release_waits(true);
    wake = wanted();
  }
  notify(std::move(waits));
  return wake;
}

/// Returns the waiting publishers that have enough room, or all. The caller notifies them without the lock.
Inbox::RoomWaits Inbox::release_waits(bool all) {
  const auto over = std::partition(room_waits_.begin(), room_waits_.end(), [&](const RoomWait& each) {
    return !all && !has_more_room(each.size, each.thread ? kMoreForThreads : kMoreForCallbacks);
  });
  RoomWaits released(std::make_move_iterator(over), std::make_move_iterator(room_waits_.end()));
  room_waits_.erase(over, room_waits_.end());
  return released;
}

void Inbox::notify(RoomWaits&& waits) {
  for (auto& each : waits) {
    if (each.thread) {
      each.thread->finish();
    } else {
      each.call();
    }
  }
}

// A thread that was woken wants the lock at once, so that it is woken without it.
void Inbox::wake() {
  std::shared_ptr<link::Waiter> waiter;
  UniqueFunction<void()> ready;
  {
    const std::scoped_lock lock(mutex_);
    if (says_nothing()) return;
    if (!waiters_.empty()) {
      waiter = std::move(waiters_.back());
      waiters_.pop_back();
    }
    ready = std::exchange(ready_, nullptr);
  }
  if (waiter) waiter->finish();
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

std::size_t Inbox::push_fitting(std::span<ItemRef> items, std::uint32_t source, bool& woken) {
  const std::scoped_lock lock(mutex_);
  const bool open = !closed_ && !ended_;
  std::size_t count = 0;
  for (; count != items.size() && (!open || has_room(items[count]->size)); ++count)
    push_one(std::move(items[count]), source, Room::beyond);
  charge();
  woken = open && count != 0 && wanted();
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
  const auto waiter = std::make_shared<link::Waiter>();
  auto wake_at = until;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || ended_ || has_room(size)) return true;
    begin_wait({.size = size, .thread = waiter});
    if (stall_timeout) wake_at = std::min(until, deadline_after(waited_since_, *stall_timeout));
  }
  waiter->wait_until(wake_at);
  auto stalled_at = kNever;
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(room_waits_, [&](const RoomWait& each) { return each.thread == waiter; });
    if (closed_ || ended_ || has_room(size)) return true;
    if (stall_timeout && waited_since_ != TimePoint{})
      stalled_at = deadline_after(waited_since_, *stall_timeout);
  }
  if (mf::now() < stalled_at) return false;  // kNever, or something was taken meanwhile
  cut_stalled(*stall_timeout);
  return true;
}

void Inbox::begin_wait(RoomWait&& wait) {
  room_waits_.push_back(std::move(wait));
  if (waited_since_ != TimePoint{}) return;
  waited_since_ = mf::now();
  waited_delivered_ = delivered();
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
      begin_wait({.size = size, .call = std::move(room)});
      return;
    }
  }
  room();
}

TimePoint Inbox::waited_since() {
  const std::scoped_lock lock(mutex_);
  if (waited_since_ == TimePoint{}) return mf::now();
  if (std::exchange(waited_delivered_, delivered()) != delivered()) waited_since_ = mf::now();
  return waited_since_;
}

bool Inbox::watch() {
  const std::scoped_lock lock(mutex_);
  return !std::exchange(watched_, true);
}

bool Inbox::still_awaited() {
  const std::scoped_lock lock(mutex_);
  watched_ = watched_ && waited_since_ != TimePoint{};
  return watched_;
}

void Inbox::look_again() {
  RoomWaits waits;
  {
    const std::scoped_lock lock(mutex_);
    waits = release_waits(true);
    waited_since_ = {};
  }
  notify(std::move(waits));
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
  auto waits = release_waits(closed_ || ended_);
  if (room_waits_.empty()) waited_since_ = {};
  if (has_more_room(0, kMoreForCallbacks)) gives_way_.store(false, std::memory_order_relaxed);
  lock.unlock();
  notify(std::move(waits));
}

Inbox::Got Inbox::take(Entry& into) {
  auto got = Got::entry;
  Lock lock(mutex_, std::defer_lock);
  {
    const std::scoped_lock taking(taking_);
    if (!batch_.empty()) {
      take_from_batch(into);
      if (!batch_.empty()) return got;
      lock.lock();
    } else {
      lock.lock();
      got = take_one(into);
      if (got != Got::entry) return got;
      if (into.kind == Kind::message) fill_batch();
    }
  }
  if (room_wanted()) [[unlikely]]
    release_room(lock);
  return got;
}

void Inbox::take_from_batch(Entry& into) {
  into = std::move(batch_.entries[batch_.next++]);
  in_batch_.store(in_batch() - 1, std::memory_order_relaxed);
  batch_bytes_.store(batch_bytes() - into.item->size, std::memory_order_relaxed);
}

/// One message was taken: those that follow it, up to a part of the bounds.
void Inbox::fill_batch() {
  batch_.entries.clear();
  batch_.next = 0;
  const auto most = std::min<std::size_t>(kBatch, bounds_.max_messages / kBatchPart);
  std::size_t bytes = 0;
  while (batch_.entries.size() + 1 < most && front_.empty() && !ring_.empty()) {
    const auto& next = ring_.front();
    if (next.kind != Kind::message || bytes + next.item->size > bounds_.max_bytes / kBatchPart) break;
    bytes += next.item->size;
    batch_.entries.push_back(pop());
  }
  delivered_ += batch_.entries.size();
  in_batch_.store(batch_.entries.size(), std::memory_order_relaxed);
  batch_bytes_.store(bytes, std::memory_order_relaxed);
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
  charge();
  if (count != 0 && room_wanted()) [[unlikely]] {
    if (waited_since_ != TimePoint{}) waited_since_ = mf::now();
    release_room(lock);
  }
  return count;
}

/// Looks for a while whether something was pushed; not where that was mostly in vain.
bool Inbox::comes_soon(std::uint64_t pushes) {
  if (const auto next = next_look_.load(std::memory_order_relaxed); next != 0) {
    next_look_.store(next - 1, std::memory_order_relaxed);
    return false;
  }
  for (int i = 0; i < kLooks; ++i) {
    if (pushes_.load(std::memory_order_relaxed) != pushes) {
      in_vain_.store(0, std::memory_order_relaxed);
      return true;
    }
    pause();
  }
  const auto in_vain = std::min(in_vain_.load(std::memory_order_relaxed) + 1, kMostInVain);
  in_vain_.store(in_vain, std::memory_order_relaxed);
  next_look_.store(1U << in_vain, std::memory_order_relaxed);
  return false;
}

Inbox::Got Inbox::wait(Entry& into, TimePoint until) {
  for (;;) {
    const auto pushes = pushes_.load(std::memory_order_relaxed);
    if (const auto got = take(into); got != Got::nothing) return got;
    if (until != kNever && mf::now() >= until) return Got::nothing;
    if (comes_soon(pushes)) continue;
    const auto waiter = std::make_shared<link::Waiter>();
    {
      const std::scoped_lock lock(mutex_);
      if (!says_nothing()) continue;
      waiters_.push_back(waiter);
    }
    waiter->wait_until(until);
    if (waiter->done()) continue;
    const std::scoped_lock lock(mutex_);
    std::erase(waiters_, waiter);
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
  Batch batch;
  std::vector<std::shared_ptr<link::Waiter>> waiters;
  UniqueFunction<void()> ready;
  RoomWaits waits;
  {
    const std::scoped_lock lock(taking_, mutex_);
    if (std::exchange(closed_, true)) return;
    std::swap(dropped, ring_);
    std::swap(batch, batch_);
    front_taken_ += front_.size();
    front_.clear();
    cut_ = nullptr;
    dropped_ += messages_ + in_batch();
    delivered_ = delivered();
    messages_ = gaps_ = bytes_ = 0;
    in_batch_ = batch_bytes_ = 0;
    charge_.reset();
    waiters.swap(waiters_);
    ready = std::exchange(ready_, nullptr);
    waits = release_waits(true);
  }
  for (const auto& waiter : waiters) waiter->finish();
  if (ready) ready();
  notify(std::move(waits));
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
  return std::to_string(messages_ + in_batch() + gaps_) + " of " + std::to_string(bounds_.max_messages) +
         " messages and " + std::to_string(bytes_ + batch_bytes()) + " of " +
         std::to_string(bounds_.max_bytes) + " bytes";
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
  const auto in_batch = this->in_batch();
  return {.delivered = delivered_ - in_batch,
          .dropped = dropped_,
          .not_kept = not_kept_,
          .queued = messages_ + in_batch,
          .bytes = bytes_ + batch_bytes(),
          .capacity = ring_.capacity()};
}

}  // namespace mf::topics
