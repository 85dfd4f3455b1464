// `faults_server LISTEN [CONTROLLER]`: one servant; says where it listens, and serves until SIGTERM.
#include <cstdio>
#include <memory>
#include <string>

#include "bench_work.server.hpp"
#include "mf/core/error.hpp"
#include "mf/server/server.hpp"

namespace {

class Work final : public bench_work::WorkServant {
 public:
  std::int32_t step(std::int32_t x) override { return x + 1; }
  std::string text(const std::string& x) override { return x; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: faults_server LISTEN [CONTROLLER]\n", stderr);
    return 2;
  }
  try {
    mf::Server server({.listen = argv[1], .controller = argc > 2 ? argv[2] : ""});
    server.offer(std::make_shared<Work>());
    server.start();
    std::puts(server.address().str().c_str());
    std::fflush(stdout);
    server.run();
  } catch (const mf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
