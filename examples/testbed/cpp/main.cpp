// Main, which asks the queries: testbed-main --controller mf://HOST:PORT --query TEXT [--query TEXT]...;
// commands as in commands.hpp.
#include <iostream>

#include "commands.hpp"
#include "flags.hpp"

int main(int argc, char** argv) {
  const testbed::Flags flags(argc, argv, {"--controller", "--query"});
  mf::Client client(flags.required("--controller"));
  testbed::obey(testbed::commands_of(client, flags.all("--query")), std::cin, std::cout);
}
