#include "mf/controller/store.hpp"

#include <algorithm>
#include <chrono>

#include "controller/drawn_ids.hpp"

namespace mf::controller {

MemoryStore::MemoryStore() {
  content_.cluster = random_uuid();
  state_.name = "memory";
  state_.ok = true;
  state_.since = std::chrono::system_clock::now();
  state_.reason = "everything is lost with the process; servers then register anew";
}

Stored MemoryStore::load() {
  const std::scoped_lock lock(mutex_);
  return content_;
}

void MemoryStore::put(const Uuid& nonce, const stored::Process& process) noexcept {
  const std::scoped_lock lock(mutex_);
  content_.processes.insert_or_assign(nonce, process);
}

void MemoryStore::change(const Uuid& nonce, const std::vector<Offer>& put,
                         const std::vector<Key>& removed) noexcept {
  const std::scoped_lock lock(mutex_);
  auto& offers = content_.processes[nonce].offers;
  const auto drop = [&](const Key& key) {
    std::erase_if(offers, [&](const Offer& offer) { return offer.key == key; });
  };
  for (const Key& key : removed) drop(key);
  for (const Offer& offer : put) {
    drop(offer.key);
    offers.push_back(offer);
  }
}

void MemoryStore::remove(const Uuid& nonce) noexcept {
  const std::scoped_lock lock(mutex_);
  content_.processes.erase(nonce);
}

void MemoryStore::take_lead(const Key& /*key*/, std::uint64_t at_least, Done<std::uint64_t> done) noexcept {
  std::uint64_t epoch = 0;
  {
    const std::scoped_lock lock(mutex_);
    content_.epoch = epoch = std::max(at_least, content_.epoch + 1);
  }
  done(epoch);
}

void MemoryStore::take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept {
  std::uint32_t first = 0;
  {
    const std::scoped_lock lock(mutex_);
    first = take_ids(content_.next_client_id, count);
  }
  done(first);
}

}  // namespace mf::controller
