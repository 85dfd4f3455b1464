#include <future>
#include <iostream>
#include <vector>

#include "library.hpp"

namespace {

constexpr std::uint32_t kCalls = 500;

template <class Ask>
void measure(const char* way, Ask ask) {
  const auto begun = std::chrono::steady_clock::now();
  const std::uint64_t copies = ask();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
  std::cout << way << ": " << copies << " copies\n";
  std::cerr << way << ": " << took.count() / kCalls << " us a call\n";
}

std::uint64_t sum(const std::vector<mf::Outcome<std::uint32_t>>& outcomes) {
  std::uint64_t copies = 0;
  for (const auto& each : outcomes) copies += each.value();
  return copies;
}

}  // namespace

int main() {
  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  const std::vector<guide::ShelfCopiesRequest> requests(kCalls, {"Emma"});
  measure("one by one", [&] {
    std::uint64_t copies = 0;
    for (std::uint32_t call = 0; call < kCalls; ++call) copies += shelf.copies("Emma");
    return copies;
  });
  measure("batch", [&] { return sum(shelf.copies_batch(requests).results()); });
  measure("bulk", [&] { return sum(shelf.copies_bulk(requests)); });
  measure("asynchronous", [&] {
    std::vector<std::promise<mf::Outcome<std::uint32_t>>> promises(kCalls);
    for (auto& each : promises)
      shelf.async_copies("Emma", [&each](auto outcome) { each.set_value(std::move(outcome)); });
    std::uint64_t copies = 0;
    for (auto& each : promises) copies += each.get_future().get().value();
    return copies;
  });
}
