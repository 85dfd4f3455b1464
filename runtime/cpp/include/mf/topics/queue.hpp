// What waits for one subscriber: messages, and between them what he is told of their sources. Bounded in
// messages and bytes; what becomes of a message that finds no room is the queue's policy (Overflow).
//
// Order. Of each source: first `source`, then its messages and what is missed of them, by their numbers.
// What was dropped is told as soon as there is room for anything again, as one run of numbers a source: the
// oldest were dropped, so it comes before all that waits, or the newest, and it comes behind.
//
// Threads. Any. Who pushes holds the lock of its outlet, so that nothing slow happens here: waking is left to
// wake(), which is called without that lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/waiter.hpp"
#include "mf/topics.types.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"

namespace mf::topics {

class Queue {
 public:
  enum class Kind : std::uint8_t { message, source, missed, ended };
  struct Entry {
    ItemRef item{};           // of a message
    std::uint64_t first = 0;  // of a source: the number of its next message
    std::uint64_t count = 0;  // of a source: how many of them are replayed
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
    std::size_t queued = 0;
    std::size_t bytes = 0;
  };

  explicit Queue(const Bounds& bounds) : bounds_(bounds) {}
  /// What is wanted, as far as these options allow it.
  Queue(const Bounds& wanted, const TopicsOptions& most);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] const Bounds& bounds() const noexcept { return bounds_; }
  [[nodiscard]] bool blocks() const noexcept { return bounds_.overflow == Overflow::block; }

  // ---- who fills it; each true: wake() is to be called ----

  /// A new source, whose next message has this number, and whose first that is not replayed has `live`; gives
  /// its own.
  std::uint32_t add_source(std::shared_ptr<const Origin> origin, std::uint64_t next, std::uint64_t live);
  /// Takes over a use of the item. `reserved`: reserve() has said that there is room. `kept`: it is replayed,
  /// and its publisher has it anyhow, so that a queue that loses nothing takes it beyond its bounds.
  [[nodiscard]] bool push(Item* item, std::uint32_t source, bool reserved, bool kept = false);
  /// Counts as a message.
  [[nodiscard]] bool push_missed(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why,
                                 bool reserved = false);
  /// The same for who has no bound for what it tells: without room it counts as what the policy does then.
  [[nodiscard]] bool push_gap(std::uint32_t source, std::uint64_t first, std::uint64_t count, Why why,
                              bool reserved);
  /// Nothing more comes of this source.
  [[nodiscard]] bool push_ended(std::uint32_t source);
  /// Nothing more comes: all that is in it can still be taken, then it ends; with a failure, if there is one.
  [[nodiscard]] bool end(std::shared_ptr<const Failure> why);
  /// The same at once, whatever is in it: calls what when_cut() was given, in any case without a lock.
  void cut(std::shared_ptr<const Failure> why);
  void wake();

  /// Keeps room for a message of this size; false: there is none. A queue that is closed has room.
  [[nodiscard]] bool reserve(std::size_t size);
  void unreserve(std::size_t size);
  /// Waits until something was taken, or the queue is closed, or until then; false: there is no room.
  [[nodiscard]] bool wait_for_room(std::size_t size, TimePoint until);
  /// Calls once when there is room for a message of this size, perhaps at once.
  void when_room(std::size_t size, UniqueFunction<void()> room);
  /// Since when somebody has waited for room, again and again, while nothing was taken; else now.
  [[nodiscard]] TimePoint waited_since() const;

  // ---- who empties it ----

  /// Never waits.
  [[nodiscard]] Got take(Entry& into);
  /// The same for up to `most` of them; how many there were. None: `got` says why.
  std::size_t take_some(std::vector<Entry>& into, std::size_t most, Got& got);
  /// Waits for one until then.
  [[nodiscard]] Got wait(Entry& into, TimePoint until);
  /// Calls once when take() has something to say, perhaps at once.
  void when_ready(UniqueFunction<void()> ready);
  /// Called by cut(), on its thread.
  void when_cut(UniqueFunction<void()> cut);
  /// The message that was taken last cannot be sent to the subscriber: it is dropped.
  void count_undeliverable();
  /// Nobody takes anything any more: it is emptied, and takes nothing.
  void close();
  [[nodiscard]] std::shared_ptr<const Failure> why() const;
  [[nodiscard]] std::shared_ptr<const Origin> origin(std::uint32_t source) const;
  [[nodiscard]] Figures figures() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Rooms = std::vector<std::pair<std::size_t, UniqueFunction<void()>>>;  // for so many bytes each
  struct Of {
    std::shared_ptr<const Origin> origin;
    std::uint64_t missed_from = 0;
    std::uint64_t missed = 0;  // not told yet
  };
  /// A ring that grows up to what the bounds allow and is given back when it was large and is empty.
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
  [[nodiscard]] bool empty() const noexcept { return ring_.empty() && urgent_.empty() && missing_.empty(); }
  [[nodiscard]] bool says_nothing() const noexcept { return empty() && !ended_ && !closed_; }
  [[nodiscard]] bool wanted() const noexcept { return !waiters_.empty() || static_cast<bool>(ready_); }
  void miss(std::uint32_t source, std::uint64_t sequence);
  void tell_missed(std::uint32_t source, Entry& into);
  [[nodiscard]] Got take(Entry& into, Lock& lock);
  void drop_oldest(std::size_t size);
  void tell_missed_before(std::uint32_t source);
  void disconnect();
  [[nodiscard]] bool room_wanted() const noexcept { return waited_since_ != TimePoint{} || !rooms_.empty(); }
  /// An entry has left the ring.
  void leaves(const Entry& entry) noexcept;
  void release_room(Lock& lock);
  [[nodiscard]] Rooms release_rooms();

  const Bounds bounds_;
  mutable std::mutex mutex_;  // all below
  Ring ring_;
  std::deque<Entry> urgent_;  // no messages: what stood between those that were dropped
  std::vector<Of> sources_;
  std::vector<std::uint32_t> missing_;  // the sources of which something missed is to be told
  std::size_t messages_ = 0;            // with the gaps
  std::size_t gaps_ = 0;                // entries of the ring that tell of missed messages
  std::size_t bytes_ = 0;
  std::size_t reserved_ = 0;
  std::size_t reserved_bytes_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t dropped_ = 0;
  TimePoint waited_since_{};
  bool ended_ = false;
  bool closed_ = false;
  std::shared_ptr<const Failure> why_;
  std::vector<link::Waiter*> waiters_;
  UniqueFunction<void()> ready_;
  UniqueFunction<void()> cut_;
  std::vector<link::Waiter*> room_waiters_;
  Rooms rooms_;
};

}  // namespace mf::topics
