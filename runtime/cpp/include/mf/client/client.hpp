// The client of a process: opened once, shared by all stubs and threads, closed by its destructor.
//
//   mf::Client client("mf://localhost:7400");
//     services are looked up at a controller, calls go directly to their servers
//   mf::Client client("tcp://localhost:7401");
//     one server, no controller; several, separated by commas, share the calls; tls:// and unix: as well
//   mf::Client client(light);
//     the servants of a mf::Light in this process, nothing is serialized
//
// Nothing is connected before the first call, so clients may start before controller and servers. Stubs made
// of a client keep what they need alive. Its end ends all calls, and tells their servers: they end as
// CANCELLED, as do calls that are made later.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/link/local.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/tls.hpp"

namespace mf {

namespace client {
class Core;
}

struct ClientOptions {
  /// How long a call waits, from the controller's first answer on, for a server of a service and agent that
  /// this client has never reached. No limit where nothing has answered yet: there the deadline is.
  std::chrono::nanoseconds wait_for_server = std::chrono::seconds(5);
  std::chrono::milliseconds connect_timeout{2'000};
  /// A server that is awaited, and from which nothing comes for so long, not even the answer to a ping, is
  /// given up: the calls on its connection end as UNKNOWN. 0: none is.
  std::chrono::milliseconds dead_after{10'000};
  /// The largest reply that is taken, in bytes.
  std::uint32_t max_payload = 1U << 24;
  /// Bytes that a stream towards this client may send before it has read any; it grows where that helps.
  std::uint32_t stream_window = 16 * 1024;
  /// How servers at tls:// are verified, and what is shown to them.
  TlsOptions tls{};
  /// Opaque; sent in the handshake.
  std::vector<std::byte> authentication{};
  Log log{};
  /// Keys of metadata that pass on from a call that is being handled into the calls that its handler makes by
  /// this client. `traceparent` and `tracestate` always do, `authorization` never does.
  std::vector<std::string> forward_metadata{};
  /// By which the results of cached calls grow old; null: the steady clock.
  std::shared_ptr<const Clock> clock{};
};

class Client {
 public:
  /// Throws Error(INVALID_ARGUMENT) for an address that cannot be read, or a file of TlsOptions.
  explicit Client(std::string_view url, ClientOptions options = {});
  explicit Client(std::shared_ptr<const LocalServants> servants, ClientOptions options = {});
  explicit Client(std::shared_ptr<Resolver> resolver, ClientOptions options = {});
  explicit Client(std::shared_ptr<client::Core> core);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<client::Core> core_;
};

}  // namespace mf
