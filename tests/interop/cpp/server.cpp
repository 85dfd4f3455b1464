// interop-server --listen URL [--controller URL] [--room NAME]... [--inline-room NAME]...
//
// How it shows and verifies peers, and its access file: support/peer_options.hpp.
//
// Prints its address once it listens, serves until SIGTERM, and prints how its connections were counted, as
// programs/server.py does.
#include "mf/server/server.hpp"

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "servant.hpp"
#include "support/peer_options.hpp"

namespace {

void serve(int argc, char** argv) {
  mf::ServerOptions options;
  std::vector<std::pair<std::string, mf::Where>> rooms;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--listen") options.listen = value;
    if (name == "--controller") options.controller = value;
    if (name == "--room") rooms.emplace_back(value, mf::Where::worker);
    if (name == "--inline-room") rooms.emplace_back(value, mf::Where::io_thread);
  }
  mftest::secure(options);
  mf::Server server(options);
  for (const auto& [name, where] : rooms) {
    server.offer(std::make_shared<interop_test::Room>(name), {.agent = name, .where = where});
  }
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
  const mf::ConnectionStats counts = server.stats().connections;
  std::cout << R"({"accepted": )" << counts.accepted << R"(, "refused": )" << counts.refused
            << R"(, "turned_away": )" << counts.turned_away << R"(, "cut_handshakes": )"
            << counts.cut_handshakes << R"(, "cut_progress": )" << counts.cut_progress
            << R"(, "cut_memory": )" << counts.cut_memory << R"(, "cut_protocol": )" << counts.cut_protocol
            << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    serve(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "interop-server: " << error.what() << '\n';
    return 1;
  }
}
