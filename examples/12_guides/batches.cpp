#include <iostream>
#include <vector>

#include "library.hpp"

namespace {

void print(const std::vector<mf::Outcome<std::uint32_t>>& outcomes) {
  const char* space = "";
  for (const auto& outcome : outcomes) {
    std::cout << space << (outcome ? std::to_string(outcome.value()) : "-");
    space = " ";
  }
  std::cout << '\n';
}

}  // namespace

int main() {
  const std::vector<guide::ShelfCopiesRequest> requests{{"Emma"}, {"Ulysses"}, {"Persuasion"}};
  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  auto batch = shelf.copies_batch(requests, {.size = 2, .window = 4});
  print(batch.results());
  print(shelf.copies_bulk(requests));
}
