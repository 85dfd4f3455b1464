#include <iostream>

#include "library.hpp"

using namespace std::chrono_literals;

int main() {
  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  std::cout << "copies: " << shelf.copies("Emma", {.deadline = 5s}) << '\n';
  try {
    (void)shelf.count_pages({.deadline = 100ms});
  } catch (const mf::Error& error) {
    std::cout << mf::name(error.code()) << '\n';
  }
  while (shelf.given_up() == 0) continue;
  std::cout << "the handler has stopped\n";
}
