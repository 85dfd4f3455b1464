// The text analysis as a process of its own: testbed-analyzer --controller mf://HOST:PORT
#include <memory>

#include "analyzer.hpp"
#include "flags.hpp"
#include "serve.hpp"

int main(int argc, char** argv) {
  const testbed::Flags flags(argc, argv, {"--controller"});
  return testbed::serve(std::make_shared<testbed::Analyzer>(), "", flags.required("--controller"));
}
