#pragma once
// Finds the watches that a change concerns: by the name of each, or by a prefix of names. Pure data.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "mf/controller.hpp"
#include "mf/controller/place.hpp"

namespace mf::controller {

class WatchIndex {
 public:
  using Id = std::uint64_t;

  void add(const Filter& filter, Id id) { of(filter)[key_of(filter)].insert(id); }
  void remove(const Filter& filter, Id id) {
    auto& watches = of(filter);
    const auto found = watches.find(key_of(filter));
    if (found == watches.end()) return;
    found->second.erase(id);
    if (found->second.empty()) watches.erase(found);
  }
  /// Adds the watches whose name matches; agents are not compared.
  void find(const Key& key, std::set<Id>& found) const {
    add_all(names_, {key.kind, key.name}, found);
    if (prefixes_.empty()) return;
    for (std::size_t length = 0; length <= key.name.size(); ++length)
      add_all(prefixes_, {key.kind, key.name.substr(0, length)}, found);
  }

 private:
  using Watches = std::map<std::pair<KeyKind, std::string>, std::set<Id>>;

  static std::pair<KeyKind, std::string> key_of(const Filter& filter) {
    return {filter.kind, std::string(Pattern(filter.name).text())};
  }
  Watches& of(const Filter& filter) { return Pattern(filter.name).prefix() ? prefixes_ : names_; }
  static void add_all(const Watches& watches, const std::pair<KeyKind, std::string>& key,
                      std::set<Id>& found) {
    if (const auto at = watches.find(key); at != watches.end())
      found.insert(at->second.begin(), at->second.end());
  }

  Watches names_;
  Watches prefixes_;
};

}  // namespace mf::controller
