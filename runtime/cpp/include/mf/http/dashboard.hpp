// The dashboard of a controller: a page about all that is registered, while it changes, and the events that
// it is made of (docs/dashboard.md). It is the page that `mf dash` serves, too.
//
//   mf::http::Dashboard dashboard({.listen = "127.0.0.1:7480"}, controller, server.gatekeeper());
//
// A reader must be allowed to `list` by the access file of the controller's server; its identity is that of
// its certificate or token. Beyond this host each reader must have one. The page reads only.
//
// One thread serves it, and it reads the controller's state twice a second while a page is open; while none
// is, it does nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/transport/tls.hpp"

namespace mf::controller {
class Controller;
}
namespace mf::monitor {
class Exposition;
}
namespace mf::server {
class Gatekeeper;
}

namespace mf::http {

struct DashboardOptions {
  /// HOST:PORT, where HOST is an IP address or localhost; port 0 takes any free one. At loopback it is served
  /// over http://, elsewhere over https://; "https://HOST:PORT" demands the latter everywhere.
  std::string listen{};
  /// Whether clients at https:// must or may prove an identity.
  bool knows_clients = false;
  /// For https://, as for tls:// addresses of a server.
  TlsOptions tls{};
  /// The names of this host in Host fields of requests, without ports; see DoorOptions::names.
  std::vector<std::string> names{};
  /// What the page calls the controller: its address, as clients write it.
  std::string where{};
  /// How many calls the controller itself has answered since its start, and how many of them with an error.
  /// Null: the page has no charts. Any thread.
  struct Calls {
    std::uint64_t ended = 0;
    std::uint64_t failed = 0;
  };
  std::function<Calls()> calls{};
  Log log{};
};

/// Throws Error(INVALID_ARGUMENT) for an address, a name or a file of TLS that cannot be used.
void check(const DashboardOptions& options);

/// Whether a dashboard with this `listen` is served over TLS.
[[nodiscard]] bool is_over_tls(const DashboardOptions& options);

class Dashboard {
 public:
  /// Listens and serves. Throws as check() does, and Error(UNAVAILABLE) if it cannot listen there.
  Dashboard(const DashboardOptions& options, std::shared_ptr<const controller::Controller> controller,
            std::shared_ptr<const server::Gatekeeper> gatekeeper);
  ~Dashboard();  // ends all connections
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// "http://127.0.0.1:7480"
  [[nodiscard]] const std::string& address() const noexcept;
  /// Reads files of TLS again; false: one cannot be used, and those read before stay in use.
  bool reload();
  /// Writes its metrics. Thread-safe.
  void expose(monitor::Exposition& out) const;

 private:
  class Serving;
  const std::shared_ptr<Serving> serving_;
};

}  // namespace mf::http
