// sf1-agent sia|mia COLLECTION CONTROLLER [LISTEN]: serves one role of one collection until SIGTERM.
#include <cstdlib>
#include <iostream>
#include <memory>

#include "mf/server/server.hpp"
#include "sf1.server.hpp"

namespace {

class Sia final : public sf1::SearchServant {
 public:
  explicit Sia(std::string collection) : collection_(std::move(collection)) {}
  std::vector<std::string> search(const std::string& word) override {
    return {word + " in " + collection_ + ", page 1", word + " in " + collection_ + ", page 7"};
  }

 private:
  const std::string collection_;
};

class Mia final : public sf1::MiningServant {
 public:
  explicit Mia(std::string collection) : collection_(std::move(collection)) {}
  std::vector<std::string> related(const std::string& word) override {
    return {word + "s", collection_ + " of " + word};
  }

 private:
  const std::string collection_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: sf1-agent sia|mia COLLECTION mf://HOST:PORT [tcp://HOST:PORT]\n";
    return 2;
  }
  const std::string role = argv[1];
  const std::string collection = argv[2];
  // Clients get the port from the controller.
  mf::Server server({.listen = argc > 4 ? argv[4] : "tcp://127.0.0.1:0", .controller = argv[3]});
  if (role == "sia") {
    server.offer(std::make_shared<Sia>(collection), {.agent = collection});
  } else {
    server.offer(std::make_shared<Mia>(collection), {.agent = collection});
  }
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}
