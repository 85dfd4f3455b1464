// sf1-ba CONTROLLER LISTEN: asks the collections, and skips those that do not answer.
#include <iostream>
#include <memory>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "sf1.client.hpp"
#include "sf1.server.hpp"

namespace {

using namespace std::chrono_literals;

class Ba final : public sf1::AccessServant {
 public:
  explicit Ba(const std::string& controller)
      : client_(controller, {.wait_for_server = 200ms}), search_(client_), mining_(client_) {}

  sf1::Answer query(const std::vector<std::string>& collections, const std::string& word) override {
    const mf::CallOptions soon{.deadline = 1s};
    return {.documents = parts(search_.on(collections).search(word, soon)),
            .related = parts(mining_.on(collections).related(word, soon))};
  }

 private:
  static std::vector<sf1::Part> parts(const mf::Scattered<std::vector<std::string>>& scattered) {
    std::vector<sf1::Part> result;
    for (const auto& [collection, outcome] : scattered) {
      sf1::Part part{.collection = collection, .found = {}, .skipped = {}};
      if (outcome.ok()) {
        part.found = outcome.value();
      } else {
        part.skipped = std::string(mf::name(outcome.failure().code)) + ": " + outcome.failure().message;
      }
      result.push_back(std::move(part));
    }
    return result;
  }

  mf::Client client_;
  const sf1::SearchClient search_;
  const sf1::MiningClient mining_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: sf1-ba mf://HOST:PORT tcp://HOST:PORT\n";
    return 2;
  }
  const auto ba = std::make_shared<Ba>(argv[1]);
  mf::Server server({.listen = argv[2]});
  server.offer(ba);
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}
