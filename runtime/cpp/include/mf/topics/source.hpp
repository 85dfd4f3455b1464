// The messages of one publisher and agent on a board: its own publisher's, to which publish() gives numbers,
// or those that an upstream or an engine brings with their numbers (forward(), miss()). It puts them into the
// inboxes of the subscriptions that are attached to it, and keeps the latest ones for replay.
//
// Thread-safe. A message gets its number and goes to all inboxes under one lock, so that all subscribers see
// the same order. Values are encoded before that lock is taken, and no thread is woken under it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/topics/board.hpp"
#include "mf/topics/inbox.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"

namespace mf::topics {

class Board::Source {
 public:
  /// Which earlier messages a subscriber wants.
  struct Since {
    std::uint32_t replay = 0;
    std::optional<std::uint64_t> seen{};  // the number of its last message
  };

  /// See Board::begin().
  Source(std::shared_ptr<const Origin> origin, Rules rules, std::uint32_t keep, std::uint64_t next = 1,
         std::uint64_t live = 1)
      : origin_(std::move(origin)), rules_(std::move(rules)), keep_(keep), next_(next), live_(live) {}
  ~Source() { forget_kept(); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] const std::shared_ptr<const Origin>& origin() const noexcept { return origin_; }

  /// No subscriber needs the values themselves, so that they may be published as their bytes
  /// (ItemOf::encoded()). One that comes meanwhile decodes them.
  [[nodiscard]] bool wants_bytes() const noexcept { return wants_bytes_.load(std::memory_order_relaxed); }
  /// Numbers the messages and puts them into the queues. Throws if a value cannot be encoded,
  /// DEADLINE_EXCEEDED if a subscription that blocks has had no room for `patience`, and SHUTTING_DOWN after
  /// close(); in the last two cases the messages before the failed one are published.
  void publish(std::span<ItemRef> items, std::chrono::nanoseconds patience);

  /// Passes on numbered messages, from the first on, gives away the references to them, and returns how many.
  /// If these are not all, `full` is a queue that is waited for and has no room: no queue got the rest, and
  /// the caller must repeat the call for it when that queue has room.
  [[nodiscard]] std::size_t forward(std::span<ItemRef> items, std::shared_ptr<Inbox>& full, Woken& woken);
  /// The same for a gap: returns the inbox that has no room, if there is one.
  [[nodiscard]] std::shared_ptr<Inbox> miss(std::uint64_t first, std::uint64_t count, Why why, Woken& woken);
  /// No more messages come: all subscribers are notified, and detached.
  void end(Woken& woken);
  /// publish() fails from now on.
  void close();

  /// `remote`: it wants bytes. The caller must wake the queue without holding locks.
  void attach(const std::shared_ptr<Inbox>& inbox, const Since& since, bool remote);
  void detach(const Inbox& inbox);
  [[nodiscard]] AgentStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Match {
    std::shared_ptr<Inbox> inbox;
    std::uint32_t source = 0;
    bool remote = false;
    std::uint64_t from = 0;    // the number of the first message for this queue
    std::size_t reserved = 0;  // of what is handed out next
  };

  void encode(std::span<ItemRef> items) const;
  void note_ways() noexcept {
    wants_bytes_.store(keep_ == 0 && !matches_.empty() && remote_ == matches_.size(),
                       std::memory_order_relaxed);
  }
  [[nodiscard]] bool waits_for(const Match& match) const noexcept;
  [[nodiscard]] std::size_t reserve(std::span<const ItemRef> items, std::shared_ptr<Inbox>& full);
  void wait_for_room(Lock& lock, Inbox& inbox, std::size_t size, TimePoint deadline);
  [[nodiscard]] static Inbox::Room room_for(const Inbox& inbox, bool reserved, bool replayed) noexcept;
  [[nodiscard]] std::size_t pass(std::span<ItemRef> items, bool waits, std::shared_ptr<Inbox>& full,
                                 Woken& wake);
  void hand_out(std::span<ItemRef> items, Woken& wake);
  [[nodiscard]] std::size_t run_of(std::span<const ItemRef> items) const;
  void keep(Item& item);
  void forget_oldest();
  void forget_kept();

  const std::shared_ptr<const Origin> origin_;
  const Rules rules_;
  const std::uint32_t keep_;  // so many messages
  std::atomic<std::size_t> remote_{0};
  std::atomic<bool> wants_bytes_{false};
  mutable std::mutex mutex_;  // all below
  std::vector<Match> matches_;
  std::unordered_map<const Inbox*, std::size_t> places_;  // of inboxes in matches_
  std::size_t blocking_ = 0;
  std::uint64_t next_ = 1;
  const std::uint64_t live_;
  std::deque<ItemRef> kept_;
  std::size_t kept_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace mf::topics
