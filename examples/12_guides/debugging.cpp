#include <iostream>
#include <string>

#include "library.hpp"

using namespace std::chrono_literals;

namespace {

void show(const mf::Error& error, const std::string& address) {
  const bool may_have_run = error.execution() != mf::Execution::not_executed;
  std::cout << "code: " << mf::name(error.code()) << " / may have run: " << (may_have_run ? "True" : "False");
  std::string words = error.what();
  words.replace(words.find(address), address.size(), "tcp://SERVER");
  std::cout << "\n  " << words << '\n';
}

}  // namespace

int main() {
  const std::string nowhere = "tcp://127.0.0.1:1";  // no server listens there
  mf::Client lost(nowhere);
  try {
    (void)guide::ShelfClient(lost).at("north").copies("Emma", {.deadline = 300ms});
  } catch (const mf::Error& error) {
    show(error, nowhere);
  }

  Library library{"north"};
  mf::Client client(library.address());
  for (const char* agent : {"south", "north"}) {
    try {
      (void)guide::ShelfClient(client).at(agent).count_pages({.deadline = 100ms});
    } catch (const mf::Error& error) {
      show(error, library.address());
    }
  }
}
