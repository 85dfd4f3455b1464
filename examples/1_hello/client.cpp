// hello-client NAME [tcp://HOST:PORT]
#include <iostream>

#include "hello.client.hpp"

int main(int argc, char** argv) {
  mf::Client client(argc > 2 ? argv[2] : "tcp://127.0.0.1:7401");
  std::cout << hello::GreeterClient(client).greet(argc > 1 ? argv[1] : "world") << '\n';
}
