// mf-controller: where servers register and clients look them up. Needs no configuration.
//
// By default it stores its state in a folder of its own for each address that it listens at, below the user's
// state folder. At port 0 it stores nothing: after a restart no process would find such a controller again.
//
// Standard output gets one line, the address listened at, once it does, and with --dashboard another one,
// that of the dashboard; the log goes to standard error. Exit codes: 0 stopped by SIGTERM or SIGINT, 1 it
// could not start, 2 a mistake in its options, 3 calls were cut at the end of the drain timeout. SIGHUP reads
// its files again.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/access_command.hpp"
#include "app/program.hpp"
#include "app/token_command.hpp"
#include "mf/controller/controller.hpp"
#include "mf/controller/file_store.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/http/dashboard.hpp"
#include "mf/monitor/exposition.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/server.hpp"
#include "mf/server/signals.hpp"

namespace {

struct Arguments {
  mf::app::Entrance entrance{.listen = "tcp://127.0.0.1:7400"};
  std::string store;  // empty: default_store()
  mf::controller::EtcdOptions etcd;
  std::string password;  // the file that has it
  unsigned lease = 30;   // seconds
  std::size_t offers_per_host = mf::controller::ControllerOptions().max_offers_per_host;
  bool relay = false;
  std::vector<std::string> to{};  // of the relay
  std::string dashboard{};        // HOST:PORT
  std::vector<std::string> dashboard_names{};
};

mf::http::DashboardOptions dashboard_options(const Arguments& arguments, const mf::Log& log) {
  return {.listen = arguments.dashboard,
          .knows_clients = arguments.entrance.knows_peers(),
          .tls = arguments.entrance.shown,
          .names = arguments.dashboard_names,
          .log = log};
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::filesystem::path state_folder() {
  const std::filesystem::path state = environment("XDG_STATE_HOME");
  if (state.is_absolute()) return state;  // the specification says that another one is none
  const std::filesystem::path home = environment("HOME");
  if (home.is_absolute()) return home / ".local" / "state";
  throw mf::Error(mf::Code::invalid_argument, mf::Execution::not_executed,
                  "neither XDG_STATE_HOME nor HOME says where to keep what is registered here: name a folder "
                  "with --store, or memory: to keep nothing");
}

std::string default_store(const std::string& listen) {
  const mf::Address address = mf::Address::parse_list(listen).front();
  if (address.port == 0 && !address.local()) return "memory:";
  std::string name = address.local() ? address.host : address.host + "-" + std::to_string(address.port);
  std::ranges::replace(name, '/', '_');
  return (state_folder() / "mf" / "controller" / name).string();
}

// Its first line: every user of the host can read a password on a command line.
std::string password_in(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path);
  std::string password;
  if (!std::getline(file, password) || password.empty())
    throw mf::Error(mf::Code::invalid_argument, mf::Execution::not_executed,
                    "--etcd-password-file '" + path + "': there is no password that can be read");
  return password;
}

void expose(const mf::controller::ControllerStatus& status, mf::monitor::Exposition& out) {
  out.gauge("mf_controller_processes", "Registered processes.", static_cast<double>(status.processes));
  out.gauge("mf_controller_offers", "What they offer: services, agents and topics.",
            static_cast<double>(status.offers));
  out.gauge("mf_controller_watches", "Open watches.", static_cast<double>(status.watches));
  out.counter("mf_controller_changes", "Changes of what is registered, in all runs with this store.",
              static_cast<double>(status.revision));
  out.gauge("mf_controller_store_ok", "0: changes are kept in memory alone, since the store fails.",
            status.store.ok ? 1 : 0);
}

mf::http::DashboardOptions::Calls calls_of(const mf::ServerStats& of) {
  const auto failed = of.refused + of.expired;
  return {.ended = of.executed + failed, .failed = failed};
}

int serve(const Arguments& arguments) {
  const mf::Log log = arguments.entrance.log();
  // First of all: a signal that comes while the rest starts must end the process as cleanly.
  mf::server::StopSignals signals;

  // A file that reaches a limit is then an error of write(), as a disk is that is full.
  ::signal(SIGXFSZ, SIG_IGN);

  auto server_options = mf::app::server_options(arguments.entrance, log);
  mf::controller::ControllerOptions options;
  // The server asks it about the calls that it hands on, and reads it again.
  options.access = server_options.access;
  options.closed = arguments.entrance.knows_peers();
  options.log = log;
  options.lease = std::chrono::seconds(arguments.lease);
  options.max_offers_per_host = arguments.offers_per_host;
  auto etcd = arguments.etcd;
  etcd.password = password_in(arguments.password);
  const auto store = arguments.store.empty() ? default_store(server_options.listen) : arguments.store;
  options.store = mf::controller::open_store(store, log, etcd);
  const auto controller = std::make_shared<mf::controller::Controller>(options);
  log.write(mf::Level::info, "restored",
            {{"store", mf::app::without_password(store)}, {"processes", controller->status().processes}});
  // Streams towards the controller there are none, so that their windows need no room.
  server_options.max_streams = mf::controller::Controller::kMaxStreams;
  server_options.stream_window = 4 * 1024;
  std::shared_ptr<mf::relay::Relay> relay;
  if (arguments.relay) {
    mf::relay::RelayOptions relay_options;
    relay_options.tls = arguments.entrance.outward();
    relay_options.credential.file = arguments.entrance.credential;
    relay_options.to = arguments.to;
    relay_options.log = log;
    relay = std::make_shared<mf::relay::Relay>(relay_options);
    server_options.forwarder = relay;
    server_options.stream_window = 0;
  }
  if (!arguments.dashboard.empty()) {
    const auto dashboard_of = dashboard_options(arguments, log);
    mf::http::check(dashboard_of);
    if (mf::http::is_over_tls(dashboard_of) && !mf::app::listens_over_tls(arguments.entrance))
      server_options.tls = {};
  }
  std::unique_ptr<mf::http::Dashboard> dashboard;
  // The dashboard reads what the server counts, and the server's monitor shows the metrics of the dashboard:
  // neither outlives the other, so that the monitor looks under this lock.
  std::mutex shown_mutex;
  const mf::http::Dashboard* shown = nullptr;
  server_options.expose = [&](mf::monitor::Exposition& out) {
    expose(controller->status(), out);
    const std::scoped_lock lock(shown_mutex);
    if (shown != nullptr) shown->expose(out);
  };
  mf::Server server(server_options);
  server.offer(controller, {.where = mf::Where::io_thread});
  server.start();
  if (!arguments.dashboard.empty()) {
    auto dashboard_of = dashboard_options(arguments, log);
    dashboard_of.where = mf::app::shown_address(server, "mf").str();
    dashboard_of.calls = [&server] { return calls_of(server.stats()); };
    dashboard = std::make_unique<mf::http::Dashboard>(dashboard_of, controller, server.gatekeeper());
    const std::scoped_lock lock(shown_mutex);
    shown = dashboard.get();
  }
  mf::app::say_where(server, arguments.entrance, "mf",
                     "every program that reaches this port can register servers", log);
  if (dashboard) std::cout << dashboard->address() << '\n' << std::flush;
  mf::app::serve_until_stopped(signals, server, [&dashboard] {
    if (dashboard) (void)dashboard->reload();
  });
  {
    const std::scoped_lock lock(shown_mutex);
    shown = nullptr;
  }
  dashboard.reset();
  controller->close();
  const bool whole = server.stop();
  if (relay) relay->close();
  return whole ? 0 : mf::kCallsCut;
}

void check(const Arguments& arguments) {
  mf::app::check_entrance(arguments.entrance);
  (void)password_in(arguments.password);
  if (arguments.store.empty()) (void)default_store(mf::app::as_server(arguments.entrance.listen));
  if (!arguments.dashboard.empty()) mf::http::check(dashboard_options(arguments, {}));
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The controller of MF/IDL: servers register at it, clients ask it where services are.",
               "mf-controller");
  app.set_version_flag("--version", "mf-controller " MF_VERSION);
  mf::app::add_entrance(app, arguments.entrance, "servers at tls:// (with --relay)");
  mf::app::add_access(
      app, arguments.entrance,
      "which identities may register, publish, lead, watch and list; without it no process registers "
      "or leads where --client-ca is given");
  mf::app::add_token_keys(app, arguments.entrance, "servers and clients", "mf.controller.Controller");
  app.add_option(
         "--store", arguments.store,
         "Where to keep what is registered, so that a controller that is restarted has it: a folder, or "
         "memory: for nowhere, or the etcd that several controllers share; unless given, a folder below "
         "$XDG_STATE_HOME or ~/.local/state for each "
         "address, and memory: at port 0")
      ->type_name("PATH|file:PATH|memory:|etcd://HOST:PORT,...|etcds://HOST:PORT,...");
  auto& etcd = arguments.etcd;
  mf::app::add_file(
      app, "--etcd-ca", etcd.tls.ca,
      "The authorities by which etcd at etcds:// is verified; unless given, those of the system")
      ->group("etcd");
  auto* const certificate =
      mf::app::add_file(app, "--etcd-certificate", etcd.tls.certificate, "What is shown to etcd at etcds://")
          ->group("etcd");
  mf::app::add_file(app, "--etcd-key", etcd.tls.key, "The private key of that certificate")
      ->group("etcd")
      ->needs(certificate);
  auto* const user =
      app.add_option("--etcd-user", etcd.user, "The user of etcd that the controller is")->group("etcd");
  mf::app::add_file(app, "--etcd-password-file", arguments.password,
                    "Whose first line is that user's password")
      ->group("etcd")
      ->needs(user);
  user->needs("--etcd-password-file");
  app.add_option(
         "--lease", arguments.lease,
         "After so many seconds a server that was not heard of is forgotten; one that is only known from the "
         "store, too")
      ->check(CLI::Range(1U, 86'400U))
      ->capture_default_str();
  app.add_option("--offers-per-host", arguments.offers_per_host,
                 "How many offers the processes of one host may register together")
      ->group("limits")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  auto* const dashboard =
      app.add_option("--dashboard-listen,--dashboard", arguments.dashboard,
                     "Where a page about all that is registered is served: at loopback over HTTP, to readers "
                     "that may list; beyond this host over HTTPS alone, with --client-ca or --token-keys")
          ->group("dashboard")
          ->type_name("HOST:PORT");
  app.add_option("--dashboard-name", arguments.dashboard_names,
                 "A name of this host in the address that browsers use for the dashboard; others are refused")
      ->group("dashboard")
      ->needs(dashboard)
      ->type_name("HOST");
  app.add_flag("--relay", arguments.relay,
               "Hand on the calls of clients at relay://HOST:PORT to the servers");
  mf::app::add_own_certificate(app, arguments.entrance);
  mf::app::add_credential(app, arguments.entrance);
  mf::app::add_networks(app, arguments.to, " (with --relay)");
  const mf::app::AccessCommand access(app);
  const mf::app::TokenCommand token(app);
  mf::app::Settings settings(app, "MF_CONTROLLER_");
  if (const auto ended = settings.parse(argc, argv)) return *ended;
  if (access.asked()) return access.run();
  if (token.asked()) return token.run();
  if (settings.only_check()) {
    check(arguments);
    return mf::app::say_usable("mf-controller");
  }
  return serve(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return mf::app::guarded("mf-controller", [&] { return run(argc, argv); });
}
