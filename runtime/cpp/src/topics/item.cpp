#include "mf/topics/item.hpp"

namespace mf::topics {

void Item::encode_now() {
  const std::scoped_lock lock(making_);
  if (encoded_.load(std::memory_order_relaxed)) return;
  auto bytes = encode();
  origin->counters->encoded.fetch_add(1, std::memory_order_relaxed);
  set_payload(std::move(bytes));
}

}  // namespace mf::topics
