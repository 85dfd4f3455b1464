// conformance serve plain|async LISTEN [CONTROLLER]: serves the rooms red and blue, prints its addresses, and
// ends at SIGTERM.
// conformance call URL|light-plain|light-async: runs each line of standard input as a step, and answers it
// with a line of JSON. programs/server.py and programs/client.py are the same in Python; table.py says the
// steps. Both take certificates and access files from the environment (tests/cpp/support/peer_options.hpp).
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "client.hpp"
#include "mf/client/client.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "servants.hpp"
#include "support/peer_options.hpp"

namespace {

using namespace conformance_test;

constexpr const char* kRooms[] = {"red", "blue"};

/// Around all calls of both ends in the way "intercepted", and changing nothing.
class Through final : public mf::AroundInterceptor {
 public:
  mf::Answer call(mf::InterceptedCall& /*call*/, const mf::Proceed& proceed) override { return proceed(); }
  void call_async(mf::InterceptedCall& /*call*/, mf::Proceed proceed, mf::AnswerDone done) override {
    proceed.start(std::move(done));
  }
};

/// None where the environment does not ask for them.
mf::Interceptors interceptors() {
  return std::getenv("MF_PEER_INTERCEPTED") != nullptr ? mf::Interceptors{std::make_shared<Through>()}
                                                       : mf::Interceptors{};
}

mf::ClientOptions nested_options() {
  mf::ClientOptions options;
  options.forward_metadata = {"tenant"};
  return options;
}

/// With TLS only where something is encrypted: with an address in clear `tls` is an error.
mf::ClientOptions calling_options(const std::string& where, std::shared_ptr<const mf::Clock> clock) {
  mf::ClientOptions options;
  options.clock = std::move(clock);
  options.wait_for_server = std::chrono::milliseconds(500);  // for the agent that no server has
  options.interceptors = interceptors();
  if (where.find("tls://") != std::string::npos) options.tls = mftest::peer_tls();
  return options;
}

void serve(const std::string& kind, const std::string& listen, const std::string& controller) {
  const auto nested = std::make_shared<Nested>();
  mf::ServerOptions options{.listen = listen, .controller = controller, .workers = 4};
  options.interceptors = interceptors();
  mftest::secure(options);
  mf::Server server(options);
  for (const auto* name : kRooms) server.offer(make_room(kind, name, nested), {.agent = name});
  server.start();
  nested->client = std::make_unique<mf::Client>(server.address().str(), nested_options());
  for (const auto& address : server.addresses()) std::cout << address.str() << ' ';
  std::cout << std::endl;
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
  Caller caller([&](std::shared_ptr<const mf::Clock> clock) {
    auto options = calling_options(where, std::move(clock));
    return nested->client ? mf::Client(light, std::move(options)) : mf::Client(where, std::move(options));
  });
  for (std::string line; std::getline(std::cin, line);) std::cout << caller.run(Words(line)) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc >= 4 && argv[1] == std::string("serve")) {
      serve(argv[2], argv[3], argc > 4 ? argv[4] : "");
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
