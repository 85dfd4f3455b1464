// One collection's index as a process of its own: testbed-index --controller mf://HOST:PORT --collection NAME
#include <memory>

#include "flags.hpp"
#include "index.hpp"
#include "serve.hpp"

int main(int argc, char** argv) {
  const testbed::Flags flags(argc, argv, {"--controller", "--collection"});
  return testbed::serve(std::make_shared<testbed::Index>(), flags.required("--collection"),
                        flags.required("--controller"));
}
