#include <iostream>

#include "mf/core/error.hpp"
#include "mf/flex/flex.hpp"

using namespace std::chrono_literals;

int main() {
  mf::flex::Node node;  // node("mf://localhost:7400") reaches the processes of other programs, too
  auto desk = node.process("desk");
  auto shelf = node.process("shelf");
  desk.send({{"dest", "shelf"}, {"tag", "lend"}, {"title", "Emma"}, {"copies", 2}});
  desk.send({{"dest", "shelf"}, {"tag", "count"}, {"titles", {"Emma", "Persuasion"}}});

  const auto counted = shelf.recv(5s, {{"tag", "count"}});  // the first that matches; the others wait
  const auto titles = counted["titles"].to<std::vector<std::string>>();
  shelf.send({{"dest", counted.src()}, {"tag", "counted"}, {"number", titles.size()}});
  const auto lent = shelf.recv(5s, {{"tag", "lend"}});
  std::cout << "lent: " << lent["copies"].to<int>() << " of " << lent["title"].to<std::string>() << '\n';
  std::cout << "counted: " << desk.recv(5s, {{"tag", "counted"}})["number"].to<int>() << '\n';

  try {
    desk.send({{"dest", "attic"}, {"tag", "lend"}, {"title", "Emma"}});
  } catch (const mf::Error& error) {
    std::cout << "to the attic: " << mf::name(error.code()) << '\n';
  }
}
