#include <iostream>

#include "loans.client.hpp"
#include "mf/client/client.hpp"

// A client of the newer schema, at a server that still has the older one.
int main(int, char** arguments) {
  mf::Client client(arguments[1]);
  const loans::LoansClient loans(client);
  const auto book = loans.find("Emma");
  std::cout << book.title << ": " << book.copies << " copies, shelf " << book.shelf << '\n';
  try {
    (void)loans.titles();
  } catch (const mf::Error& error) {
    std::cout << "titles: " << mf::name(error.code()) << '\n';
  }
}
