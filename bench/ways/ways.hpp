// What client and server of bench-ways agree on.
#pragma once

#include <string>

#include "mf/transport/tls.hpp"
#include "rpc/commands.hpp"

namespace bench_ways {

/// A file that suite.py has made: a CA, a certificate for 127.0.0.1, or its key.
[[nodiscard]] inline std::string file(const std::string& folder, const char* name) {
  return folder + "/" + name;
}

[[nodiscard]] inline mf::TlsOptions tls(const std::string& folder, bool server) {
  mf::TlsOptions made;
  if (server) {
    made.certificate = file(folder, "server.pem");
    made.key = file(folder, "server.key");
  } else {
    made.ca = file(folder, "ca.pem");
  }
  return made;
}

/// Where a server of this way listens; `port` 0 is any free one.
[[nodiscard]] inline std::string url(const std::string& way, unsigned long port) {
  if (way == "unix") return "unix:" + bench_rpc::path_of(port);
  return way + "://127.0.0.1:" + std::to_string(port);
}

}  // namespace bench_ways
