// finder-peer serve | call URL, built with each of the two finder.mfidl; programs/finder_peer.py is the same
// in Python.
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "finder.client.hpp"
#include "finder.server.hpp"
#include "mf/server/server.hpp"
#include "say.hpp"

namespace {

using finder::FinderClient;
using finder::FinderFindRequest;
using finder::Hit;
using interop_test::say;
using interop_test::text;

class Finder final : public finder::FinderServant {
 public:
  std::vector<Hit> find(const std::string& /*word*/) override {
    std::cout << "find was called" << std::endl;
    return {};
  }
  /// Only one of the schemas has it.
  std::uint32_t count(const std::string& word) MAY_OVERRIDE {
    return static_cast<std::uint32_t>(word.size());
  }
};

void serve() {
  mf::Server server({.listen = "tcp://127.0.0.1:0"});
  server.offer(std::make_shared<Finder>());
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}

template <class Call>
void report(const char* mode, Call call) {
  mf::Outcome<void> outcome;
  try {
    call();
  } catch (const mf::Error& error) {
    outcome = error;
  }
  const bool ok = outcome.ok();
  say({{"mode", text(mode)},
       {"code", text(ok ? "OK" : mf::name(outcome.failure().code))},
       {"execution", text(ok ? "" : mf::name(outcome.failure().execution))},
       {"detail", text(ok ? "" : outcome.failure().message)}});
}

void call(const std::string& address) {
  mf::Client client(address);
  const FinderClient stub(client);
  const std::vector<FinderFindRequest> requests = {{"a"}, {"b"}};
  report("single", [&] { (void)stub.find("a"); });
  report("async", [&] {
    std::promise<mf::Outcome<std::vector<Hit>>> promise;
    stub.async_find("a",
                    [&](mf::Outcome<std::vector<Hit>> outcome) { promise.set_value(std::move(outcome)); });
    (void)promise.get_future().get().value();
  });
  report("batch", [&] { (void)stub.find_batch(requests).results().at(0).value(); });
  report("bulk", [&] { (void)stub.find_bulk(requests).at(0).value(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "serve") {
    serve();
  } else if (argc == 3 && std::string(argv[1]) == "call") {
    call(argv[2]);
  } else {
    return 2;
  }
}
