#pragma once
// The calls of a client's connection that wait for their end, and the completions that are still to run.
//
// Lock. The link's, for all of it but InFlight::size_now() and FinishedList::run(), which any thread may
// call. Nothing here waits, reads or writes; the link decides where completions run.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/link/reply.hpp"
#include "mf/link/stream.hpp"
#include "mf/link/waiter.hpp"
#include "mf/protocol/calls.hpp"

namespace mf::transport {
class Reactor;
}  // namespace mf::transport

namespace mf::link {

struct Pending {
  ReplySlot* slot = nullptr;     // of a blocking caller, which has a waiter, too;
  Waiter* waiter = nullptr;      // or
  Completion done;               // else a completion, which finishes the waiter if there is one
  std::uint64_t ends_at = 0;     // position in the stream after the request's last byte
  bool by_reactor = false;       // only the reactor will read its reply
  StreamCall* stream = nullptr;  // null unless the call has streams
  bool reads_stream = false;     // its results are a stream
  bool forwarded = false;
};

/// The calls in flight, and how many of them the reactor has to read for.
class InFlight {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return calls_.size(); }
  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  /// From any thread.
  [[nodiscard]] std::size_t size_now() const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool contains(std::uint32_t id) const noexcept { return calls_.contains(id); }
  [[nodiscard]] Pending* find(std::uint32_t id) noexcept { return calls_.find(id); }
  /// The call that a reply with this id and route answers; null if there is none.
  [[nodiscard]] Pending* find(std::uint32_t id, std::uint16_t route) noexcept {
    return calls_.find(id, route);
  }
  [[nodiscard]] TimePoint next_deadline() const noexcept { return calls_.next_deadline(); }
  [[nodiscard]] std::size_t by_reactor() const noexcept { return by_reactor_; }
  [[nodiscard]] std::size_t streams_to_us() const noexcept { return streams_to_us_; }
  template <class Each>
  void for_each(Each&& each) {
    calls_.for_each(std::forward<Each>(each));
  }

  /// The call has been sent by `send()`, which needs its id to be in use. If anything throws, it is not in
  /// flight. The result is valid until the next change.
  template <class Send>
  Pending& insert(std::uint32_t id, std::uint16_t route, TimePoint deadline, Pending&& pending, Send&& send) {
    auto& inserted = calls_.insert(id, route, deadline, std::move(pending));
    try {
      send();
    } catch (...) {
      calls_.erase(id);
      throw;
    }
    count(inserted);
    store_size();
    return inserted;
  }
  /// Removes the call with this id; nothing if there is none.
  [[nodiscard]] std::optional<Pending> take(std::uint32_t id) {
    auto pending = calls_.take(id);
    if (pending) uncount(*pending);
    store_size();
    return pending;
  }
  /// Removes the call that find() has returned for this id.
  void erase(std::uint32_t id, const Pending& pending) noexcept {
    uncount(pending);
    calls_.erase(id);
    store_size();
  }
  /// Removes those whose deadline has passed, and passes them to `each(id, Pending&&)`.
  template <class Each>
  void expire(TimePoint now, Each&& each) {
    calls_.expire(now, [&](std::uint32_t id, Pending&& pending) {
      uncount(pending);
      each(id, std::move(pending));
    });
    store_size();
  }
  /// Removes all of them.
  template <class Each>
  void drain(Each&& each) {
    calls_.drain(std::forward<Each>(each));
    by_reactor_ = streams_to_us_ = 0;
    store_size();
  }

  /// From now on the reactor reads for those whose callers do not; blocking callers read themselves.
  void leave_to_reactor() {
    calls_.for_each([this](std::uint32_t /*id*/, Pending& pending) {
      if (pending.slot != nullptr || pending.by_reactor) return;
      pending.by_reactor = true;
      ++by_reactor_;
    });
  }

 private:
  void count(const Pending& pending) noexcept {
    if (pending.by_reactor) ++by_reactor_;
    if (pending.reads_stream) ++streams_to_us_;
  }
  void uncount(const Pending& pending) noexcept {
    if (pending.by_reactor) --by_reactor_;
    if (pending.reads_stream) --streams_to_us_;
  }
  void store_size() noexcept { size_.store(calls_.size(), std::memory_order_relaxed); }

  protocol::PendingCalls<Pending> calls_;
  std::size_t by_reactor_ = 0;
  std::size_t streams_to_us_ = 0;
  std::atomic<std::size_t> size_{0};
};

/// Completions that are still to run.
class FinishedList {
 public:
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  /// Reserves memory so that add() needs none for so many, except to copy payloads. Throws std::bad_alloc.
  void make_room(std::size_t calls);
  /// `fill(reply)` makes the reply in place. `copies`: the payload is copied unless the reply owns it. If
  /// anything throws, nothing was added, and `done` is unchanged.
  template <class Fill>
  void add(Completion& done, bool copies, Fill&& fill) {
    auto& item = items_.emplace_back();
    try {
      fill(item.reply);
      if (copies && item.reply.owner.empty() && !item.reply.payload.empty()) keep(item);
    } catch (...) {
      items_.pop_back();
      throw;
    }
    item.done = std::move(done);
  }
  /// Without the lock. Exceptions of completions are logged.
  void run(const transport::Reactor& reactor) noexcept;
  /// Gives memory back that is more than is kept between turns.
  void shrink() noexcept;

 private:
  struct Finished {
    Completion done;
    Reply reply;
    std::size_t kept_at = 0;
    std::size_t kept_size = 0;
  };
  void keep(Finished& item);

  std::vector<Finished> items_;
  Buffer kept_;  // copies of payloads in the receive window
};

}  // namespace mf::link
