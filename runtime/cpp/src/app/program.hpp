// What the programs of this floor have in common: addresses of the command line, and how they end.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "mf/core/error.hpp"
#include "mf/core/log.hpp"

namespace mf::app {

/// mf://, relay:// and relay+tls:// are how clients write such an address; for who listens there it is that
/// of a server.
inline std::string as_server(const std::string& address) {
  for (const std::string_view scheme : {"mf://", "relay://"}) {
    if (address.starts_with(scheme)) return "tcp://" + address.substr(scheme.size());
  }
  constexpr std::string_view kTls = "relay+tls://";
  return address.starts_with(kTls) ? "tls://" + address.substr(kTls.size()) : address;
}

inline bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

inline void add_log_level(CLI::App& app, std::string& level) {
  app.add_option("--log-level", level, "What to log")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

/// Exit code 1 and one line for what could not be started.
template <class Run>
int guarded(const char* program, Run&& run) {
  try {
    return run();
  } catch (const Error& error) {  // of a start; its code and whether it ran say nothing to a person
    std::cerr << program << ": " << error.message() << '\n';
    return 1;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace mf::app
