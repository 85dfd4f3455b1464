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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"
#include "mf/server/lead.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf::server {
class Forwarder;
class Offering;
}  // namespace mf::server

namespace mf {

/// Where the handlers of an offer run.
enum class Where : std::uint8_t {
  adaptive,   // by how long each method takes
  worker,     // on the worker threads
  io_thread,  // on the thread that reads their requests, up to 64 KiB; they must be quick
};

/// How many calls run at once, and how many more may wait for their turn. The others are refused at once as
/// OVERLOADED, not executed. A message of a batch counts as one call, a call with a stream while its handler
/// runs, a call of an asynchronous servant until it is answered. See docs/servers.md.
struct Limit {
  /// 0: no limit.
  std::uint32_t concurrent = 0;
  /// If it is not set, as many calls may wait as may run.
  std::optional<std::uint32_t> queued{};

  [[nodiscard]] std::uint32_t room() const noexcept { return queued.value_or(concurrent); }
};

struct OfferOptions {
  /// Which part of a service `per` an agent this servant serves; empty for a service without. Of an enum
  /// it is a member's name; mf::agent_text() makes it of a typed value (mf/core/agent.hpp).
  std::string agent{};
  Where where = Where::adaptive;
  /// Of methods of this offer, by their names in the schema: {{"look_up", {.concurrent = 8}}}.
  std::map<std::string, Limit, std::less<>> limits{};
  // What a controller is told of this offer, and clients through it:
  /// How many times more calls than others it can take.
  std::uint32_t weight = 1;
  /// At most 16, of at most 64 and 1,024 bytes.
  std::map<std::string, std::string> labels{};
  /// Nobody else is meant to offer the same: whoever does, and this server, are warned in their logs.
  bool alone = false;
};

struct ServerOptions {
  /// tcp://host:port (port 0: any free one), tls://host:port, unix:/path, or several of them, separated by
  /// commas.
  std::string listen = "tcp://127.0.0.1:0";
  /// mf://host:port or mf+tls://host:port, several separated by commas; empty: clients are told the address
  /// in some other way.
  std::string controller{};
  /// How controllers at mf+tls:// are verified, and what is shown to them.
  TlsOptions controller_tls{};
  /// The address that clients are told, if it is not the one listened at (behind a translation, or when
  /// listening at 0.0.0.0).
  std::string advertise{};
  /// For tls:// among the addresses that are listened at.
  TlsOptions tls{};
  std::size_t workers = 4;
  /// Of all calls of this server together; OfferOptions::limits has those of single methods.
  Limit limit{};
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
  /// Connections at once; one more is refused with OVERLOADED.
  std::size_t max_connections = 16'384;
  /// Connections whose HELLO has not come yet; one more ends the oldest of them.
  std::size_t max_handshakes = 1'024;
  /// Bytes of replies that may wait on one connection until its client reads them: while there are more,
  /// nothing is read from it and none of its requests begins.
  std::size_t max_unread_bytes = std::size_t{8} << 20U;
  /// Bytes of requests of one connection that wait or run; more are refused with OVERLOADED.
  std::size_t max_request_bytes = std::size_t{64} << 20U;
  /// Bytes that all connections hold together: requests that wait or run, messages that have begun to come
  /// (their announced size), replies that are not read. Near that, requests of connections that hold more
  /// than 256 KiB are refused with OVERLOADED; above it the connection that holds the most is ended.
  std::size_t max_held_bytes = std::size_t{512} << 20U;
  /// Until when a client's HELLO has to come.
  std::chrono::milliseconds handshake_timeout{2'000};
  /// While replies wait, or a message has begun to come, 512 KiB have to move in this time, or all of it;
  /// else the connection is ended.
  std::chrono::milliseconds progress_timeout{10'000};
  /// How long stop() waits for calls in flight.
  std::chrono::milliseconds drain_timeout{5'000};
  /// That Where::adaptive measures handlers by, for tests; none: the steady clock.
  std::shared_ptr<const Clock> clock{};
  /// Takes the calls of services that this server does not offer: a relay (mf/relay/relay.hpp). None: they
  /// are refused.
  std::shared_ptr<server::Forwarder> forwarder{};
  /// Called with CallInfo::connection when a connection has ended.
  std::function<void(std::uint64_t)> on_disconnect{};
  Log log{};
};

/// How the connections of a server stand, and what it has refused and ended since it was made
/// (docs/limits.md).
struct ConnectionStats {
  std::size_t open = 0;
  std::size_t handshakes = 0;        // of them, those whose HELLO has not come
  std::size_t calls = 0;             // that wait or run
  std::size_t held_bytes = 0;        // see ServerOptions::max_held_bytes
  std::uint64_t accepted = 0;        // connections, refused ones not counted
  std::uint64_t refused = 0;         // connections above max_connections
  std::uint64_t turned_away = 0;     // connections for which there was no descriptor
  std::uint64_t cut_handshakes = 0;  // connections that were ended, by the limit that they crossed
  std::uint64_t cut_progress = 0;
  std::uint64_t cut_memory = 0;
  std::uint64_t cut_protocol = 0;
};

/// What became of the calls of a method since the server was made. Each item of a batch counts.
struct MethodStats {
  std::string service;
  std::string agent;
  std::string method;
  std::uint64_t executed = 0;  // their handlers were begun
  std::uint64_t refused = 0;   // as OVERLOADED, by a limit of the method or of the server
  std::uint64_t expired = 0;   // their deadlines passed before they could be run
  std::uint64_t dropped = 0;   // one-way calls that a limit refused: nobody is told
  // Now, in messages; of a method that has a limit of its own.
  std::size_t running = 0;
  std::size_t waiting = 0;
};

struct ServerStats {
  std::uint64_t executed = 0;
  std::uint64_t refused = 0;
  std::uint64_t expired = 0;
  std::uint64_t dropped = 0;
  // Now, in messages; of the methods that a limit holds for.
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::vector<MethodStats> methods{};  // in the order of services, agents, and the schema
  ConnectionStats connections{};
};

class Server {
 public:
  explicit Server(ServerOptions options = {});
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Throws Error(INVALID_ARGUMENT): the (service, agent) is offered already, the agent does not fit the
  /// service, or a limit names a method that the service does not have.
  void offer(std::shared_ptr<Servant> servant, OfferOptions options = {});
  /// Takes one offer back: controllers are told, and no connection binds it any more. Calls under way go on,
  /// as do those of clients that have bound it. Throws Error(INVALID_ARGUMENT) for what is not offered.
  void withdraw(const Servant& servant, const std::string& agent = {});
  /// Offers what mf::Topics have, now and later, to subscribers elsewhere.
  void offer(server::Offering& offering);

  /// To be the only one for a service and agent, of all processes that ask for it: waits until this one is.
  /// See Lead. The controller says so, the first one that the server was given. After start(). Throws
  /// Error(CANCELLED) when the server is stopped before, Error(INVALID_ARGUMENT) for one without a
  /// controller.
  [[nodiscard]] Lead lead(const Servant& servant, const LeadOptions& options = {});
  /// Completes with Outcome<Lead>. What the token's cancellation slot is told gives the wish up.
  template <class Token>
  auto async_lead(const Servant& servant, const LeadOptions& options, Token&& token) {
    return Completes<std::decay_t<Token>, Lead>::initiate(
        std::forward<Token>(token),
        [this, service = &servant.service(), options](Callback<Lead> done, const std::stop_token& stop = {}) {
          auto begun = attempt([&] { return candidacy(*service, options.agent); });
          if (!begun.ok()) return done(begun.failure());
          const auto wanted = std::move(begun).value();
          const auto cancel = detail::cancelling(wanted);
          wanted->when_held(detail::stopped_with(
              options.stop, cancel,
              detail::stopped_with(
                  stop, cancel,
                  Callback<void>([wanted, done = std::move(done)](Outcome<void>&& held) mutable {
                    if (!held.ok()) return done(held.failure());
                    done(Lead(wanted));
                  }))));
        });
  }

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

  /// At any time, from any thread.
  [[nodiscard]] ServerStats stats() const;

 private:
  class Core;
  std::shared_ptr<link::Candidacy> candidacy(const ServiceInfo& service, const std::string& agent);
  std::unique_ptr<Core> core_;
};

}  // namespace mf
