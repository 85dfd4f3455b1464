#include <iostream>

#include "library.hpp"

int main(int, char** arguments) {
  const std::string where = arguments[1];  // mf://HOST:PORT of a controller that relays, too
  mf::Server server({.listen = "tcp://127.0.0.1:0", .controller = where});
  for (const char* name : {"north", "south"}) server.offer(std::make_shared<Shelf>(), {.agent = name});
  server.start();

  mf::Client client("relay://" + where.substr(std::string("mf://").size()));
  const guide::ShelfClient shelves(client);
  std::cout << "left: " << shelves.at("south").lend("Emma") << '\n';
  try {
    (void)shelves.at("north").copies("Ulysses");
  } catch (const guide::NoSuchBook& error) {
    std::cout << "no such book: " << error.title << '\n';
  }
  for (const auto& [shelf, outcome] : shelves.everywhere().copies("Emma"))
    std::cout << shelf << ": " << outcome.value() << '\n';

  server.stop();
}
