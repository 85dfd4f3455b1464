#pragma once
// Those who wait for something to happen to a key, for their time to pass, or for the end of the connection
// over which they asked. Not locked; knows no clock.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mf/controller/owner.hpp"
#include "mf/core/clock.hpp"

namespace mf::controller {

template <class Key, class Waiter>
class WaitList {
 public:
  using Waiters = std::vector<std::pair<Key, Waiter>>;

  void add(Key key, TimePoint until, Owner owner, Waiter waiter) {
    const std::uint64_t number = ++numbers_;
    by_owner_[owner].insert(number);
    by_key_.emplace(key, number);
    by_time_.emplace(until, number);
    entries_.emplace(number, Entry{std::move(key), until, owner, std::move(waiter)});
  }

  /// Removes and gives those who wait for the key.
  [[nodiscard]] Waiters take(const Key& key) {
    Waiters taken;
    for (auto at = by_key_.lower_bound({key, 0}); at != by_key_.end() && at->first == key;)
      take((at++)->second, taken);
    return taken;
  }

  /// Removes and gives those who asked over that connection.
  [[nodiscard]] Waiters take_of(Owner owner) {
    Waiters taken;
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return taken;
    for (const std::uint64_t number : std::set<std::uint64_t>(found->second)) take(number, taken);
    return taken;
  }

  [[nodiscard]] std::size_t count_of(Owner owner) const {
    const auto found = by_owner_.find(owner);
    return found == by_owner_.end() ? 0 : found->second.size();
  }

  /// Removes and gives those whose time has passed; with kNever, all.
  [[nodiscard]] Waiters take_due(TimePoint now) {
    Waiters taken;
    while (!by_time_.empty() && by_time_.begin()->first <= now) take(by_time_.begin()->second, taken);
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
    Owner owner;
    Waiter waiter;
  };

  void take(std::uint64_t number, Waiters& taken) {
    const auto at = entries_.find(number);
    Entry entry = std::move(at->second);
    entries_.erase(at);
    by_key_.erase({entry.key, number});
    by_time_.erase({entry.until, number});
    const auto of_owner = by_owner_.find(entry.owner);
    of_owner->second.erase(number);
    if (of_owner->second.empty()) by_owner_.erase(of_owner);
    taken.emplace_back(std::move(entry.key), std::move(entry.waiter));
  }

  std::map<std::uint64_t, Entry> entries_;
  std::set<std::pair<Key, std::uint64_t>> by_key_;
  std::set<std::pair<TimePoint, std::uint64_t>> by_time_;
  std::map<Owner, std::set<std::uint64_t>> by_owner_;
  std::uint64_t numbers_ = 0;
};

}  // namespace mf::controller
