// A server: offers servants, listens, registers at a controller, drains when it is told to stop.
//
//   mf::Server server({.listen = "tcp://0.0.0.0:0", .controller = "mf://localhost:7400"});
//   server.offer(std::make_shared<BooksIndex>(), {.agent = "books"});
//   server.run();                                         until SIGTERM, SIGINT or stop()
//
// Any number of services and agents; one servant may serve several. Handlers run on worker threads unless
// their offer says Where::io_thread: then on the thread that read the request, if its payload has at most 4
// KiB. Such a handler must be quick; it may make blocking calls of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf {

enum class Where : std::uint8_t { worker, io_thread };

struct OfferOptions {
  /// Which part of a service `per` an agent this servant serves; empty for a service without. Of an enum
  /// it is a member's name; mf::agent_text() makes it of a typed value (mf/core/agent.hpp).
  std::string agent{};
  Where where = Where::worker;
};

struct ServerOptions {
  /// tcp://host:port (port 0: any free one), tls://host:port, unix:/path, or several of them, separated by
  /// commas.
  std::string listen = "tcp://127.0.0.1:0";
  /// mf://host:port, several separated by commas; empty: clients are told the address in some other way.
  std::string controller{};
  /// The address that clients are told, if it is not the one listened at (behind a translation, or when
  /// listening at 0.0.0.0).
  std::string advertise{};
  /// For tls:// among the addresses that are listened at.
  TlsOptions tls{};
  std::size_t workers = 4;
  /// Threads that read requests and write replies; each connection belongs to one of them. With several,
  /// handlers of Where::io_thread run on several threads, too.
  std::size_t io_threads = 1;
  /// The largest request that is taken, in bytes.
  std::uint32_t max_payload = 1U << 24;
  /// Requests in flight on one connection.
  std::uint32_t max_in_flight = 1U << 18;
  /// Services and agents that one connection may have bound at once.
  std::uint32_t max_bindings = 4096;
  /// Calls with a stream that one connection may have open at once. Each blocking handler of one has a
  /// thread.
  std::uint32_t max_streams = 256;
  /// Bytes that a stream towards this server may send before its handler has read any; it grows where that
  /// helps.
  std::uint32_t stream_window = 16 * 1024;
  /// How long stop() waits for calls in flight.
  std::chrono::milliseconds drain_timeout{5'000};
  /// Called with CallInfo::connection when a connection has ended.
  std::function<void(std::uint64_t)> on_disconnect{};
  Log log{};
};

class Server {
 public:
  explicit Server(ServerOptions options = {});
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Throws Error(INVALID_ARGUMENT): the (service, agent) is offered already, or the agent does not fit the
  /// service.
  void offer(std::shared_ptr<Servant> servant, OfferOptions options = {});

  /// Listens and returns. Throws Error(UNAVAILABLE): the port is taken, …, and Error(INVALID_ARGUMENT): a
  /// file of TlsOptions cannot be used.
  void start();
  /// start(), and serves until SIGTERM, SIGINT or stop(); then drains. A second signal ends the process at
  /// once.
  void run();
  /// No new calls; those in flight are finished, within the drain timeout; then everything is closed.
  /// Thread-safe.
  void stop();

  /// Where it listens, with the port that was chosen; after start(). address() is the first of addresses().
  [[nodiscard]] Address address() const;
  [[nodiscard]] std::vector<Address> addresses() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace mf
