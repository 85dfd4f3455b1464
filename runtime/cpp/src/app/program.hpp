// What the programs of this floor have in common: how they are reached, and how they end.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings.hpp"
#include "mf/access/rules.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/core/log_output.hpp"
#include "mf/server/server.hpp"
#include "mf/server/signals.hpp"
#include "mf/tokens/keys.hpp"
#include "mf/transport/networks.hpp"
#include "mf/transport/tls.hpp"

namespace mf::app {

/// The options of a program for the connections that it accepts and opens.
struct Entrance {
  std::string listen;
  TlsOptions shown{};         // to clients at tls://
  std::string access{};       // the path of the access file
  bool open = false;          // every program that reaches it may use it
  std::string authorities{};  // by which it verifies the servers that it connects to
  TlsOptions own{};           // the certificate and key that are shown to them
  std::string credential{};   // the file with the token that is shown to them
  std::string monitor{};      // HOST:PORT
  std::string token_keys{};
  std::string token_audience{};
  std::size_t max_connections = ServerOptions().max_connections;
  std::size_t max_connections_per_host = 12'288;  // three quarters of all
  double drain_timeout = std::chrono::duration<double>(ServerOptions().drain_timeout).count();  // seconds
  std::string level = "info";
  std::string format = "text";

  /// Whether clients at tls:// must, or may, prove their identity.
  [[nodiscard]] bool knows_peers() const { return !shown.ca.empty() || !token_keys.empty(); }

  /// How it connects over TLS.
  [[nodiscard]] TlsOptions outward() const {
    auto options = own;
    options.ca = authorities;
    return options;
  }

  [[nodiscard]] Log log() const {
    Level parsed = Level::info;
    (void)parse_level(level, parsed);
    LogFormat shape = LogFormat::text;
    (void)parse_log_format(format, shape);
    return Log(standard_error_log(shape), parsed);
  }
};

/// mf://, relay:// and those with +tls are how clients write such an address; returned is the same address as
/// a server listens at it. Several have commas between them.
inline std::string as_server(const std::string& addresses) {
  std::string servers;
  for (const auto& address : Address::parse_list(addresses)) {
    if (!servers.empty()) servers += ',';
    servers += (address.of_controller() || address.of_relay() ? address.server() : address).str();
  }
  return servers;
}

inline CLI::Option* add_file(CLI::App& app, const char* name, std::string& path, const std::string& meaning) {
  return app.add_option(name, path, meaning)->type_name("FILE");
}

inline void add_ca(CLI::App& app, Entrance& entrance, const std::string& whom) {
  app.add_option("--ca", entrance.authorities, "The authorities by which " + whom + " are verified")
      ->group("tls")
      ->type_name("FILE");
}

/// What the program shows to those that --ca verifies. It is named apart from what it shows to clients: the
/// two may be of different authorities.
inline void add_own_certificate(CLI::App& app, Entrance& entrance) {
  auto* const certificate =
      add_file(app, "--server-certificate", entrance.own.certificate,
               "The certificate that is shown to those that --ca verifies, if they demand one")
          ->group("server");
  add_file(app, "--server-key", entrance.own.key, "The private key of that certificate")
      ->group("server")
      ->needs(certificate);
}

inline void add_credential(CLI::App& app, Entrance& entrance) {
  add_file(app, "--credential", entrance.credential,
           "The token that is shown to those that --ca verifies, read again for each connection");
}

/// `by_default`: the audience of tokens unless --token-audience names another.
inline void add_token_keys(CLI::App& app, Entrance& entrance, const std::string& whose,
                           const std::string& by_default) {
  entrance.token_audience = by_default;
  auto* const keys = add_file(app, "--token-keys", entrance.token_keys,
                              "The public keys by which tokens of " + whose + " are verified")
                         ->group("token");
  app.add_option("--token-audience", entrance.token_audience, "What these tokens must be for")
      ->group("token")
      ->needs(keys)
      ->capture_default_str();
}

inline void add_networks(CLI::App& app, std::vector<std::string>& to, const std::string& when) {
  app.add_option("--to", to,
                 "A network of the servers; one that has registered an address elsewhere is not reached. "
                 "Unless given, all networks but link-local ones, and this host only if it listens nowhere "
                 "else" +
                     when)
      ->type_name("ADDRESS/BITS or unix:/PATH");
}

inline void add_log(CLI::App& app, Entrance& entrance) {
  app.add_option("--log-level", entrance.level, "What to log")
      ->group("log")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--log-format", entrance.format, "The shape of its lines: for people, or for programs")
      ->group("log")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

inline void add_access(CLI::App& app, Entrance& entrance, const std::string& what) {
  app.add_option("--access", entrance.access, "The access file that says " + what)->type_name("FILE");
}

/// Throws if the program would listen beyond this host without knowing its peers, unless --open says so.
inline void check_open(const Entrance& entrance) {
  if (entrance.open) return;
  for (const auto& address : Address::parse_list(as_server(entrance.listen))) {
    if (!transport::is_beyond_host(address) || (address.scheme == "tls" && entrance.knows_peers())) continue;
    throw Error(Code::invalid_argument, Execution::not_executed,
                "every program that reaches " + address.str() +
                    " could use this program: demand certificates by "
                    "tls:// and --client-ca, listen at 127.0.0.1, or say --open");
  }
}

/// `whom`: the peers that it verifies by --ca.
inline void add_entrance(CLI::App& app, Entrance& entrance, const std::string& whom) {
  app.add_option("--listen", entrance.listen, "Where to listen; port 0 takes any free one")
      ->type_name("tcp://HOST:PORT or tls://HOST:PORT, or several with commas between them")
      ->capture_default_str();
  add_file(app, "--certificate", entrance.shown.certificate,
           "The certificate that is shown to clients at tls://")
      ->group("tls");
  add_file(app, "--key", entrance.shown.key, "The private key of that certificate")->group("tls");
  add_file(app, "--client-ca", entrance.shown.ca,
           "The authorities by which clients at tls:// are verified, which then must show a certificate")
      ->group("tls");
  add_file(app, "--client-crl", entrance.shown.crl,
           "The lists of certificates that these authorities have revoked, one of each")
      ->group("tls");
  add_ca(app, entrance, whom);
  app.add_flag("--open", entrance.open,
               "Listen beyond this host without --client-ca: every program that reaches it may use it");
  app.add_option("--max-connections", entrance.max_connections,
                 "How many connections it takes at once; one more is refused in words")
      ->group("limits")
      ->check(CLI::Range(1, 1'048'576))
      ->capture_default_str();
  app.add_option("--connections-per-host", entrance.max_connections_per_host,
                 "How many of them one host may have; one more is refused in words")
      ->group("limits")
      ->check(CLI::Range(1, 1'048'576))
      ->capture_default_str();
  app.add_option("--drain-timeout", entrance.drain_timeout,
                 "How long running calls have when it stops; then they are cut, and it ends with 3")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  app.add_option("--monitor", entrance.monitor,
                 "Where /metrics, /livez and /readyz are served over HTTP; beyond this host only with --open")
      ->type_name("HOST:PORT");
  add_log(app, entrance);
}

inline ServerOptions server_options(const Entrance& entrance, const Log& log) {
  check_open(entrance);
  ServerOptions options;
  options.listen = as_server(entrance.listen);
  options.tls = entrance.shown;
  options.open = entrance.open;
  options.access = entrance.access;
  options.monitor = entrance.monitor;
  options.monitor_open = entrance.open;
  options.drain_timeout =
      std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(entrance.drain_timeout));
  options.token_keys = entrance.token_keys;
  if (!entrance.token_keys.empty()) options.token_audience = entrance.token_audience;
  options.max_connections = entrance.max_connections;
  options.max_connections_per_host = entrance.max_connections_per_host;
  options.log = log;
  return options;
}

/// Whether the program itself listens over TLS: the certificate may be for its HTTP side alone.
inline bool listens_over_tls(const Entrance& entrance) {
  const auto addresses = Address::parse_list(as_server(entrance.listen));
  return std::ranges::any_of(addresses, [](const Address& at) { return at.scheme == "tls"; });
}

/// Uses what the options name, without listening. Throws Error(INVALID_ARGUMENT) for what cannot be used.
inline void check_entrance(const Entrance& entrance) {
  if (listens_over_tls(entrance) || !entrance.shown.certificate.empty())
    (void)transport::make_tls_server(entrance.shown);
  if (!entrance.authorities.empty()) (void)transport::make_tls_client({.ca = entrance.authorities});
  if (!entrance.token_keys.empty()) (void)TokenKeys::read(entrance.token_keys);
  if (!entrance.access.empty()) (void)access::Rules::load(entrance.access).value();
}

/// What --check says if nothing was thrown before. Returns the exit code.
inline int say_usable(const char* program) {
  std::cout << program << ": the options can be used" << std::endl;
  return 0;
}

/// The address at which clients reach it, with this scheme; empty: as the server has it.
inline Address shown_address(const Server& server, const std::string& scheme) {
  Address address = server.address();
  if (!scheme.empty()) address.scheme = address.scheme == "tls" ? scheme + "+tls" : scheme;
  return address;
}

/// Prints that address, and warns if every program may use it.
inline void say_where(const Server& server, const Entrance& entrance, const std::string& scheme,
                      std::string_view meaning, const Log& log) {
  const bool shows_who = server.address().scheme == "tls" && !entrance.shown.ca.empty();
  const Address address = shown_address(server, scheme);
  if (transport::is_beyond_host(address) && !shows_who)
    log.write(Level::warning, "open_to_the_network", {{"address", address.str()}, {"meaning", meaning}});
  std::cout << address.str() << std::endl;  // flushed: the process that started this one waits for it
}

/// Returns after SIGTERM or SIGINT, or when an operator drains the server; SIGHUP reads files again. `also`:
/// reads those of another part of the program.
inline void serve_until_stopped(server::StopSignals& signals, Server& server,
                                const std::function<void()>& also = {}) {
  server.wakes(&signals);
  while (signals.wait() == server::StopSignals::Wanted::reload) {
    (void)server.reload();
    if (also) also();
  }
  server.wakes(nullptr);
}

/// Exit code 1 and one line for what could not be started.
template <class Run>
int guarded(const char* program, Run&& run) {
  try {
    return run();
  } catch (const Error& error) {  // of a start; its code and whether it ran say nothing to a person
    (void)flush_standard_error_log();
    std::cerr << program << ": " << error.message() << '\n';
    return 1;
  } catch (const std::exception& error) {
    (void)flush_standard_error_log();
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace mf::app
