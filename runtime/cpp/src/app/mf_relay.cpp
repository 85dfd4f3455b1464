// mf-relay: hands on the calls of clients that cannot, or need not, reach the servers (docs/relay.md).
//
// Standard output gets one line, the address listened at, once it does, and with --http another one, that of
// the HTTP door; the log goes to standard error.
// Exit codes: 0 stopped by SIGTERM or SIGINT, 1 it could not start, 2 a mistake in its options, 3
// calls were cut at the end of the drain timeout.
// SIGHUP reads its files again.

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/http/door.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/server/server.hpp"
#include "mf/server/signals.hpp"

namespace {

struct Arguments {
  mf::app::Entrance entrance{.listen = "tcp://127.0.0.1:7500"};
  std::string controller = "mf://127.0.0.1:7400";
  std::size_t servers_of_client = mf::relay::RelayOptions().max_servers_of_client;
  std::size_t servers = mf::relay::RelayOptions().max_servers;
  std::size_t threads = 1;
  std::uint32_t stall_timeout = 5'000;
  std::vector<uid_t> trusted_users{};
  std::vector<std::string> to{};
  bool registers = false;
  bool own_identity = false;
  std::string http{};  // http://HOST:PORT or https://HOST:PORT
  std::vector<std::string> http_origins{};
  std::vector<std::string> http_names{};
  std::size_t http_connections = mf::http::DoorOptions().max_connections;
  std::uint32_t http_timeout = 10'000;  // milliseconds
  std::size_t http_max_body = mf::http::DoorOptions().max_body;
};

mf::http::DoorOptions door_options(const Arguments& arguments, const mf::Log& log) {
  const auto& entrance = arguments.entrance;
  return {.listen = arguments.http,
          .open = entrance.open,
          .knows_clients = entrance.knows_peers(),
          .tls = entrance.shown,
          .origins = arguments.http_origins,
          .names = arguments.http_names,
          .max_connections = arguments.http_connections,
          .max_body = arguments.http_max_body,
          .header_timeout = std::chrono::milliseconds(arguments.http_timeout),
          .body_timeout = 3 * std::chrono::milliseconds(arguments.http_timeout),
          .idle_timeout = 6 * std::chrono::milliseconds(arguments.http_timeout),
          .log = log};
}

int serve(const Arguments& arguments) {
  if (!arguments.entrance.token_keys.empty() && arguments.entrance.access.empty())
    throw mf::Error(
        mf::Code::invalid_argument, mf::Execution::not_executed,
        "--token-keys gives clients identities, and --access what these may do: clients without a token "
        "could do everything without it");
  const mf::Log log = arguments.entrance.log();
  // First of all: a signal that comes while the rest starts must end the process as cleanly.
  mf::server::StopSignals signals;

  mf::relay::RelayOptions options;
  options.controller = arguments.controller;
  options.tls = arguments.entrance.outward();
  options.credential.file = arguments.entrance.credential;
  options.to = arguments.to;
  options.passes_identities = !arguments.own_identity;
  options.trusted_users = arguments.trusted_users;
  options.registers = arguments.registers;
  options.max_servers_of_client = arguments.servers_of_client;
  options.max_servers = arguments.servers;
  options.topics.stall_timeout = std::chrono::milliseconds(arguments.stall_timeout);
  options.log = log;
  const auto relay = std::make_shared<mf::relay::Relay>(options);
  auto server_options = mf::app::server_options(arguments.entrance, log);
  server_options.io_threads = arguments.threads;
  server_options.stream_window = 0;
  server_options.forwarder = relay;
  if (arguments.http.starts_with("https:") && !mf::app::listens_over_tls(arguments.entrance))
    server_options.tls = {};
  if (!arguments.http.empty()) mf::http::check(door_options(arguments, log));
  std::unique_ptr<mf::http::Door> door;
  std::atomic<const mf::http::Door*> shown{nullptr};
  server_options.expose = [&shown](mf::monitor::Exposition& out) {
    if (const auto* const opened = shown.load()) opened->expose(out);
  };
  auto server = std::make_unique<mf::Server>(server_options);
  server->start();
  if (!arguments.http.empty()) {
    door = std::make_unique<mf::http::Door>(door_options(arguments, log), relay, server->gatekeeper());
    shown = door.get();
  }
  mf::app::say_where(*server, arguments.entrance, "relay",
                     "every program that reaches this port can call all servers", log);
  if (door) std::cout << door->address() << '\n' << std::flush;
  mf::app::serve_until_stopped(signals, *server, [&door] {
    if (door) (void)door->reload();
  });
  const bool answered = !door || door->drain(server_options.drain_timeout);
  const bool whole = server->stop();
  server.reset();  // its monitor shows the door
  door.reset();
  relay->close();
  return whole && answered ? 0 : mf::kCallsCut;
}

void check(const Arguments& arguments) {
  mf::app::check_entrance(arguments.entrance);
  (void)mf::Address::parse_list(arguments.controller);
  if (!arguments.entrance.own.certificate.empty())
    (void)mf::transport::make_tls_client(arguments.entrance.outward());
  if (!arguments.http.empty()) mf::http::check(door_options(arguments, {}));
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "A relay of MF/IDL: clients at relay://HOST:PORT, or relay+tls://HOST:PORT, call all servers of "
      "a controller through it.",
      "mf-relay");
  app.set_version_flag("--version", "mf-relay " MF_VERSION);
  mf::app::add_entrance(app, arguments.entrance,
                        "servers at tls://, controllers at mf+tls:// and relays at relay+tls://");
  mf::app::add_access(app, arguments.entrance, "which identities may call and subscribe to what");
  app.add_option("--controller", arguments.controller,
                 "Where servers are looked up: at controllers, or at other relays (relay://HOST:PORT, "
                 "relay+tls://HOST:PORT)")
      ->type_name("mf://HOST:PORT or mf+tls://HOST:PORT")
      ->capture_default_str();
  mf::app::add_own_certificate(app, arguments.entrance);
  mf::app::add_credential(app, arguments.entrance);
  mf::app::add_token_keys(app, arguments.entrance, "clients", "mf.relay");
  mf::app::add_networks(app, arguments.to, "");
  app.add_flag("--own-identity", arguments.own_identity,
               "Do not name clients to servers: all count as this relay, and share subscriptions");
  app.add_flag(
      "--registrations", arguments.registers,
      "Also hand on registrations and leads, as nodes of flexible messages need it; then every client "
      "can register servers");
  app.add_option(
         "--trusted-user", arguments.trusted_users,
         "A user of this host, by number, whose servers are called over the unix sockets that they have "
         "registered, as those of root and of this user are")
      ->type_name("UID");
  app.add_option("--threads", arguments.threads, "How many threads hand on; each client belongs to one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--servers-per-client", arguments.servers_of_client,
                 "How many connections to servers are made for one client at once")
      ->group("limits")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--servers", arguments.servers, "How many connections to servers are made for all clients")
      ->group("limits")
      ->check(CLI::Range(1, 1'048'576))
      ->capture_default_str();
  app.add_option("--stall-timeout", arguments.stall_timeout,
                 "When a subscriber that blocks its publisher, and takes nothing, is cut")
      ->type_name("MILLISECONDS")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  auto* const http =
      app.add_option("--http-listen,--http", arguments.http,
                     "Where programs call by HTTP, JSON and WebSocket; beyond this host only over https:// "
                     "with --client-ca or --token-keys, or with --open")
          ->group("http")
          ->type_name("http://HOST:PORT or https://HOST:PORT");
  app.add_option("--http-origin", arguments.http_origins,
                 "An origin whose pages may use the HTTP door, as https://app.example; * for all. Unless "
                 "given, only its own pages may")
      ->group("http")
      ->needs(http);
  app.add_option("--http-name", arguments.http_names,
                 "A name of the HTTP door in Host fields of requests. Beyond this host other names are "
                 "refused; at https:// only if one is given")
      ->group("http")
      ->needs(http)
      ->type_name("HOST");
  app.add_option("--http-connections", arguments.http_connections,
                 "How many connections the HTTP door takes at once")
      ->group("http")
      ->check(CLI::Range(1, 1'048'576))
      ->capture_default_str();
  app.add_option("--http-timeout", arguments.http_timeout,
                 "How long the header fields of a request may take to arrive; its body, and the reading of "
                 "its answer, may take three times as long, and the next request six times")
      ->group("http")
      ->type_name("MILLISECONDS")
      ->check(CLI::Range(10, 3'600'000))
      ->capture_default_str();
  app.add_option("--http-max-body", arguments.http_max_body,
                 "How large the body of a request, and a message of a WebSocket, may be")
      ->group("http")
      ->type_name("BYTES")
      ->check(CLI::Range(1'024, 67'108'864))
      ->capture_default_str();
  mf::app::Settings settings(app, "MF_RELAY_");
  if (const auto ended = settings.parse(argc, argv)) return *ended;
  if (settings.only_check()) {
    check(arguments);
    return mf::app::say_usable("mf-relay");
  }
  return serve(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return mf::app::guarded("mf-relay", [&] { return run(argc, argv); });
}
