// ids-server [tcp://HOST:PORT]
#include <atomic>
#include <iostream>
#include <map>
#include <memory>

#include "ids.server.hpp"
#include "mf/server/server.hpp"

class Ids final : public ids::IdsServant {
 public:
  std::uint32_t collection_id(const std::string& name) override { return look_up(name); }
  std::uint32_t look_up(const std::string& name) override {
    ++requests_;
    const auto found = ids_.find(name);
    if (found == ids_.end()) throw ids::NoSuchCollection(name);
    return found->second;
  }
  std::uint64_t requests() override { return requests_; }

 private:
  const std::map<std::string, std::uint32_t, std::less<>> ids_{{"books", 1}, {"maps", 2}, {"news", 3}};
  std::atomic<std::uint64_t> requests_{0};
};

int main(int argc, char** argv) {
  mf::Server server({.listen = argc > 1 ? argv[1] : "tcp://127.0.0.1:7406"});
  server.offer(std::make_shared<Ids>());
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}
