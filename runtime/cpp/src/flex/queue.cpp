#include "flex/queue.hpp"

#include <algorithm>

namespace mf::flex {
namespace {

constexpr std::size_t kMostIndexes = 32;
constexpr std::size_t kSlack = 64;

}  // namespace

template <class T>
T& Queue::place(ByKey<T>& map, const std::string& key) {
  const auto found = map.find(std::string_view(key));
  return found == map.end() ? map[key] : found->second;
}

void Queue::add(Index& index, std::uint64_t number, const Message& message) {
  if (!key_of(index.shape, message, key_)) return;
  if (!index.tested) {
    place(index.numbers, key_).all.push_back(number);
  } else if (tested_of(index.shape, message, tested_)) {
    place(place(index.groups, key_), tested_).all.push_back(number);
  }
}

std::uint64_t Queue::put(ParcelRef parcel) {
  const auto number = next_++;
  for (auto& each : indexes_) add(each, number, parcel->message);
  parcels_.emplace(number, std::move(parcel));
  return number;
}

/// Those that were taken leave the front.
std::uint64_t Queue::front(Numbers& numbers) const {
  auto& [all, first] = numbers;
  while (first < all.size() && !parcels_.contains(all[first])) ++first;
  if (first == all.size()) return kNone;
  if (first > kSlack && first > all.size() / 2) {
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
  }
  return all[first];
}

std::uint64_t Queue::first(const Asked& asked) {
  auto& numbers = index(asked).numbers;
  const auto found = numbers.find(std::string_view(asked.key()));
  if (found == numbers.end()) return kNone;
  const auto number = front(found->second);
  if (number == kNone) numbers.erase(found);
  return number;
}

std::vector<Queue::Candidate> Queue::candidates(const Asked& asked) {
  std::vector<Candidate> all;
  auto& groups = index(asked).groups;
  const auto found = groups.find(std::string_view(asked.key()));
  if (found == groups.end()) return all;
  for (auto at = found->second.begin(); at != found->second.end();) {
    const auto number = front(at->second);
    if (number == kNone) {
      at = found->second.erase(at);
      continue;
    }
    all.push_back({.number = number, .tested = at->first});
    ++at;
  }
  if (found->second.empty()) groups.erase(found);
  std::ranges::sort(all, {}, &Candidate::number);
  return all;
}

ParcelRef Queue::find(std::uint64_t number) const {
  const auto found = parcels_.find(number);
  return found == parcels_.end() ? nullptr : found->second;
}

ParcelRef Queue::take(std::uint64_t number) {
  const auto found = parcels_.find(number);
  if (found == parcels_.end()) return nullptr;
  auto parcel = std::move(found->second);
  parcels_.erase(found);
  const auto limit = parcels_.size() + kSlack;
  // One that is dropped is made anew when it is asked for.
  std::erase_if(indexes_, [limit](Index& each) { return ++each.stale > limit; });
  return parcel;
}

std::vector<std::uint64_t> Queue::numbers() const {
  std::vector<std::uint64_t> all;
  all.reserve(parcels_.size());
  for (const auto& [number, parcel] : parcels_) all.push_back(number);
  std::ranges::sort(all);
  return all;
}

std::vector<ParcelRef> Queue::take_all() {
  std::vector<ParcelRef> all;
  for (const auto number : numbers()) all.push_back(std::move(parcels_.at(number)));
  parcels_.clear();
  indexes_.clear();
  return all;
}

Queue::Index& Queue::index(const Asked& asked) {
  for (auto& each : indexes_)
    if (each.shape == asked.shape()) return each;
  if (indexes_.size() >= kMostIndexes) indexes_.pop_front();
  auto& made = indexes_.emplace_back(Index{.shape = asked.shape(), .tested = asked.tested()});
  for (const auto number : numbers()) add(made, number, parcels_.at(number)->message);
  return made;
}

}  // namespace mf::flex
