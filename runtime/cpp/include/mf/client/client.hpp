// The client of a process: opened once, shared by all stubs and threads, closed by its destructor.
//
//   mf::Client client("mf://localhost:7400");
//     services are looked up at a controller, calls go directly to their servers
//   mf::Client client("tcp://localhost:7401");
//     one server, no controller; calls are spread over several, separated by commas; tls:// and unix: as well
//   mf::Client client(light);
//     the servants of a mf::Light in this process, nothing is serialized
//
// Nothing is connected before the first call, so clients may start before the controller and the servers.
// Stubs share ownership of what they need of their client. Destroying the client ends its calls as CANCELLED
// and notifies their servers; later calls end as CANCELLED, too.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/core/log.hpp"
#include "mf/core/secret.hpp"
#include "mf/link/local.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/tls.hpp"

namespace mf {

namespace client {
class Core;
}

/// A token (docs/tokens.md): itself, or the path of the file that holds it, which is read for each
/// connection.
struct ClientCredential {
  Secret token{};
  std::string file{};

  [[nodiscard]] bool given() const noexcept { return !token.empty() || !file.empty(); }
};

struct ClientOptions {
  /// How long a call waits for a server of a service and agent that this client has never reached, counted
  /// from the controller's first answer. Before any answer only the call's deadline limits the wait.
  std::chrono::nanoseconds wait_for_server = std::chrono::seconds(5);
  std::chrono::milliseconds connect_timeout{2'000};
  /// If a server with pending calls sends nothing for this time, not even the answer to a ping, its
  /// connection is given up: the calls on it end as UNKNOWN. 0 disables this.
  std::chrono::milliseconds dead_after{10'000};
  /// The largest accepted reply, in bytes.
  std::uint32_t max_payload = 1U << 24;
  /// Bytes that a stream to this client may send before the client reads; it grows when that raises
  /// throughput.
  std::uint32_t stream_window = 16 * 1024;
  /// How this client verifies servers at tls:// and identifies itself to them. A client with it never uses an
  /// address in clear: to pass one is an error, and one that a controller names is skipped, and logged once.
  TlsOptions tls{};
  /// How often the files of `tls` are looked at while there are connections over TLS; those that were
  /// replaced are read again.
  std::chrono::milliseconds reload_interval{30'000};
  /// Users of this host, in addition to root and the user of this process, whose servers are called over the
  /// unix sockets that they have registered (mf/transport/trust.hpp).
  std::vector<uid_t> trusted_users{};
  /// The token that is shown to servers, controllers and relays that were verified: over TLS, or at a path of
  /// this host that no user may have replaced but root, the user of this process, and `trusted_users`. As
  /// with `tls`, no address in clear is used then.
  ClientCredential credential{};
  /// Opaque bytes that are sent in the handshake.
  std::vector<std::byte> authentication{};
  Log log{};
  /// Keys of metadata that a handler's calls through this client forward from the call being handled.
  /// `traceparent` and `tracestate` are always forwarded, `authorization` never is.
  std::vector<std::string> forward_metadata{};
  /// The clock by which cached results expire; null: the steady clock.
  std::shared_ptr<const Clock> clock{};
  /// What runs around all calls of this client, the outermost first (mf/core/interceptor.hpp).
  Interceptors interceptors{};
};

class Client {
 public:
  /// Throws Error(INVALID_ARGUMENT) for an invalid address or an unusable file of TlsOptions.
  explicit Client(std::string_view url, ClientOptions options = {});
  explicit Client(std::shared_ptr<const LocalServants> servants, ClientOptions options = {});
  explicit Client(std::shared_ptr<Resolver> resolver, ClientOptions options = {});
  explicit Client(std::shared_ptr<client::Core> core);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// Reads the files of ClientOptions::tls again, at once. Connections to servers whose certificates are not
  /// accepted any more end. False: a file cannot be used, which the log says, and those read before stay in
  /// use.
  bool reload();

  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<client::Core> core_;
};

}  // namespace mf
