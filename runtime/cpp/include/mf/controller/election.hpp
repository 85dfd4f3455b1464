#pragma once
// Who leads what: for each key those who ask, the one who leads first, then those who wait, and the highest
// epoch that is known to have been given. Pure data; epochs only grow, whoever gets them. A lead is asked for
// at the store, and given when that has answered: meanwhile those who wait may come and go.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mf/controller.types.hpp"

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

  /// Keys that nobody leads, though somebody waits, and that are not asked for.
  [[nodiscard]] std::vector<Key> vacant() const { return {vacant_.begin(), vacant_.end()}; }
  /// The store is asked for the lead of a vacant key, until it is given or refused.
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
  /// The least epoch that the next leader may have. `now`: milliseconds since 1970, so that it grows although
  /// what was given before is not known any more.
  [[nodiscard]] std::uint64_t next_epoch(std::uint64_t now) const noexcept {
    return std::max(epoch_ + 1, now);
  }
  /// The store has given the lead that it was asked for: who has waited longest leads with this epoch, if
  /// anybody does still wait.
  std::optional<Id> give(const Key& key, std::uint64_t epoch) {
    const auto race = races_.find(key);
    race->second.asked = false;
    epoch_ = std::max(epoch_, epoch);
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
  std::set<Key> vacant_;  // of them, so that nobody looks at all
};

}  // namespace mf::controller
