#include "mf/core/cache.hpp"

#include <algorithm>
#include <cstring>

namespace mf::cached {
namespace {

std::size_t hash_of(std::string_view agent, std::span<const std::byte> request) noexcept {
  const std::hash<std::string_view> hash;
  const auto bytes = std::string_view(reinterpret_cast<const char*>(request.data()), request.size());
  return hash(bytes) * std::size_t{0x9E3779B97F4A7C15} + hash(agent);
}

}  // namespace

Key::Key(std::string_view of_agent, std::span<const std::byte> of_request) noexcept
    : agent(of_agent), request(of_request), hash(hash_of(of_agent, of_request)) {}

OwnKey::OwnKey(const Key& key) : agent(key.agent), request(key.request.begin(), key.request.end()) {}

bool Cache::Equal::operator()(const Key& left, const Key& right) const noexcept {
  if (left.hash != right.hash || left.request.size() != right.request.size() || left.agent != right.agent)
    return false;
  return left.request.empty() ||
         std::memcmp(left.request.data(), right.request.data(), left.request.size()) == 0;
}

const Kept* Cache::find(const Key& key, TimePoint now) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const auto entry = found->second;
  if (entry->expires <= now) {
    drop(entry);
    return nullptr;
  }
  if (entry != entries_.begin()) entries_.splice(entries_.begin(), entries_, entry);
  ++hits_;
  return &entry->kept;
}

std::shared_ptr<Flight> Cache::under_way(const Key& key) const {
  const auto found = under_way_.find(key);
  return found == under_way_.end() ? nullptr : found->second;
}

std::shared_ptr<Flight> Cache::lead(const Key& key, const void* place) {
  auto flight = std::make_shared<Flight>(key, place);
  under_way_.emplace(flight->own.key(), flight);
  ++misses_;
  return flight;
}

std::deque<std::shared_ptr<Waiter>> Cache::land(Flight& flight, const Kept& kept, TimePoint now, bool keep) {
  over(flight);
  if (keep && !flight.forgotten) store(flight, kept, now);
  hits_ += flight.waiters.size();
  return std::exchange(flight.waiters, {});
}

std::shared_ptr<Waiter> Cache::fail(Flight& flight) {
  if (flight.waiters.empty()) {
    over(flight);
    return nullptr;
  }
  auto next = std::move(flight.waiters.front());
  flight.waiters.pop_front();
  flight.place = nullptr;
  ++misses_;
  return next;
}

bool Cache::leave(Flight& flight, const Waiter& waiter) {
  return std::erase_if(flight.waiters, [&](const auto& each) { return each.get() == &waiter; }) != 0;
}

// A forgotten flight is not there any more, and another one may have its place.
void Cache::over(const Flight& flight) {
  const auto found = under_way_.find(flight.own.key());
  if (found != under_way_.end() && found->second.get() == &flight) under_way_.erase(found);
}

void Cache::forget(const Key& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) drop(found->second);
  detach(key);
}

void Cache::forget_agent(std::string_view agent) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto current = entry++;
    if (current->own.agent == agent) drop(current);
  }
  std::erase_if(under_way_, [&](const auto& each) {
    if (each.first.agent != agent) return false;
    each.second->forgotten = true;
    return true;
  });
}

void Cache::forget_all() {
  by_key_.clear();
  entries_.clear();
  bytes_ = 0;
  for (const auto& [key, flight] : under_way_) flight->forgotten = true;
  under_way_.clear();
}

CacheStats Cache::stats() const noexcept {
  return {
      .hits = hits_, .misses = misses_, .entries = entries_.size(), .bytes = bytes_, .evictions = evictions_};
}

void Cache::store(const Flight& flight, const Kept& kept, TimePoint now) {
  const auto key = flight.own.key();
  if (const auto found = by_key_.find(key); found != by_key_.end()) drop(found->second);
  const auto size = key.agent.size() + key.request.size() + kept.bytes.size() + kEntryBytes;
  if (size > info_.max_bytes) return;
  entries_.emplace_front(key, kept);
  const auto entry = entries_.begin();
  entry->size = size;
  if (info_.ttl.count() != 0) entry->expires = deadline_after(now, info_.ttl);
  by_key_.emplace(entry->own.key(), entry);
  bytes_ += size;
  while (entries_.size() > info_.entries || bytes_ > info_.max_bytes) {
    drop(std::prev(entries_.end()));
    ++evictions_;
  }
}

void Cache::drop(Entries::iterator entry) {
  bytes_ -= entry->size;
  by_key_.erase(entry->own.key());
  entries_.erase(entry);
}

void Cache::detach(const Key& key) {
  const auto found = under_way_.find(key);
  if (found == under_way_.end()) return;
  found->second->forgotten = true;
  under_way_.erase(found);
}

}  // namespace mf::cached
