// The whole testbed in one process: the servers' servants and Main, joined by the same stubs and by no
// socket. Commands as in commands.hpp.
//
//   testbed-light --collection NAME [--collection NAME]... --query TEXT [--query TEXT]...
#include <iostream>
#include <memory>

#include "analyzer.hpp"
#include "commands.hpp"
#include "documents.hpp"
#include "flags.hpp"
#include "index.hpp"
#include "mf/light/light.hpp"

int main(int argc, char** argv) {
  const testbed::Flags flags(argc, argv, {"--collection", "--query"});
  mf::Light light;
  mf::Client client(light);
  light.offer(std::make_shared<testbed::Analyzer>());
  for (const auto& collection : flags.all("--collection")) {
    light.offer(std::make_shared<testbed::Index>(), {.agent = collection});
  }
  light.offer(std::make_shared<testbed::Documents>(client));
  testbed::obey(testbed::commands_of(client, flags.all("--query")), std::cin, std::cout);
}
