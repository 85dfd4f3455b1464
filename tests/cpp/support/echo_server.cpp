// A process that serves Echo until it is stopped; prints its address. For tests that kill or starve it.
//
//   mf_test_echo_server tcp://127.0.0.1:0 [descriptors]
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "mf/server/server.hpp"
#include "support/echo.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2) {
    const auto limit = static_cast<rlim_t>(std::strtoul(argv[2], nullptr, 10));
    const rlimit limits{.rlim_cur = limit, .rlim_max = limit};
    if (setrlimit(RLIMIT_NOFILE, &limits) != 0) return 3;
  }
  mf::Server server({.listen = argv[1]});
  server.offer(std::make_shared<mftest::Echo>());
  std::atomic<bool> failed{false};
  // After run() listens, when it has every descriptor that it needs.
  std::thread announcing([&] {
    while (!failed) {
      try {
        std::printf("%s\n", server.address().str().c_str());
        std::fflush(stdout);
        return;
      } catch (const mf::Error&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  });
  try {
    server.run();
  } catch (const mf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    failed = true;
  }
  announcing.join();
  if (failed) return 1;
  return 0;
}
