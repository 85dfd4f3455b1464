// The queue of one subscription: messages, gaps, and the beginnings and ends of their sources. It is bounded
// in messages and bytes; its policy (Overflow) decides about messages for which there is no room.
//
// Order, for each source: first `source`, then its messages and gaps, by their numbers. A gap is a message
// without a size: one that is pushed counts as a message, and the policy applies to it. What the inbox itself
// drops becomes a gap in the same place: the newest at the tail, the oldest before all that waits. Gaps that
// follow each other are one entry, so that there are no more of them than messages and sources.
//
// Thread-safe. push() is called with the lock of a source held, so that nothing slow happens in it: threads
// are woken by wake(), which is called without that lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/flag.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/waiter.hpp"
#include "mf/topics.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"

namespace mf::link {
class StreamCharge;
class StreamPort;
}  // namespace mf::link

namespace mf::topics {

/// Adds to a count of messages that a peer has reported. The peer may report any number.
inline std::uint64_t sum_of(std::uint64_t sum, std::uint64_t count) noexcept {
  return sum > UINT64_MAX - count ? UINT64_MAX : sum + count;
}

class Inbox {
 public:
  enum class Kind : std::uint8_t { message, source, missed, ended };
  struct Entry {
    ItemRef item{};           // message: the item
    std::uint64_t first = 0;  // source: the number of its next message
    std::uint64_t count = 0;  // source: how many messages are replayed
    std::uint32_t source = 0;
    Kind kind = Kind::message;
    Why why = Why::dropped;
    bool counts = false;  // missed: it counts as a message
  };
  /// Where the room for an entry comes from: it is looked for, or reserve() has found it, or the entry is
  /// replayed and held by its source anyhow, so that it may go beyond the bounds.
  enum class Room : std::uint8_t { look, reserved, beyond };
  struct Bounds {
    std::uint32_t max_messages = 0;
    std::size_t max_bytes = 0;
    Overflow overflow = Overflow::drop_oldest;
  };
  enum class Got : std::uint8_t { entry, nothing, ended };
  struct Figures {
    std::uint64_t delivered = 0;
    std::uint64_t dropped = 0;
    std::uint64_t not_kept = 0;
    std::size_t queued = 0;
    std::size_t bytes = 0;
    std::size_t capacity = 0;  // for how many entries there is memory
  };

  explicit Inbox(const Bounds& bounds);
  /// The wanted bounds, limited by these options.
  Inbox(const Bounds& wanted, const TopicsOptions& most);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Sets the subscriber that reads the queue: its peer, "" in this process, and its agents as they are
  /// shown. To be called before the queue is filled.
  void belong_to(std::string peer, std::string agents) {
    peer_ = std::move(peer);
    agents_ = std::move(agents);
  }

  /// Charges what is queued to the stream by which it is sent, until the inbox is closed. A message that
  /// waits in several inboxes is charged to each.
  void charge_to(link::StreamPort& port);

  [[nodiscard]] const Bounds& bounds() const noexcept { return bounds_; }
  [[nodiscard]] bool blocks() const noexcept { return bounds_.overflow == Overflow::block; }
  /// It blocks, and the subscribers that share its stream have not given it up (give_way()).
  [[nodiscard]] bool waited_for() const noexcept {
    return blocks() && !gives_way_.load(std::memory_order_relaxed);
  }

  // ---- filling; if one of these returns true, the caller must call wake() ----

  /// Adds a source, whose next message has the number `next`, and whose first message that is not replayed
  /// has `live`; returns the number of the source. `reuse`: it may be that of a source whose end was taken
  /// long ago, so that sources which come and go need no more and more memory.
  std::uint32_t add_source(std::shared_ptr<const Origin> origin, std::uint64_t next, std::uint64_t live,
                           bool reuse = false);
  /// Takes over one reference to each item, which the ItemRefs of the caller do not count.
  [[nodiscard]] bool push(std::span<const ItemRef> items, std::uint32_t source, Room room = Room::look);
  [[nodiscard]] bool push_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why,
                              Room room = Room::look);
  /// True if more sources and ends of sources wait than would for a subscriber that takes its messages.
  [[nodiscard]] bool crowded() const;
  /// The source has ended.
  [[nodiscard]] bool push_ended(std::uint32_t source);
  /// Ends the queue once its entries have been taken; with a failure, if there is one.
  [[nodiscard]] bool end(std::shared_ptr<const Failure> why);
  /// The same, but calls the function of when_cut(), without any lock, to end the subscription at once.
  void cut(std::shared_ptr<const Failure> why);
  /// The same: nothing was taken for this time, in which room was waited for.
  void cut_stalled(std::chrono::milliseconds timeout);
  void wake();

  /// Reserves room for these messages, from the first on; returns for how many there is room. A closed queue
  /// has room for all.
  [[nodiscard]] std::size_t reserve(std::span<const ItemRef> items);
  /// reserve() and push() at once: moves in as many as there is room for, and returns how many. `woken`: what
  /// push() returns.
  [[nodiscard]] std::size_t push_fitting(std::span<ItemRef> items, std::uint32_t source, bool& woken);
  void unreserve(std::span<const ItemRef> items);
  /// Whether there is room for a message of this size now.
  [[nodiscard]] bool room_for(std::size_t size) const;
  /// Waits until several entries were taken, or the queue is closed, or `until`; false if there is no room.
  /// If nothing was taken for `stall_timeout`, the subscription is cut.
  [[nodiscard]] bool wait_for_room(std::size_t size, TimePoint until,
                                   std::optional<std::chrono::milliseconds> stall_timeout = {});
  /// Calls `room` once when there is room for a message of this size and some more, perhaps at once.
  void when_room(std::size_t size, UniqueFunction<void()> room);
  /// Since when a publisher has waited for room without any entry being taken, as far as this was asked
  /// before; else now.
  [[nodiscard]] TimePoint waited_since();
  /// The caller watches for how long room is waited for. False: the inbox is watched already.
  [[nodiscard]] bool watch();
  /// False, and it is not watched any more, if nothing waits for room.
  [[nodiscard]] bool still_awaited();
  /// Calls the functions that wait for room, since it may not be needed any more.
  void look_again();
  /// The same, and until several entries were taken, nothing waits for room in a queue that blocks: messages
  /// without room are dropped.
  void give_way();

  // ---- emptying, by take() and wait(), or by take_some() alone ----

  /// Never waits. Of a large queue it takes several messages at a time; until they are returned they count as
  /// waiting.
  [[nodiscard]] Got take(Entry& into);
  /// The same for up to `most` entries, which have left the queue then; returns their number. If it is 0,
  /// `got` says why.
  std::size_t take_some(std::vector<Entry>& into, std::size_t most, Got& got);
  /// Waits for an entry.
  [[nodiscard]] Got wait(Entry& into, TimePoint until);
  /// Calls `ready` once when take() has an entry or the end, perhaps at once.
  void when_ready(UniqueFunction<void()> ready);
  /// Sets what cut() calls, on its thread.
  void when_cut(UniqueFunction<void()> cut);
  /// Counts the message that was taken last as dropped: it cannot be sent.
  void count_undeliverable();
  /// Drops what is in the queue; it accepts no more entries.
  void close();
  [[nodiscard]] std::shared_ptr<const Failure> why() const;
  /// Nothing more comes into it.
  [[nodiscard]] bool ended() const;
  /// The figures of the subscription whose queue it is. A publisher that ends cuts no subscriber.
  [[nodiscard]] SubscriptionStats subscription() const;
  /// The subscriber as failures name it: "at tcp://192.0.2.1:4711 for \"books\"".
  [[nodiscard]] std::string owner_text() const;
  /// What the queue holds, for failures: "2 of 2 messages and 40 of 8388608 bytes".
  [[nodiscard]] std::string content_text() const;
  [[nodiscard]] std::shared_ptr<const Origin> origin(std::uint32_t source) const;
  [[nodiscard]] Figures figures() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// A thread or a function that waits for room for a message of this size.
  struct RoomWait {
    std::size_t size = 0;
    std::shared_ptr<link::Waiter> thread{};  // it has left the list before it is woken
    UniqueFunction<void()> call{};
  };
  using RoomWaits = std::vector<RoomWait>;
  /// Messages that take() has taken out of the ring at once, and not returned yet.
  struct Batch {
    std::vector<Entry> entries{};
    std::size_t next = 0;
    [[nodiscard]] bool empty() const noexcept { return next == entries.size(); }
  };
  struct Of {
    std::shared_ptr<const Origin> origin;
    // The latest gaps of the source, as how many entries had been pushed there by then; 0: none.
    std::uint64_t gap_in_ring = 0;
    std::uint64_t gap_in_front = 0;
  };
  /// A ring buffer that grows as needed; a large one is freed when it is empty.
  class Ring {
   public:
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    /// For how many entries there is memory.
    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }
    [[nodiscard]] const Entry& front() noexcept { return at(begin_); }
    /// The entry that was pushed as the `count`th; null if it has been taken.
    [[nodiscard]] Entry* pushed(std::uint64_t count) noexcept {
      return count <= begin_ ? nullptr : &at(count - 1);
    }
    /// Returns how many entries have been pushed.
    std::uint64_t push(Entry&& entry) {
      if (size() == slots_.size()) [[unlikely]]
        grow();
      at(end_) = std::move(entry);
      return ++end_;
    }
    Entry pop() {
      Entry entry = std::move(at(begin_));
      if (++begin_ == end_ && slots_.size() > kKept) [[unlikely]]
        std::vector<Entry>().swap(slots_);  // `= {}` would keep its memory
      return entry;
    }

   private:
    static constexpr std::size_t kKept = 4'096;
    [[nodiscard]] Entry& at(std::uint64_t place) noexcept { return slots_[place & (slots_.size() - 1)]; }
    void grow();
    std::vector<Entry> slots_;
    std::uint64_t begin_ = 0;  // how many have been taken
    std::uint64_t end_ = 0;    // how many have been pushed
  };

  [[nodiscard]] std::size_t in_batch() const noexcept { return in_batch_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t batch_bytes() const noexcept {
    return batch_bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t counted() const noexcept { return messages_ + in_batch() + gaps_ + reserved_; }
  [[nodiscard]] bool has_room(std::size_t size) const noexcept {
    return counted() == 0 || (counted() < bounds_.max_messages &&
                              bytes_ + batch_bytes() + reserved_bytes_ + size <= bounds_.max_bytes);
  }
  /// Room for this message and for others that may follow it. A waiting publisher is notified only when there
  /// is that much room, unless the queue is small: to notify it of each message that was taken would cost
  /// more than the messages do.
  [[nodiscard]] bool has_more_room(std::size_t size, std::uint32_t others) const noexcept {
    return has_room(size) && (counted() == 0 || counted() + (std::min)(others, bounds_.max_messages / 4) <
                                                    std::size_t{bounds_.max_messages});
  }
  [[nodiscard]] bool empty() const noexcept { return ring_.empty() && front_.empty(); }
  [[nodiscard]] bool says_nothing() const noexcept {
    return empty() && in_batch() == 0 && !ended_ && !closed_;
  }
  [[nodiscard]] bool wanted() const noexcept { return !waiters_.empty() || static_cast<bool>(ready_); }
  void push_one(ItemRef item, std::uint32_t source, Room room);
  void put_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why, bool counts);
  [[nodiscard]] bool continues_gap(std::uint32_t source, std::uint64_t first, Why why) noexcept;
  [[nodiscard]] Got take_one(Entry& into);
  std::uint64_t put(Entry&& entry);
  [[nodiscard]] bool comes_soon(std::uint64_t pushes);
  void take_from_batch(Entry& into);
  void fill_batch();
  void drop_oldest(std::size_t size);
  void put_in_front(Entry&& gap);
  void disconnect();
  [[nodiscard]] bool room_wanted() const noexcept {
    return waited_since_ != TimePoint{} || gives_way_.load(std::memory_order_relaxed);
  }
  void begin_wait(RoomWait&& wait);
  [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_ - in_batch(); }
  [[nodiscard]] Entry pop();
  void charge() noexcept;
  void release_room(Lock& lock);
  [[nodiscard]] RoomWaits release_waits(bool all);
  static void notify(RoomWaits&& waits);

  const Bounds bounds_;
  std::string peer_;
  std::string agents_;
  Flag taking_;  // held in take(); taken before mutex_
  Batch batch_;  // with taking_
  // The messages in the batch, which a taking thread takes down without mutex_.
  std::atomic<std::size_t> in_batch_{0};
  std::atomic<std::size_t> batch_bytes_{0};
  std::atomic<std::uint64_t> pushes_{0};     // changed with mutex_
  std::atomic<std::uint32_t> in_vain_{0};    // so many times in a row comes_soon() has found nothing
  std::atomic<std::uint32_t> next_look_{0};  // so many threads sleep at once before it looks again
  mutable std::mutex mutex_;                 // all below
  Ring ring_;
  std::deque<Entry> front_;  // before those of the ring: what stood between dropped messages, and their gaps
  std::uint64_t front_taken_ = 0;  // so many entries of front_ have been taken
  std::vector<Of> sources_;
  std::deque<std::uint32_t> spent_;  // sources whose ends were taken, in that order
  std::size_t messages_ = 0;
  std::size_t gaps_ = 0;  // in the ring, that count
  std::size_t bytes_ = 0;
  std::size_t reserved_ = 0;
  std::size_t reserved_bytes_ = 0;
  std::uint64_t delivered_ = 0;  // with those in the batch
  std::uint64_t dropped_ = 0;
  std::atomic<bool> gives_way_{false};
  std::uint64_t not_kept_ = 0;
  TimePoint waited_since_{};            // by a caller that waits for room; later, if something was taken
  std::uint64_t waited_delivered_ = 0;  // delivered() then
  bool ended_ = false;
  bool closed_ = false;
  bool watched_ = false;
  std::unique_ptr<link::StreamCharge> charge_;  // null: no connection is charged
  std::shared_ptr<const Failure> why_;
  std::vector<std::shared_ptr<link::Waiter>> waiters_;
  UniqueFunction<void()> ready_;
  UniqueFunction<void()> cut_;
  RoomWaits room_waits_;
};

}  // namespace mf::topics
