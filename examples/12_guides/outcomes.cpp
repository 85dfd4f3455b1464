#include <iostream>

#include "library.hpp"

using namespace std::chrono_literals;

namespace {

void print(const mf::Error& error) {
  const bool may_have_run = error.execution() != mf::Execution::not_executed;
  std::cout << "may have run: " << (may_have_run ? "True" : "False") << '\n';
}

}  // namespace

int main() {
  mf::Client nowhere("tcp://127.0.0.1:1");  // no server listens there
  try {
    (void)guide::ShelfClient(nowhere).at("north").lend("Emma", {.deadline = 300ms});
  } catch (const mf::Error& error) {
    print(error);
  }

  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  try {
    (void)shelf.lend("Ulysses");
  } catch (const guide::NoSuchBook& error) {
    std::cout << "no such book: " << error.title << '\n';
  }
  try {
    (void)shelf.count_pages({.deadline = 100ms});
  } catch (const mf::Error& error) {
    print(error);
  }
}
