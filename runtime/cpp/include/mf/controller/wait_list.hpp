#pragma once
// Those who wait for something to happen to a key, or for their time to pass. Not locked; knows no clock.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"

namespace mf::controller {

template <class Key, class Waiter>
class WaitList {
 public:
  using Waiters = std::vector<std::pair<Key, Waiter>>;

  void add(Key key, TimePoint until, Waiter waiter) {
    const std::uint64_t number = ++numbers_;
    by_key_.emplace(key, number);
    by_time_.emplace(until, number);
    entries_.emplace(number, Entry{std::move(key), until, std::move(waiter)});
  }

  /// Removes and gives those who wait for the key.
  [[nodiscard]] Waiters take(const Key& key) {
    Waiters taken;
    for (auto at = by_key_.lower_bound({key, 0}); at != by_key_.end() && at->first == key;) {
      const auto entry = entries_.find(at->second);
      by_time_.erase({entry->second.until, at->second});
      at = by_key_.erase(at);
      taken.emplace_back(key, std::move(entry->second.waiter));
      entries_.erase(entry);
    }
    return taken;
  }

  /// Removes and gives those whose time has passed; with kNever, all.
  [[nodiscard]] Waiters take_due(TimePoint now) {
    Waiters taken;
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
      const auto entry = entries_.find(by_time_.begin()->second);
      by_key_.erase({entry->second.key, entry->first});
      by_time_.erase(by_time_.begin());
      taken.emplace_back(std::move(entry->second.key), std::move(entry->second.waiter));
      entries_.erase(entry);
    }
    return taken;
  }

  [[nodiscard]] TimePoint next() const noexcept {
    return by_time_.empty() ? kNever : by_time_.begin()->first;
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    Key key;
    TimePoint until;
    Waiter waiter;
  };

  std::map<std::uint64_t, Entry> entries_;
  std::set<std::pair<Key, std::uint64_t>> by_key_;
  std::set<std::pair<TimePoint, std::uint64_t>> by_time_;
  std::uint64_t numbers_ = 0;
};

}  // namespace mf::controller
