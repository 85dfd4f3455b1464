// The cached results of one method at a client, and its calls in progress. No lock, no clock, no thread: its
// owner (mf/client/cached.hpp) locks it and passes the time.
//
// A key is the agent's text and the encoded request. One of several equal calls leads and makes a request;
// the others wait for it: together they are a flight, which ends in one of these ways.
//
//   land    the leader got an answer: it is kept, and the waiting calls get it, too
//   fail    the leader got none: the first waiting call leads now, the others continue to wait
//   fail    ... and no call waits: the flight is over
//
// An entry that is forgotten during a flight stays forgotten: that flight takes no more callers, and its
// answer is not kept. The least recently used entries are dropped when there are too many, or too many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mf/core/bytes.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/service.hpp"

namespace mf {

/// Counts of one cached method at one client.
struct CacheStats {
  std::uint64_t hits = 0;    // calls without a request of their own
  std::uint64_t misses = 0;  // calls that made one
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;      // of agents, requests and results, and 256 for each entry
  std::uint64_t evictions = 0;  // entries dropped for lack of room
};

namespace cached {

/// An encoded answer.
struct Kept {
  Bytes bytes;
  int error = -1;  // the index of the declared error; -1: it is a result
};

/// Refers to bytes of the caller.
struct Key {
  Key(std::string_view of_agent, std::span<const std::byte> of_request) noexcept;

  std::string_view agent;
  std::span<const std::byte> request;
  std::size_t hash;
};

/// A call that waits for an equal one. Its functions are called without the lock.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;
  /// Called with the answer; null: the call leads from now on.
  virtual void wake(const Kept* kept) = 0;
};

/// A key that owns its bytes.
struct OwnKey {
  explicit OwnKey(const Key& key);
  [[nodiscard]] Key key() const noexcept { return {agent, request}; }

  std::string agent;
  std::vector<std::byte> request;
};

/// Equal calls in progress.
struct Flight {
  Flight(const Key& of, const void* at) : own(of), place(at) {}

  const OwnKey own;
  const void* place;  // where the leader runs, where some callers must not wait; null: anywhere
  std::deque<std::shared_ptr<Waiter>> waiters;
  bool forgotten = false;
};

class Cache {
 public:
  /// The bytes that an entry counts beside its contents.
  static constexpr std::size_t kEntryBytes = 256;

  explicit Cache(const CacheInfo& info) : info_(info) {}

  /// The kept answer, or null; counts a hit. Valid until the cache is used again.
  [[nodiscard]] const Kept* find(const Key& key, TimePoint now);

  // Flights

  [[nodiscard]] std::shared_ptr<Flight> under_way(const Key& key) const;
  /// Starts a flight, which the caller leads.
  [[nodiscard]] std::shared_ptr<Flight> lead(const Key& key, const void* place);
  /// The leader got an answer. Returns the calls to wake with it. `keep`: it may be kept.
  [[nodiscard]] std::deque<std::shared_ptr<Waiter>> land(Flight& flight, const Kept& kept, TimePoint now,
                                                         bool keep);
  /// The leader got no answer. Returns the call to wake, which leads from now on.
  [[nodiscard]] std::shared_ptr<Waiter> fail(Flight& flight);
  /// A call stops waiting. False: it has been woken, or will be in a moment.
  [[nodiscard]] static bool leave(Flight& flight, const Waiter& waiter);

  // What is kept

  void forget(const Key& key);
  void forget_agent(std::string_view agent);
  void forget_all();
  [[nodiscard]] CacheStats stats() const noexcept;

 private:
  struct Entry {
    Entry(const Key& key, Kept of) : own(key), kept(std::move(of)) {}

    OwnKey own;
    Kept kept;
    std::size_t size = 0;
    TimePoint expires = kNever;
  };
  using Entries = std::list<Entry>;
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Key& key) const noexcept { return key.hash; }
  };
  struct Equal {
    [[nodiscard]] bool operator()(const Key& left, const Key& right) const noexcept;
  };

  void store(const Flight& flight, const Kept& kept, TimePoint now);
  void drop(Entries::iterator entry);
  void over(const Flight& flight);
  void detach(const Key& key);

  const CacheInfo info_;
  Entries entries_;                                                          // the most recently used first
  std::unordered_map<Key, Entries::iterator, Hash, Equal> by_key_;           // keys refer to the entries
  std::unordered_map<Key, std::shared_ptr<Flight>, Hash, Equal> under_way_;  // and to the flights
  std::uint64_t bytes_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace cached
}  // namespace mf
