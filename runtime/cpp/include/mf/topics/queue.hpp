// The queue of one subscription: messages, and entries about their sources between them. It is bounded in
// messages and bytes; its policy (Overflow) decides about messages for which there is no room.
//
// Order, for each source: first `source`, then its messages and gaps, by their numbers. Dropped messages are
// reported as one gap for each source: before all waiting entries if the oldest messages were dropped, and
// behind them if the newest ones were.
//
// Thread-safe. push() is called with the lock of an outlet held, so that nothing slow happens in it: threads
// are woken by wake(), which is called without that lock.
#pragma once

#include <algorithm>
#include <atomic>
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
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/waiter.hpp"
#include "mf/topics.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"

namespace mf::topics {

/// Adds to a count of messages that a peer has reported. The peer may report any number.
inline std::uint64_t sum_of(std::uint64_t sum, std::uint64_t count) noexcept {
  return sum > UINT64_MAX - count ? UINT64_MAX : sum + count;
}

class Queue {
 public:
  enum class Kind : std::uint8_t { message, source, missed, ended };
  struct Entry {
    ItemRef item{};           // message: the item
    std::uint64_t first = 0;  // source: the number of its next message
    std::uint64_t count = 0;  // source: how many messages are replayed
    std::uint32_t source = 0;
    Kind kind = Kind::message;
    Why why = Why::dropped;
  };
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
  };

  explicit Queue(const Bounds& bounds) : bounds_(bounds) {}
  /// The wanted bounds, limited by these options.
  Queue(const Bounds& wanted, const TopicsOptions& most);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Sets the subscriber that reads the queue: its peer, "" in this process, and its agents as they are
  /// shown. To be called before the queue is filled.
  void belong_to(std::string peer, std::string agents) {
    peer_ = std::move(peer);
    agents_ = std::move(agents);
  }

  [[nodiscard]] const Bounds& bounds() const noexcept { return bounds_; }
  [[nodiscard]] bool blocks() const noexcept { return bounds_.overflow == Overflow::block; }
  /// It blocks, and has not been given up by those who share its stream (give_way()).
  [[nodiscard]] bool waited_for() const noexcept {
    return blocks() && !gives_way_.load(std::memory_order_relaxed);
  }

  // ---- filling; if one of these returns true, the caller must call wake() ----

  /// Adds a source, whose next message has the number `next`, and whose first message that is not replayed
  /// has `live`; returns the number of the source.
  std::uint32_t add_source(std::shared_ptr<const Origin> origin, std::uint64_t next, std::uint64_t live);
  /// Takes over one reference to each item, which the ItemRefs of the caller do not count. `reserved`:
  /// reserve() has found room for them. `kept`: they are replayed and held by their outlet anyhow, so that a
  /// queue that must not drop takes them beyond its bounds.
  [[nodiscard]] bool push(std::span<const ItemRef> items, std::uint32_t source, bool reserved,
                          bool kept = false);
  /// The same; it may take the number of a source whose end was taken long ago, so that sources which come
  /// and go need no more and more memory.
  std::uint32_t reuse_source(std::shared_ptr<const Origin> origin, std::uint64_t next, std::uint64_t live);
  /// True if more sources and ends of sources wait than would for a subscriber that takes its messages.
  [[nodiscard]] bool crowded() const;
  /// Adds a gap, which counts as a message.
  [[nodiscard]] bool push_missed(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why,
                                 bool reserved = false);
  /// The same within the bounds: if there is no room and none is reserved, the policy applies.
  [[nodiscard]] bool push_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why,
                              bool reserved);
  /// The source has ended.
  [[nodiscard]] bool push_ended(std::uint32_t source);
  /// Ends the queue once its entries have been taken; with a failure, if there is one.
  [[nodiscard]] bool end(std::shared_ptr<const Failure> why);
  /// The same, but calls the function of when_cut(), without any lock, to end the subscription at once.
  void cut(std::shared_ptr<const Failure> why);
  void wake();

  /// Reserves room for these messages, from the first on; returns for how many there is room. A closed queue
  /// has room for all.
  [[nodiscard]] std::size_t reserve(std::span<const ItemRef> items);
  void unreserve(std::span<const ItemRef> items);
  /// The same for one gap.
  [[nodiscard]] bool reserve_gap();
  void unreserve_gap();
  /// Whether there is room for a message of this size now.
  [[nodiscard]] bool room_for(std::size_t size) const;
  /// Waits until several entries were taken, or the queue is closed, or `until`; false if there is no room.
  [[nodiscard]] bool wait_for_room(std::size_t size, TimePoint until);
  /// Calls `room` once when there is room for a message of this size and some more, perhaps at once.
  void when_room(std::size_t size, UniqueFunction<void()> room);
  /// Since when a publisher has waited for room without take_some() taking any entry; else now.
  [[nodiscard]] TimePoint waited_since() const;
  /// Whether somebody waits for room now.
  [[nodiscard]] bool awaited() const;
  /// Calls the functions that wait for room, since it may not be needed any more.
  void look_again();
  /// The same, and nobody waits for room in a queue that blocks until several entries were taken: meanwhile
  /// it drops what finds none.
  void give_way();

  // ---- emptying ----

  /// Never waits.
  [[nodiscard]] Got take(Entry& into);
  /// The same for up to `most` entries; returns their number. If it is 0, `got` says why.
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
  /// The figures of the subscription whose queue it is. A publisher that ends cuts nobody.
  [[nodiscard]] SubscriptionStats subscription() const;
  /// The subscriber as failures name it: "at tcp://192.0.2.1:4711 for \"books\"".
  [[nodiscard]] std::string owner_text() const;
  /// What the queue holds, for failures: "2 of 2 messages and 40 of 8388608 bytes".
  [[nodiscard]] std::string content_text() const;
  [[nodiscard]] std::shared_ptr<const Origin> origin(std::uint32_t source) const;
  [[nodiscard]] Figures figures() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Rooms = std::vector<std::pair<std::size_t, UniqueFunction<void()>>>;  // with the wanted bytes
  struct Of {
    std::shared_ptr<const Origin> origin;
    std::uint64_t missed_from = 0;
    std::uint64_t missed = 0;  // not reported yet
    std::uint64_t urgent = 0;  // the number of its latest entry of urgent_ that is a gap; 0: none
  };
  /// A ring buffer that grows as needed; a large one is freed when it is empty.
  class Ring {
   public:
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] Entry& front() noexcept { return slots_[begin_ & (slots_.size() - 1)]; }
    void push(Entry&& entry) {
      if (size() == slots_.size()) [[unlikely]]
        grow();
      slots_[end_++ & (slots_.size() - 1)] = std::move(entry);
    }
    Entry pop() {
      Entry entry = std::move(front());
      if (++begin_ == end_ && slots_.size() > kKept) [[unlikely]]
        slots_ = {};
      return entry;
    }
    void clear() {
      slots_ = {};
      begin_ = end_ = 0;
    }

   private:
    static constexpr std::size_t kKept = 4'096;
    void grow();
    std::vector<Entry> slots_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
  };

  [[nodiscard]] bool has_room(std::size_t size) const noexcept {
    const auto messages = messages_ + reserved_;
    return messages == 0 ||
           (messages < bounds_.max_messages && bytes_ + reserved_bytes_ + size <= bounds_.max_bytes);
  }
  /// Room for this message and for others that may follow it. A waiting publisher is notified only when there
  /// is that much room, unless the queue is small: to notify it of each message that was taken would cost
  /// more than the messages do.
  [[nodiscard]] bool has_more_room(std::size_t size, std::uint32_t others) const noexcept {
    const auto messages = messages_ + reserved_;
    return has_room(size) && (messages == 0 || messages + (std::min)(others, bounds_.max_messages / 4) <
                                                   std::size_t{bounds_.max_messages});
  }
  [[nodiscard]] bool empty() const noexcept { return ring_.empty() && urgent_.empty() && missing_.empty(); }
  [[nodiscard]] bool says_nothing() const noexcept { return empty() && !ended_ && !closed_; }
  [[nodiscard]] bool wanted() const noexcept { return !waiters_.empty() || static_cast<bool>(ready_); }
  void push_one(ItemRef item, std::uint32_t source, bool anyhow);
  void tell_source(std::uint32_t source, std::uint64_t next, std::uint64_t live);
  void miss(std::uint32_t source, std::uint64_t sequence);
  void tell_missed(std::uint32_t source, Entry& into);
  [[nodiscard]] Got take(Entry& into, Lock& lock);
  void drop_oldest(std::size_t size);
  void put_urgent_gap(Entry&& gap);
  void tell_missed_before(std::uint32_t source);
  void disconnect();
  [[nodiscard]] bool room_wanted() const noexcept { return waited_since_ != TimePoint{} || !rooms_.empty(); }
  /// Counts an entry that has left the ring.
  void leaves(const Entry& entry) noexcept;
  void release_room(Lock& lock);
  [[nodiscard]] Rooms release_rooms();

  const Bounds bounds_;
  std::string peer_;
  std::string agents_;
  mutable std::mutex mutex_;  // all below
  Ring ring_;
  // Entries, other than messages, from between dropped messages. Consecutive gaps of a source are one entry.
  std::deque<Entry> urgent_;
  std::uint64_t urgent_taken_ =
      0;  // how many have been taken: the first entry of urgent_ has the next number
  std::vector<Of> sources_;
  std::deque<std::uint32_t> spent_;     // sources whose ends were taken, in that order
  std::vector<std::uint32_t> missing_;  // sources with a gap that is not reported yet
  std::size_t messages_ = 0;            // including gaps
  std::size_t gaps_ = 0;                // in the ring
  std::size_t bytes_ = 0;
  std::size_t reserved_ = 0;
  std::size_t reserved_bytes_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t dropped_ = 0;
  std::atomic<bool> gives_way_{false};
  std::uint64_t not_kept_ = 0;
  TimePoint waited_since_{};  // by somebody who waits for room; later, if take_some() has taken something
  bool ended_ = false;
  bool closed_ = false;
  std::shared_ptr<const Failure> why_;
  std::vector<link::Waiter*> waiters_;
  UniqueFunction<void()> ready_;
  UniqueFunction<void()> cut_;
  std::vector<std::pair<std::size_t, link::Waiter*>> room_waiters_;  // with the wanted bytes
  Rooms rooms_;
};

}  // namespace mf::topics
