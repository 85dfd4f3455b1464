#include "replicated/log.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mf::replicated {
namespace {

constexpr std::size_t kEntryBytes = 100;
constexpr std::uint64_t kPrime = 0x9E37'79B1'85EB'CA87;

std::uint64_t little_endian(const std::uint8_t* from) noexcept {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

std::size_t size_of(const Entry& entry) noexcept {
  return entry.body ? replicated::size_of(*entry.body) : kEntryBytes;
}

}  // namespace

std::uint64_t next_mark(std::uint64_t mark, const Entry& entry) noexcept {
  if (entry.body) {
    const auto& client = entry.body->origin.client.bytes;
    mark ^= little_endian(client.data()) ^ little_endian(client.data() + 8);
    mark = mark * kPrime + entry.body->origin.sequence + 1;
  }
  mark = std::rotl(mark, 31) ^ entry.version.epoch;
  return mark * kPrime + entry.version.counter;
}

std::size_t size_of(const Body& body) noexcept {
  return kEntryBytes + body.payload.size();
}

std::shared_ptr<Seen> Origins::find(const Origin& origin) const {
  const auto client = by_id_.find(origin.client);
  if (client == by_id_.end()) return nullptr;
  const auto& seen = client->second->seen;
  const auto found = seen.find(origin.sequence);
  return found == seen.end() ? nullptr : found->second;
}

bool Origins::is_over(const Origin& origin) const {
  const auto client = by_id_.find(origin.client);
  return client != by_id_.end() && origin.sequence < client->second->oldest;
}

/// The client, of whom something was heard now.
Origins::Client& Origins::last(const Uuid& id) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) {
    clients_.splice(clients_.end(), clients_, found->second);
    return clients_.back();
  }
  clients_.push_back({.id = id});
  by_id_.emplace(id, std::prev(clients_.end()));
  if (clients_.size() > most_) {
    by_id_.erase(clients_.front().id);
    clients_.pop_front();
  }
  return clients_.back();
}

std::shared_ptr<Seen> Origins::add(const Origin& origin, const Version& version) {
  auto& client = last(origin.client);
  const auto kept = origin.sequence >= kMostAhead ? origin.sequence - kMostAhead + 1 : 0;
  const auto oldest = std::max(origin.oldest, kept);
  if (oldest > client.oldest) {
    client.oldest = oldest;
    client.seen.erase(client.seen.begin(), client.seen.lower_bound(oldest));
  }
  return client.seen[origin.sequence] = std::make_shared<Seen>(Seen{.version = version});
}

Origins Origins::copy() const {
  Origins made(most_);
  made.clients_ = clients_;
  for (auto each = made.clients_.begin(); each != made.clients_.end(); ++each)
    made.by_id_.emplace(each->id, each);
  return made;
}

std::vector<ClientState> Origins::states() const {
  std::vector<ClientState> states;
  states.reserve(clients_.size());
  for (const auto& client : clients_) {
    auto& state = states.emplace_back();
    state.client = client.id;
    state.oldest = client.oldest;
    for (const auto& [sequence, seen] : client.seen)
      state.known.push_back(
          {.sequence = sequence, .version = seen->version, .outcome = seen->outcome.value_or(Outcome())});
  }
  return states;
}

void Origins::restore(const std::vector<ClientState>& states) {
  clients_.clear();
  by_id_.clear();
  for (const auto& state : states) {
    auto& client = last(state.client);
    client.oldest = state.oldest;
    for (const auto& known : state.known)
      client.seen[known.sequence] =
          std::make_shared<Seen>(Seen{.version = known.version, .outcome = known.outcome});
  }
}

void Log::reset(const Head& at) {
  base_ = head_ = at;
  entries_.clear();
  bytes_ = 0;
}

void Log::append(Entry entry) {
  head_ = {.version = entry.version, .mark = next_mark(head_.mark, entry)};
  bytes_ += size_of(entry);
  entries_.push_back({.entry = std::move(entry), .head = head_});
  while (entries_.size() > most_ || bytes_ > most_bytes_) {
    bytes_ -= size_of(entries_.front().entry);
    base_ = entries_.front().head;
    entries_.pop_front();
  }
}

const Entry* Log::at(std::uint64_t counter) const noexcept {
  const auto index = counter - base_.version.counter - 1;  // of one before the base: beyond all
  return index < entries_.size() ? &entries_[index].entry : nullptr;
}

const Head* Log::head_at(std::uint64_t counter) const noexcept {
  if (counter == base_.version.counter) return &base_;
  const auto index = counter - base_.version.counter - 1;
  return index < entries_.size() ? &entries_[index].head : nullptr;
}

std::vector<Entry> Log::after(std::uint64_t counter, std::size_t most, std::size_t most_bytes) const {
  std::vector<Entry> found;
  std::size_t bytes = 0;
  for (auto index = counter - base_.version.counter; index < entries_.size() && found.size() < most;
       ++index) {
    const auto& entry = entries_[index].entry;
    bytes += size_of(entry);
    if (!found.empty() && bytes > most_bytes) break;
    found.push_back(entry);
  }
  return found;
}

}  // namespace mf::replicated
