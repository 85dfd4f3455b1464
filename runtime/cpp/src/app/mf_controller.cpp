// mf-controller: where servers register and clients look them up. Needs no configuration.
//
// Standard output gets one line, the address listened at, once it does; the log goes to standard error.
// Exit codes: 0 stopped by SIGTERM or SIGINT, 1 it could not start, others: wrong use of the command line.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "mf/controller/controller.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/server/server.hpp"
#include "server/signals.hpp"

namespace {

struct Arguments {
  std::string listen = "tcp://127.0.0.1:7400";
  mf::Level level = mf::Level::info;
};

/// mf:// is how clients write this address; here it means the same.
std::string as_tcp(const std::string& address) {
  return address.starts_with("mf://") ? "tcp" + address.substr(2) : address;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

void serve(const Arguments& arguments) {
  const mf::Log log(arguments.level);
  // First of all: a signal that comes while the rest starts must end the process as cleanly.
  mf::server::StopSignals signals;

  mf::controller::ControllerOptions options;
  options.log = log;
  const auto controller = std::make_shared<mf::controller::Controller>(options);
  mf::ServerOptions server_options;
  server_options.listen = as_tcp(arguments.listen);
  server_options.log = log;
  server_options.on_disconnect = [controller](std::uint64_t connection) {
    controller->connection_ended(connection);
  };
  mf::Server server(server_options);
  server.offer(controller, {.where = mf::Where::io_thread});
  server.start();

  mf::Address address = server.address();
  address.scheme = "mf";
  if (!is_loopback(address.host))
    log.write(mf::Level::warning, "open_to_the_network",
              {{"address", address.str()}, {"meaning", "whoever reaches this port can register servers"}});
  std::cout << address.str() << std::endl;  // flushed: whoever started this process waits for it
  signals.wait();
  log.write(mf::Level::info, "stopping");
  controller->close();
  server.stop();
}

int run(int argc, char** argv) {
  Arguments arguments;
  std::string level = "info";
  CLI::App app("The controller of MF/IDL: servers register at it, clients ask it where services are.",
               "mf-controller");
  app.set_version_flag("--version", "mf-controller " MF_VERSION);
  app.add_option("--listen", arguments.listen, "Where to listen; port 0 takes any free one")
      ->type_name("tcp://HOST:PORT")
      ->capture_default_str();
  app.add_option("--log-level", level, "What to log")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  (void)mf::parse_level(level, arguments.level);
  serve(arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "mf-controller: " << error.what() << '\n';
    return 1;
  }
}
