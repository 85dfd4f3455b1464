// mf-controller: where servers register and clients look them up. Needs no configuration.
//
// Unless it is told otherwise it keeps what it knows in a folder of its own for each address that it listens
// at, below the user's state folder. At port 0 it keeps nothing: nobody finds such a controller again.
//
// Standard output gets one line, the address listened at, once it does; the log goes to standard error.
// Exit codes: 0 stopped by SIGTERM or SIGINT, 1 it could not start, others: wrong use of the command line.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/program.hpp"
#include "mf/controller/controller.hpp"
#include "mf/controller/file_store.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/server.hpp"
#include "server/signals.hpp"

namespace {

struct Arguments {
  std::string listen = "tcp://127.0.0.1:7400";
  std::string store;    // empty: default_store()
  unsigned lease = 30;  // seconds
  mf::Level level = mf::Level::info;
  bool relay = false;
};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::filesystem::path state_folder() {
  const std::filesystem::path state = environment("XDG_STATE_HOME");
  if (state.is_absolute()) return state;  // the specification says that another one is none
  const std::filesystem::path home = environment("HOME");
  if (home.is_absolute()) return home / ".local" / "state";
  throw mf::Error(
      mf::Code::invalid_argument, mf::Execution::not_executed,
      "neither XDG_STATE_HOME nor HOME says where to keep what this controller knows: name a folder "
      "with --store, or memory: to keep nothing");
}

std::string default_store(const std::string& listen) {
  const mf::Address address = mf::Address::parse(listen);
  if (address.port == 0 && !address.local()) return "memory:";
  std::string name = address.local() ? address.host : address.host + "-" + std::to_string(address.port);
  std::ranges::replace(name, '/', '_');
  return (state_folder() / "mf" / "controller" / name).string();
}

void serve(const Arguments& arguments) {
  const mf::Log log(arguments.level);
  // First of all: a signal that comes while the rest starts must end the process as cleanly.
  mf::server::StopSignals signals;

  // A file that reaches a limit is then an error of write(), as a disk is that is full.
  ::signal(SIGXFSZ, SIG_IGN);

  mf::controller::ControllerOptions options;
  options.log = log;
  options.lease = std::chrono::seconds(arguments.lease);
  options.store = mf::controller::open_store(
      arguments.store.empty() ? default_store(mf::app::as_server(arguments.listen)) : arguments.store, log);
  const auto controller = std::make_shared<mf::controller::Controller>(options);
  mf::ServerOptions server_options;
  server_options.listen = mf::app::as_server(arguments.listen);
  server_options.log = log;
  // Streams towards the controller there are none, so that their windows need no room.
  server_options.max_streams = mf::controller::Controller::kMaxStreams;
  server_options.stream_window = 4 * 1024;
  std::shared_ptr<mf::relay::Relay> relay;
  if (arguments.relay) {
    relay = std::make_shared<mf::relay::Relay>(mf::relay::RelayOptions{.log = log});
    server_options.forwarder = relay;
    server_options.stream_window = 0;
  }
  mf::Server server(server_options);
  server.offer(controller, {.where = mf::Where::io_thread});
  server.start();

  mf::Address address = server.address();
  address.scheme = "mf";
  if (!mf::app::is_loopback(address.host))
    log.write(mf::Level::warning, "open_to_the_network",
              {{"address", address.str()}, {"meaning", "whoever reaches this port can register servers"}});
  std::cout << address.str() << std::endl;  // flushed: whoever started this process waits for it
  signals.wait();
  log.write(mf::Level::info, "stopping");
  controller->close();
  server.stop();
  if (relay) relay->close();
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
  app.add_option(
         "--store", arguments.store,
         "Where to keep what is registered, so that a controller that is restarted knows it: a folder, or "
         "memory: for nowhere, or the etcd that several controllers share; unless given, a folder below "
         "$XDG_STATE_HOME or ~/.local/state for each "
         "address, and memory: at port 0")
      ->type_name("PATH|file:PATH|memory:|etcd://HOST:PORT,...");
  app.add_option(
         "--lease", arguments.lease,
         "After so many seconds a server that was not heard of is forgotten; one that is only known from the "
         "store, too")
      ->check(CLI::Range(1U, 86'400U))
      ->capture_default_str();
  app.add_flag("--relay", arguments.relay,
               "Hand on the calls of clients at relay://HOST:PORT to the servers");
  mf::app::add_log_level(app, level);
  CLI11_PARSE(app, argc, argv);
  (void)mf::parse_level(level, arguments.level);
  serve(arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mf::app::guarded("mf-controller", [&] { return run(argc, argv); });
}
