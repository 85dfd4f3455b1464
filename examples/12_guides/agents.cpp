#include <iostream>

#include "library.hpp"

int main() {
  Library library{"north", "south"};
  mf::Client client(library.address());
  const guide::ShelfClient shelves(client);
  std::cout << "north: " << shelves.at("north").lend("Emma") << '\n';
  std::cout << "any: " << shelves.any().copies("Persuasion") << '\n';
  for (const auto& [shelf, outcome] : shelves.on({"north", "south", "west"}).copies("Emma")) {
    std::cout << shelf << ": ";
    if (outcome) {
      std::cout << outcome.value() << '\n';
    } else {
      std::cout << mf::name(outcome.failure().code) << '\n';
    }
  }
}
