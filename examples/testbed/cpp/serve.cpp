#include "serve.hpp"

#include <iostream>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/server/server.hpp"

namespace testbed {

int serve(std::shared_ptr<mf::Servant> servant, const std::string& agent, const std::string& controller) {
  try {
    mf::Server server({.controller = controller});
    server.offer(std::move(servant), {.agent = agent});
    server.start();
    std::cout << server.address().str() << std::endl;
    server.run();
    return 0;
  } catch (const mf::Error& error) {
    std::cerr << "cannot serve: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace testbed
