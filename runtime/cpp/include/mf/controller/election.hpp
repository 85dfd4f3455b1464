#pragma once
// Who leads what: for each key those who ask, the one who leads first, then those who wait, and the highest
// epoch that is known to have been given. Pure data; epochs only grow, whoever gets them. A lead is asked for
// at the store, and given when that has answered: meanwhile those who wait may come and go.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "mf/controller.types.hpp"

namespace mf::controller {

class Election {
 public:
  using Id = std::uint64_t;

  explicit Election(std::uint64_t epoch = 0) : epoch_(epoch) {}

  void add(const Key& key, Id id) { races_[key].waiting.push_back(id); }
  void remove(const Key& key, Id id) {
    const auto race = races_.find(key);
    if (race == races_.end()) return;
    if (race->second.leader == id) race->second.leader.reset();
    std::erase(race->second.waiting, id);
    drop_if_empty(race);
  }

  /// Keys that nobody leads, though somebody waits, and that are not asked for.
  [[nodiscard]] std::vector<Key> vacant() const {
    std::vector<Key> keys;
    for (const auto& [key, race] : races_)
      if (!race.leader && !race.asked && !race.waiting.empty()) keys.push_back(key);
    return keys;
  }
  /// The store is asked for the lead of a vacant key, until it is given or refused.
  void ask(const Key& key) { races_.at(key).asked = true; }
  void refuse(const Key& key) {
    const auto race = races_.find(key);
    race->second.asked = false;
    drop_if_empty(race);
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
    if (race->second.waiting.empty()) {
      drop_if_empty(race);
      return std::nullopt;
    }
    race->second.leader = race->second.waiting.front();
    race->second.waiting.pop_front();
    return race->second.leader;
  }

 private:
  struct Race {
    std::optional<Id> leader;
    std::deque<Id> waiting;
    bool asked = false;
  };
  using Races = std::map<Key, Race>;

  void drop_if_empty(Races::iterator race) {
    if (!race->second.leader && !race->second.asked && race->second.waiting.empty()) races_.erase(race);
  }

  std::uint64_t epoch_;
  Races races_;
};

}  // namespace mf::controller
