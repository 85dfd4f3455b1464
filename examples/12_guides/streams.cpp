#include <iostream>

#include "library.hpp"

int main() {
  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  for (const std::string& title : shelf.titles())  // leaving the loop cancels the call
    std::cout << "there is " << title << '\n';
  auto back = shelf.give_back();
  for (const char* title : {"Emma", "Emma", "Persuasion"}) back.write(title);
  std::cout << "given back: " << back.finish() << '\n';
  std::cout << "copies: " << shelf.copies("Emma") << '\n';
}
