// The options of a server and a client from a TOML file and the environment (docs/configuration.md).
//
//   const auto config = mf::Config::load("server.toml");
//   mf::Server server(config.server);
//   mf::Client client(config.url, config.client);
#pragma once

#include <map>
#include <string>

#include "mf/client/client.hpp"
#include "mf/config/value.hpp"
#include "mf/server/server.hpp"

namespace mf {

/// What a file and the environment say. What they do not say is as in the defaults of the options.
struct Config {
  ServerOptions server{};
  /// What the client opens; empty if it is not set.
  std::string url{};
  ClientOptions client{};
  /// Where each key was set: FILE:LINE, or the name of a variable of the environment.
  std::map<std::string, std::string, std::less<>> sources{};

  /// Reads the file at `path` (empty: at MF_CONFIG, if that is set), and the variables MF_SERVER_...,
  /// MF_CLIENT_... and MF_LOG_..., which override it. Throws Error(INVALID_ARGUMENT), whose message names
  /// every mistake with its file and line, or with its variable. `environment`: in place of that of this
  /// process.
  [[nodiscard]] static Config load(const std::string& path = {},
                                   const config::Environment& environment = config::process_environment);
};

namespace config {

/// The keys that Config::load() knows.
[[nodiscard]] const std::vector<Key>& keys();

}  // namespace config
}  // namespace mf
