#include "mf/controller/store.hpp"

#include <chrono>

#include "controller/random.hpp"

namespace mf::controller {

MemoryStore::MemoryStore() {
  content_.cluster = random_uuid();
  state_.name = "memory";
  state_.ok = true;
  state_.since = std::chrono::system_clock::now();
  state_.reason = "everything is lost with the process; servers then register anew";
}

void MemoryStore::put(const Uuid& nonce, const stored::Process& process) noexcept {
  content_.processes.insert_or_assign(nonce, process);
}

void MemoryStore::change(const Uuid& nonce, const std::vector<Offer>& put,
                         const std::vector<Key>& removed) noexcept {
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

bool MemoryStore::put_epoch(const Key& key, std::uint64_t epoch) noexcept {
  content_.epochs.insert_or_assign(key, epoch);
  return true;
}

bool MemoryStore::put_client_ids(std::uint32_t next) noexcept {
  content_.next_client_id = next;
  return true;
}

}  // namespace mf::controller
