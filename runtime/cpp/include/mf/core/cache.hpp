// What a client keeps of one cached method, and its calls that are under way. No lock, no clock, no thread:
// whoever owns one (mf/client/cached.hpp) locks it and says what time it is.
//
// A key is the agent's text and the request as it is encoded. Of equal calls one leads, which makes a
// request; the others wait for it: together they are a flight, which ends in one of these ways.
//
//   land    the leader got an answer: it is kept, and those that wait have it, too
//   fail    the leader got none: the first of those that wait leads now, the others go on waiting
//   fail    ... and nobody waits: the flight is over
//
// Whatever is forgotten while a flight is under way stays forgotten: that flight takes no more callers, and
// its answer is not kept. The least recently used entries go when there are too many, or too many bytes.
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
  std::uint64_t hits = 0;    // calls that made no request of their own
  std::uint64_t misses = 0;  // those that made one
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;      // of agents, requests and results, and 256 an entry
  std::uint64_t evictions = 0;  // entries that others crowded out
};

namespace cached {

/// An answer as it is encoded.
struct Kept {
  Bytes bytes;
  int error = -1;  // which one of the method's errors it is; -1: it is a result
};

/// Refers to its bytes.
struct Key {
  Key(std::string_view of_agent, std::span<const std::byte> of_request) noexcept;

  std::string_view agent;
  std::span<const std::byte> request;
  std::size_t hash;
};

/// A call that waits for another one. It is called without the lock.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;
  /// The answer; null: the call leads from now on.
  virtual void wake(const Kept* kept) = 0;
};

/// The bytes of a key, owned.
struct OwnKey {
  explicit OwnKey(const Key& key);
  [[nodiscard]] Key key() const noexcept { return {agent, request}; }

  std::string agent;
  std::vector<std::byte> request;
};

/// Equal calls under way.
struct Flight {
  Flight(const Key& of, const void* at) : own(of), place(at) {}

  const OwnKey own;
  const void* place;  // where the leader runs, for whoever must not wait there; null: nowhere in particular
  std::deque<std::shared_ptr<Waiter>> waiters;
  bool forgotten = false;
};

class Cache {
 public:
  /// What an entry is counted for beside its bytes.
  static constexpr std::size_t kEntryBytes = 256;

  explicit Cache(const CacheInfo& info) : info_(info) {}

  /// What is kept, or null; counts a hit. Good until the cache is used again.
  [[nodiscard]] const Kept* find(const Key& key, TimePoint now);

  // Flights

  [[nodiscard]] std::shared_ptr<Flight> under_way(const Key& key) const;
  /// A new flight, which the caller leads.
  [[nodiscard]] std::shared_ptr<Flight> lead(const Key& key, const void* place);
  /// The leader's call was answered. Gives who is to be woken with the answer. `keep`: may it be kept?
  [[nodiscard]] std::deque<std::shared_ptr<Waiter>> land(Flight& flight, const Kept& kept, TimePoint now,
                                                         bool keep);
  /// The leader's call was not answered. Gives who is to be woken, and leads from now on.
  [[nodiscard]] std::shared_ptr<Waiter> fail(Flight& flight);
  /// A call waits no more. False: it has been woken, or will be in a moment.
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
  Entries entries_;                                                          // the latest used first
  std::unordered_map<Key, Entries::iterator, Hash, Equal> by_key_;           // keys lie in the entries
  std::unordered_map<Key, std::shared_ptr<Flight>, Hash, Equal> under_way_;  // and in the flights
  std::uint64_t bytes_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace cached
}  // namespace mf
