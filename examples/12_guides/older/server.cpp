// A server of the older schema: prints its address, and serves until its input ends.
#include <iostream>
#include <memory>

#include "loans.server.hpp"
#include "mf/server/server.hpp"

namespace {

class Loans final : public loans::LoansServant {
 public:
  loans::Book find(const std::string& title) override { return {.title = title, .copies = 3}; }
};

}  // namespace

int main() {
  mf::Server server({.listen = "tcp://127.0.0.1:0"});
  server.offer(std::make_shared<Loans>());
  server.start();
  std::cout << server.address().str() << std::endl;
  while (std::cin.get() != std::char_traits<char>::eof()) continue;
  server.stop();
}
