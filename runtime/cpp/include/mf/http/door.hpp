// The HTTP door of a relay: programs that speak HTTP/1.1, JSON and WebSocket call the services behind the
// relay, and subscribe to its topics (docs/http.md). It needs no generated code: it asks a server for the
// description of each service, and converts between JSON (docs/json.md) and the tiers of the methods.
//
//   mf::http::Door door({.listen = "http://127.0.0.1:8080"}, relay, server.gatekeeper());
//
// A client of the door counts as a client of the relay: its certificate or token gives its identity, the
// access file of the relay's server decides what that may call, and servers behind get the identity passed
// on.
//
// One thread reads and writes all its connections, and one more those to servers. No thread waits for a call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/transport/tls.hpp"

namespace mf::monitor {
class Exposition;
}
namespace mf::relay {
class Relay;
}
namespace mf::server {
class Gatekeeper;
}

namespace mf::http {

struct DoorOptions {
  /// http://HOST:PORT or https://HOST:PORT, where HOST is an IP address or localhost; port 0 takes any free
  /// one.
  std::string listen{};
  /// Whether every program that reaches it may use it, so that it may listen beyond loopback although it does
  /// not know its clients.
  bool open = false;
  /// Whether clients at https:// must or may prove an identity.
  bool knows_clients = false;
  /// For https://, as for tls:// addresses of a server.
  TlsOptions tls{};
  /// The origins of pages of other sites that may use it: "https://app.example". "*": all of them.
  std::vector<std::string> origins{};
  /// The names of this door, without ports, in Host fields of requests. At loopback they are taken beside
  /// those of the loopback interface. Elsewhere an IP address is taken, too, so that no other site can become
  /// this door by a name of its own; at https:// without any name all are, since the certificate names the
  /// door.
  std::vector<std::string> names{};
  /// Open connections. One more ends one of which no request is being answered, of the host that has most of
  /// these, and is closed if there is none. A request whose body is arriving is not being answered yet.
  std::size_t max_connections = 1'024;
  /// Bytes of a request's body, and of a message of a WebSocket.
  std::size_t max_body = std::size_t{1} << 20U;
  /// Bytes of all bodies that are being read.
  std::size_t max_held_bytes = std::size_t{256} << 20U;
  /// From the first byte of a request, or the connection, to the end of its header fields.
  std::chrono::milliseconds header_timeout{10'000};
  /// From there to the end of the body; and for an answer, and what a WebSocket is sent, to be taken.
  std::chrono::milliseconds body_timeout{30'000};
  /// How long a connection may be idle between two requests.
  std::chrono::milliseconds idle_timeout{60'000};
  /// How often files of TLS are looked at, whether they were replaced. Connections whose certificate is not
  /// accepted any more, or whose token has expired, end then, also while a stream or WebSocket is open.
  std::chrono::milliseconds reload_interval{30'000};
  /// How long a call may take unless its request says so.
  std::chrono::milliseconds deadline{30'000};
  Log log{};
};

/// Throws Error(INVALID_ARGUMENT) for an address, an origin or a file of TLS that cannot be used.
void check(const DoorOptions& options);

class Core;

class Door {
 public:
  /// Listens and serves. The relay's server was started. Throws as check() does, and Error(UNAVAILABLE) if it
  /// cannot listen there.
  Door(DoorOptions options, std::shared_ptr<relay::Relay> relay,
       std::shared_ptr<const server::Gatekeeper> gatekeeper);
  ~Door();  // ends all connections; to be destroyed before the relay is closed
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// "http://127.0.0.1:8080"
  [[nodiscard]] const std::string& address() const noexcept;
  /// Accepts no more connections, and waits until the requests in progress are answered. False: the time has
  /// passed before.
  bool drain(std::chrono::milliseconds within);
  /// Reads files of TLS again; false: one cannot be used, and those read before stay in use.
  bool reload();
  /// Writes the metrics of the door. Thread-safe.
  void expose(monitor::Exposition& out) const;

 private:
  const std::shared_ptr<Core> core_;
};

}  // namespace mf::http
