#include <iostream>
#include <memory>
#include "echo.client.hpp"
#include "echo.server.hpp"
#include "mf/server/server.hpp"
struct Servant final : echo::EchoServant {
  plain::Item say(const plain::Item& item) override {
    return {.name = item.name + "!", .count = item.count + 1};
  }
};
int main() {
  mf::Server server({.listen = "tcp://127.0.0.1:0"});
  server.offer(std::make_shared<Servant>());
  server.start();
  mf::Client client(server.address().str());
  auto item = echo::EchoClient(client).say({.name = "hi", .count = 1});
  std::cout << item.name << ' ' << item.count << std::endl;
  server.stop();
}
