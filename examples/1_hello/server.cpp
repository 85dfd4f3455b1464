// hello-server [tcp://HOST:PORT]
#include <iostream>
#include <memory>

#include "hello.server.hpp"
#include "mf/server/server.hpp"

class Greeter final : public hello::GreeterServant {
 public:
  std::string greet(const std::string& name) override { return "Hello, " + name + ", from C++!"; }
};

int main(int argc, char** argv) {
  mf::Server server({.listen = argc > 1 ? argv[1] : "tcp://127.0.0.1:7401"});
  server.offer(std::make_shared<Greeter>());
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}
