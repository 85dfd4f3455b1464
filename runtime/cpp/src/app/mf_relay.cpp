// mf-relay: hands on the calls of clients that cannot, or need not, reach the servers (docs/relay.md).
//
// Standard output gets one line, the address listened at, once it does; the log goes to standard error.
// Exit codes: 0 stopped by SIGTERM or SIGINT, 1 it could not start, others: wrong use of the command line.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "app/program.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/server.hpp"
#include "server/signals.hpp"

namespace {

struct Arguments {
  std::string listen = "tcp://127.0.0.1:7500";
  std::string controller = "mf://127.0.0.1:7400";
  std::string authorities;
  mf::TlsOptions shown;  // to clients
  std::size_t servers_of_client = mf::relay::RelayOptions().max_servers_of_client;
  std::size_t servers = mf::relay::RelayOptions().max_servers;
  std::size_t threads = 1;
  std::uint32_t stall_timeout = 5'000;
  mf::Level level = mf::Level::info;
};

void serve(const Arguments& arguments) {
  const mf::Log log(arguments.level);
  // First of all: a signal that comes while the rest starts must end the process as cleanly.
  mf::server::StopSignals signals;

  mf::relay::RelayOptions options;
  options.controller = arguments.controller;
  options.tls.ca = arguments.authorities;
  options.max_servers_of_client = arguments.servers_of_client;
  options.max_servers = arguments.servers;
  options.topics.stall_timeout = std::chrono::milliseconds(arguments.stall_timeout);
  options.log = log;
  const auto relay = std::make_shared<mf::relay::Relay>(options);
  mf::ServerOptions server_options;
  server_options.listen = mf::app::as_server(arguments.listen);
  server_options.io_threads = arguments.threads;
  server_options.stream_window = 0;
  server_options.forwarder = relay;
  server_options.tls = arguments.shown;
  server_options.log = log;
  mf::Server server(server_options);
  server.start();

  mf::Address address = server.address();
  address.scheme = address.scheme == "tls" ? "relay+tls" : "relay";
  if (!mf::app::is_loopback(address.host))
    log.write(mf::Level::warning, "open_to_the_network",
              {{"address", address.str()}, {"meaning", "whoever reaches this port can call all servers"}});
  std::cout << address.str() << std::endl;  // flushed: whoever started this process waits for it
  signals.wait();
  log.write(mf::Level::info, "stopping");
  server.stop();
  relay->close();
}

int run(int argc, char** argv) {
  Arguments arguments;
  std::string level = "info";
  CLI::App app(
      "A relay of MF/IDL: clients at relay://HOST:PORT, or relay+tls://HOST:PORT, call all servers of "
      "a controller through it.",
      "mf-relay");
  app.set_version_flag("--version", "mf-relay " MF_VERSION);
  app.add_option("--listen", arguments.listen, "Where to listen; port 0 takes any free one")
      ->type_name("tcp://HOST:PORT or tls://HOST:PORT")
      ->capture_default_str();
  app.add_option(
         "--controller", arguments.controller,
         "Who knows the servers: controllers, or other relays (relay://HOST:PORT, relay+tls://HOST:PORT)")
      ->type_name("mf://HOST:PORT")
      ->capture_default_str();
  app.add_option("--threads", arguments.threads, "How many threads hand on; each client belongs to one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--ca", arguments.authorities,
                 "The authorities by which servers at tls://, and relays at relay+tls://, are verified")
      ->type_name("FILE");
  app.add_option("--certificate", arguments.shown.certificate, "What is shown to clients at tls://")
      ->type_name("FILE");
  app.add_option("--key", arguments.shown.key, "The private key of that certificate")->type_name("FILE");
  app.add_option("--client-ca", arguments.shown.ca,
                 "The authorities by which clients at tls:// are verified, who then must show a certificate")
      ->type_name("FILE");
  app.add_option("--servers-per-client", arguments.servers_of_client,
                 "How many connections to servers are made for one client at once")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--servers", arguments.servers, "How many connections to servers are made for all clients")
      ->check(CLI::Range(1, 1'048'576))
      ->capture_default_str();
  app.add_option("--stall-timeout", arguments.stall_timeout,
                 "When a subscriber that blocks its publisher, and takes nothing, is cut")
      ->type_name("MILLISECONDS")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  mf::app::add_log_level(app, level);
  CLI11_PARSE(app, argc, argv);
  (void)mf::parse_level(level, arguments.level);
  serve(arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mf::app::guarded("mf-relay", [&] { return run(argc, argv); });
}
