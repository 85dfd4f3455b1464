// ids-client [CALLS [tcp://HOST:PORT]]: the same calls without and with a cache.
#include <array>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "ids.client.hpp"

namespace {

constexpr std::array<const char*, 4> kNames{"books", "maps", "news", "films"};  // there are no films

template <class Call>
void measure(const ids::IdsClient& ids, const char* what, unsigned calls, Call call) {
  const auto before = ids.requests();
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < calls; ++i) {
    try {
      (void)call(kNames[i % kNames.size()]);
    } catch (const ids::NoSuchCollection&) {
      // An answer like others: it is kept, too.
    }
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  std::cout << std::left << std::setw(24) << what << std::right << std::setw(10) << ids.requests() - before
            << std::fixed << std::setprecision(2) << std::setw(12) << took.count() / calls << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const auto calls = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 10'000U;
  mf::Client client(argc > 2 ? argv[2] : "tcp://127.0.0.1:7406");
  const ids::IdsClient ids(client);
  (void)ids.requests();  // connects
  std::cout << calls << " calls                 requests   us a call\n";
  measure(ids, "look_up", calls, [&](const char* name) { return ids.look_up(name); });
  measure(ids, "collection_id, cached", calls, [&](const char* name) { return ids.collection_id(name); });
  ids.collection_id_forget("books");
  measure(ids, "books was forgotten", calls, [&](const char* name) { return ids.collection_id(name); });
  const auto stats = ids.collection_id_cache().stats();
  std::cout << stats.hits << " hits, " << stats.misses << " misses, " << stats.entries << " entries\n";
}
