// A server: offers servants, listens, registers at a controller, drains when it is told to stop.
//
//   mf::Server server({.listen = "tcp://0.0.0.0:0", .controller = "mf://localhost:7400"});
//   server.offer(std::make_shared<BooksIndex>(), {.agent = "books"});
//   server.run();                                         until SIGTERM, SIGINT or stop()
//
// Any number of services and agents; one servant may serve several.
//
// Where handlers run is measured (decision 0024). A method begins on the worker threads; one that has been
// quick for a while runs on the thread that reads its requests, which saves a small call a third of its time;
// one that takes a millisecond there goes back to the workers. A handler that only sometimes waits says
// mf::blocking() first (mf/core/blocking.hpp), or makes a blocking call of this library, which says so by
// itself: then it holds up nobody.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf {

/// Where the handlers of an offer run.
enum class Where : std::uint8_t {
  adaptive,   // by how long each method takes
  worker,     // on the worker threads
  io_thread,  // on the thread that reads their requests, up to 64 KiB; they must be quick
};

struct OfferOptions {
  /// Which part of a service `per` an agent this servant serves; empty for a service without. Of an enum
  /// it is a member's name; mf::agent_text() makes it of a typed value (mf/core/agent.hpp).
  std::string agent{};
  Where where = Where::adaptive;
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
  /// Threads that read requests and write replies; each connection belongs to one of them. Each runs the
  /// handlers that run where their requests were read.
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
  /// That Where::adaptive measures handlers by, for tests; none: the steady clock.
  std::shared_ptr<const Clock> clock{};
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
