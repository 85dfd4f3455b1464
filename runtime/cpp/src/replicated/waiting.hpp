// What waits for something else of the same message: by client and sequence, the oldest first, so that the
// oldest goes where there are too many.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "mf/core/types.hpp"
#include "replicated/messages.hpp"

namespace mf::replicated {

struct OriginKey {
  Uuid client;
  std::uint64_t sequence = 0;

  friend auto operator<=>(const OriginKey&, const OriginKey&) = default;
};

[[nodiscard]] inline OriginKey key_of(const Origin& origin) noexcept {
  return {.client = origin.client, .sequence = origin.sequence};
}

template <class Value>
class Waiting {
 public:
  [[nodiscard]] bool empty() const noexcept { return by_key_.empty(); }
  [[nodiscard]] Value* find(const OriginKey& key) {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second->second;
  }
  void put(const OriginKey& key, Value value, std::size_t most) {
    if (auto* const there = find(key)) {
      *there = std::move(value);
      return;
    }
    in_order_.emplace_back(key, std::move(value));
    by_key_.emplace(key, std::prev(in_order_.end()));
    if (by_key_.size() > most) (void)take(in_order_.front().first);
  }
  std::optional<Value> take(OriginKey key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    std::optional<Value> value(std::move(found->second->second));
    in_order_.erase(found->second);
    by_key_.erase(found);
    return value;
  }
  void clear() noexcept {
    in_order_.clear();
    by_key_.clear();
  }

 private:
  std::list<std::pair<OriginKey, Value>> in_order_;
  std::map<OriginKey, typename std::list<std::pair<OriginKey, Value>>::iterator> by_key_;
};

}  // namespace mf::replicated
