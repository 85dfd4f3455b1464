#pragma once
// The leader and the waiting candidates of each key, in the order of their requests, and the highest epoch
// known to have been granted. Pure data; epochs only grow, across all keys. A lead is requested from the
// store, and granted when the store has answered; candidates may come and go meanwhile.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mf/controller.hpp"

namespace mf::controller {

class Election {
 public:
  using Id = std::uint64_t;

  explicit Election(std::uint64_t epoch = 0) : epoch_(epoch) {}

  void add(const Key& key, Id id) {
    const auto race = races_.try_emplace(key).first;
    race->second.waiting.push_back(id);
    changed(race);
  }
  void remove(const Key& key, Id id) {
    const auto race = races_.find(key);
    if (race == races_.end()) return;
    if (race->second.leader == id) race->second.leader.reset();
    std::erase(race->second.waiting, id);
    changed(race);
  }

  /// Keys that have candidates but no leader, and are not being requested from the store.
  [[nodiscard]] std::vector<Key> vacant() const { return {vacant_.begin(), vacant_.end()}; }
  /// Marks a vacant key as requested from the store, until give() or refuse().
  void ask(const Key& key) {
    const auto race = races_.find(key);
    race->second.asked = true;
    changed(race);
  }
  void refuse(const Key& key) {
    const auto race = races_.find(key);
    race->second.asked = false;
    changed(race);
  }
  /// The least epoch that the next leader may have. `now`: milliseconds since 1970, so that epochs grow even
  /// if the earlier ones were forgotten.
  [[nodiscard]] std::uint64_t next_epoch(std::uint64_t now) const noexcept {
    return (std::max)(epoch_ + 1, now);
  }
  /// The store has granted the requested lead: the candidate that has waited longest leads with this epoch.
  /// Nothing: no candidate waits any more.
  std::optional<Id> give(const Key& key, std::uint64_t epoch) {
    const auto race = races_.find(key);
    race->second.asked = false;
    epoch_ = (std::max)(epoch_, epoch);
    std::optional<Id> leads;
    if (!race->second.waiting.empty()) {
      leads = race->second.leader = race->second.waiting.front();
      race->second.waiting.pop_front();
    }
    changed(race);
    return leads;
  }

 private:
  struct Race {
    std::optional<Id> leader;
    std::deque<Id> waiting;
    bool asked = false;
  };
  using Races = std::map<Key, Race>;

  void changed(Races::iterator race) {
    const auto& [leader, waiting, asked] = race->second;
    if (leader || asked || waiting.empty()) {
      vacant_.erase(race->first);
    } else {
      vacant_.insert(race->first);
    }
    if (!leader && !asked && waiting.empty()) races_.erase(race);
  }

  std::uint64_t epoch_;
  Races races_;
  std::set<Key> vacant_;  // a subset of races_, so that vacant() need not search all
};

}  // namespace mf::controller
