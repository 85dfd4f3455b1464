// conformance serve plain|async LISTEN: serves the rooms red and blue, prints its address, and ends at
// SIGTERM.
// conformance call URL|light-plain|light-async: runs each line of standard input as a step, and answers it
// with a line of JSON. programs/server.py and programs/client.py are the same in Python; table.py says the
// steps.
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "client.hpp"
#include "mf/client/client.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "servants.hpp"

namespace {

using namespace conformance_test;

constexpr const char* kRooms[] = {"red", "blue"};

mf::ClientOptions nested_options() {
  mf::ClientOptions options;
  options.forward_metadata = {"tenant"};
  return options;
}

void serve(const std::string& kind, const std::string& listen) {
  const auto nested = std::make_shared<Nested>();
  mf::Server server({.listen = listen, .workers = 4});
  for (const auto* name : kRooms) server.offer(make_room(kind, name, nested), {.agent = name});
  server.start();
  nested->client = std::make_unique<mf::Client>(server.address().str(), nested_options());
  std::cout << server.address().str() << std::endl;
  server.run();
}

void call(const std::string& where) {
  const auto nested = std::make_shared<Nested>();
  mf::Light light;
  if (where.starts_with("light-")) {
    for (const auto* name : kRooms) {
      light.offer(make_room(where.substr(where.find('-') + 1), name, nested), {.agent = name});
    }
    nested->client = std::make_unique<mf::Client>(light, nested_options());
  }
  Caller caller([&] { return nested->client ? mf::Client(light) : mf::Client(where); });
  for (std::string line; std::getline(std::cin, line);) std::cout << caller.run(Words(line)) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && argv[1] == std::string("serve")) {
      serve(argv[2], argv[3]);
    } else if (argc == 3) {
      call(argv[2]);
    } else {
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "conformance: " << error.what() << '\n';
    return 1;
  }
}
