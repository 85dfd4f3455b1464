// The document server in C++: testbed-document --controller mf://HOST:PORT
#include <memory>

#include "documents.hpp"
#include "flags.hpp"
#include "serve.hpp"

int main(int argc, char** argv) {
  const testbed::Flags flags(argc, argv, {"--controller"});
  const auto controller = flags.required("--controller");
  mf::Client others(controller);
  return testbed::serve(std::make_shared<testbed::Documents>(others), "", controller);
}
