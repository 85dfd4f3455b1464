#pragma once
// Who leads what: for each key those who ask, the one who leads first, then those who wait, and the highest
// epoch that was ever given. Pure data; epochs only grow, whoever gets them.

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

  /// Keys that ever had an owner are remembered, so there is a bound.
  static constexpr std::size_t kMaxKeys = 100'000;

  explicit Election(std::map<Key, std::uint64_t> epochs = {}) : epochs_(std::move(epochs)) {}

  [[nodiscard]] bool has_room_for(const Key& key) const {
    return epochs_.contains(key) || epochs_.size() + races_.size() < kMaxKeys;
  }
  void add(const Key& key, Id id) { races_[key].waiting.push_back(id); }
  void remove(const Key& key, Id id) {
    const auto race = races_.find(key);
    if (race == races_.end()) return;
    if (race->second.leader == id) race->second.leader.reset();
    std::erase(race->second.waiting, id);
    if (!race->second.leader && race->second.waiting.empty()) races_.erase(race);
  }

  /// Keys that nobody leads, though somebody waits.
  [[nodiscard]] std::vector<Key> vacant() const {
    std::vector<Key> keys;
    for (const auto& [key, race] : races_)
      if (!race.leader && !race.waiting.empty()) keys.push_back(key);
    return keys;
  }
  /// The epoch that the next leader of that key would have. `now`: milliseconds since 1970, so that it grows
  /// although what was given before is not known any more.
  [[nodiscard]] std::uint64_t next_epoch(const Key& key, std::uint64_t now) const {
    const auto known = epochs_.find(key);
    return known == epochs_.end() ? now : std::max(known->second + 1, now);
  }
  /// Who has waited longest leads with this epoch.
  Id give(const Key& key, std::uint64_t epoch) {
    Race& race = races_.at(key);
    const Id id = race.waiting.front();
    race.waiting.pop_front();
    race.leader = id;
    epochs_[key] = epoch;
    return id;
  }

 private:
  struct Race {
    std::optional<Id> leader;
    std::deque<Id> waiting;
  };

  std::map<Key, std::uint64_t> epochs_;
  std::map<Key, Race> races_;
};

}  // namespace mf::controller
