// A server: offers servants, listens, registers at a controller, and drains when it is stopped.
//
//   mf::Server server({.listen = "tcp://127.0.0.1:0", .controller = "mf://localhost:7400"});
//   server.offer(std::make_shared<BooksIndex>(), {.agent = "books"});
//   server.run();                                         until SIGTERM, SIGINT or stop()
//
// Any number of services and agents; one servant may serve several.
//
// Where handlers run depends on measurements (decision 0024). A method starts on the worker threads; one that
// has been quick for a while runs on the thread that reads its requests, which saves a third of a small
// call's time; one that takes a millisecond there returns to the workers. A handler that waits only sometimes
// calls mf::blocking() first (mf/core/blocking.hpp), as blocking calls of this library do by themselves; then
// it does not delay other calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/access/file.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"
#include "mf/server/lead.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf::server {
class Forwarder;
class Gatekeeper;
class StopSignals;
class Offering;
}  // namespace mf::server

namespace mf {
namespace monitor {
class Exposition;
}

/// Where the handlers of an offer run.
enum class Where : std::uint8_t {
  adaptive,   // depends on how long each method takes
  worker,     // on the worker threads
  io_thread,  // on the thread that reads their requests, up to 64 KiB; they must be quick
};

/// How many calls run at once, and how many more may wait. Others are refused at once as OVERLOADED, not
/// executed. A message of a batch counts as one call, a call with a stream counts while its handler runs, and
/// a call of an asynchronous servant until it is answered. See docs/servers.md.
struct Limit {
  /// 0: no limit.
  std::uint32_t concurrent = 0;
  /// If it is not set, as many calls may wait as may run.
  std::optional<std::uint32_t> queued{};

  [[nodiscard]] std::uint32_t room() const noexcept { return queued.value_or(concurrent); }
};

struct OfferOptions {
  /// The agent that this servant serves; empty for a service without agents. For an enum it is a member's
  /// name; mf::agent_text() converts a typed value (mf/core/agent.hpp).
  std::string agent{};
  Where where = Where::adaptive;
  /// Limits of methods of this offer, by their names in the schema: {{"look_up", {.concurrent = 8}}}.
  std::map<std::string, Limit, std::less<>> limits{};
  // The controller passes the following members on to clients.
  /// The capacity for calls, relative to other servers; at most kMostWeight (mf/core/weight.hpp).
  std::uint32_t weight = 1;
  /// At most 16, with keys of at most 64 bytes and values of at most 1,024.
  std::map<std::string, std::string> labels{};
  /// No other server is meant to offer the same: if one does, both log warnings.
  bool alone = false;
};

/// What a client says of itself when it connects, proved by nothing.
struct PeerHello {
  std::span<const std::byte> authentication{};  ///< its ClientOptions::authentication
  std::string_view name{};                      ///< of its process, if it has one
  std::string_view peer{};                      ///< its address
};

struct ServerOptions {
  /// tcp://host:port (port 0: any free one), tls://host:port, unix:/path, or several of them, separated by
  /// commas.
  std::string listen = "tcp://127.0.0.1:0";
  /// mf://host:port or mf+tls://host:port, several separated by commas; empty if clients learn the address in
  /// another way.
  std::string controller{};
  /// How this server verifies controllers at mf+tls:// and identifies itself to them. With it no controller
  /// may be at mf://.
  TlsOptions controller_tls{};
  /// The address that clients get, if it differs from the one to listen at (behind address translation,
  /// or when listening at 0.0.0.0).
  std::string advertise{};
  /// For addresses with tls:// in `listen`.
  TlsOptions tls{};
  /// An address of `listen` beyond this host is refused unless the server learns which peers it has: by
  /// tls:// with `tls.ca` or `token_keys`, by `authenticate` or by `authorize`. With `open` it is not: every
  /// program that reaches the address may then use the server.
  bool open = false;
  std::size_t workers = 4;
  /// The limit of all calls of this server together; OfferOptions::limits has those of single methods.
  Limit limit{};
  /// Threads that read requests and write replies; each connection belongs to one of them. Handlers that run
  /// where their requests were read run on these threads.
  std::size_t io_threads = 1;
  /// The largest accepted request, in bytes.
  std::uint32_t max_payload = 1U << 24;
  /// Requests in flight on one connection.
  std::uint32_t max_in_flight = 1U << 18;
  /// Services and agents that one connection may have bound at the same time.
  std::uint32_t max_bindings = 4096;
  /// Calls with a stream that one connection may have open at the same time. Each blocking stream handler has
  /// a thread.
  std::uint32_t max_streams = 256;
  /// Bytes that a stream to this server may send before its handler reads; it grows when that raises
  /// throughput.
  std::uint32_t stream_window = 16 * 1024;
  /// Open connections; further ones are refused with OVERLOADED.
  std::size_t max_connections = 16'384;
  /// The most connections of one host, by its address; 0: no limit of its own.
  std::size_t max_connections_per_host = 0;
  /// Connections without a HELLO yet; a further one ends the oldest of them.
  std::size_t max_handshakes = 1'024;
  /// Bytes of unread replies of one connection: above it, nothing is read from the connection and none of its
  /// requests begins.
  std::size_t max_unread_bytes = std::size_t{8} << 20U;
  /// Bytes of requests of one connection that wait or run; more are refused with OVERLOADED.
  std::size_t max_request_bytes = std::size_t{64} << 20U;
  /// Bytes held by all connections together: requests that wait or run, messages that have begun to arrive
  /// (their announced size), and unread replies. Near the limit, requests of connections that hold more than
  /// 256 KiB are refused with OVERLOADED; above it, the connection that holds the most is ended.
  std::size_t max_held_bytes = std::size_t{512} << 20U;
  /// The time limit for a client's HELLO.
  std::chrono::milliseconds handshake_timeout{2'000};
  /// While replies wait, or a message has begun to arrive, 512 KiB (or all of it) must be transferred within
  /// this time; otherwise the connection is ended.
  std::chrono::milliseconds progress_timeout{10'000};
  /// How long stop() waits for calls in flight, as does the end of a connection that is not allowed any more.
  std::chrono::milliseconds drain_timeout{5'000};
  /// How often the files of `tls` and `token_keys` are looked at; those that were replaced are read again.
  std::chrono::milliseconds reload_interval{30'000};
  /// The clock by which Where::adaptive measures handlers, for tests; null: the steady clock.
  std::shared_ptr<const Clock> clock{};
  /// Takes the calls of services that this server does not offer: a relay (mf/relay/relay.hpp). Without one
  /// they are refused.
  std::shared_ptr<server::Forwarder> forwarder{};
  /// The path of an access file (mf/access/rules.hpp), which says what each identity may call and subscribe
  /// to; what it does not allow is denied. With `authorize` both must allow. Mistakes in it are thrown as
  /// INVALID_ARGUMENT by the constructor of Server, with file, line and a suggestion. A file that replaces it
  /// is read (`reload_interval`); peers that may do something else by it than before connect again.
  access::File access{};
  /// Called once for each connection, before the server answers its HELLO; false refuses the connection as
  /// UNAUTHENTICATED. It and the next one are called on the thread of the connection, which they must not
  /// block, and one that throws denies.
  std::function<bool(const PeerHello& hello, const Identity& identity)> authenticate{};
  /// Decides, when a client binds a service, whether it may call the method: once for each method and agent
  /// on a connection, not for each call; and once for each subscription to a topic, with the pattern of its
  /// agents and the method "subscribe". Empty: every peer may.
  std::function<bool(const Identity& peer, std::string_view service, std::string_view agent,
                     std::string_view method)>
      authorize{};
  /// A file with the public keys of tokens (docs/tokens.md). A client that shows a token that one of them has
  /// signed, and that is valid for `token_audience`, has the identity "token:" and its subject; one that
  /// shows another is refused. Its connection ends when the token expires, or its key is taken out of the
  /// file.
  std::string token_keys{};
  std::string token_audience{};
  /// Where GET /metrics, /livez and /readyz are answered over HTTP, to read alone: HOST:PORT, port 0 takes
  /// any free one. Empty: nowhere. An address beyond loopback needs `monitor_open`: every program that
  /// reaches it may read it. Calls are measured only with it.
  std::string monitor{};
  bool monitor_open = false;
  /// Adds metrics to those of the server. Called on the thread of the monitor.
  std::function<void(monitor::Exposition& out)> expose{};
  /// Why this process should get no work, in one line; empty: it may. Asked for /readyz, as above.
  std::function<std::string()> not_ready{};
  /// What runs around the handlers of all offered servants, the outermost first (mf/core/interceptor.hpp):
  /// where they run, once access was checked. Not around topics, replicas and flexible messages.
  Interceptors interceptors{};
  /// A handler that throws what is neither a declared error nor an mf::Error for its caller has failed: the
  /// log has the text (`handler_failed`), and the caller gets the reference of that line. With `error_texts`
  /// the caller gets the text, too, which may name files, hosts and values of this process.
  bool error_texts = false;
  /// Called with CallInfo::connection when a connection has ended.
  std::function<void(std::uint64_t)> on_disconnect{};
  Log log{};
};

/// What the connections of one peer use.
struct PeerLoad {
  std::string peer;  // its identity, or its host if it has shown none
  std::size_t connections = 0;
  std::size_t calls = 0;    // that wait or run
  std::size_t streams = 0;  // open calls with a stream
  std::size_t held_bytes = 0;
};

/// The state of a server's connections, and what it has refused and ended since it was made (docs/limits.md).
struct ConnectionStats {
  std::size_t open = 0;
  std::size_t handshakes = 0;        // open connections without a HELLO
  std::size_t calls = 0;             // calls that wait or run
  std::size_t held_bytes = 0;        // see ServerOptions::max_held_bytes
  std::uint64_t accepted = 0;        // connections, refused ones not counted
  std::uint64_t refused = 0;         // connections above max_connections
  std::uint64_t turned_away = 0;     // connections for which there was no file descriptor
  std::uint64_t cut_handshakes = 0;  // connections that were ended, by the exceeded limit
  std::uint64_t cut_progress = 0;
  std::uint64_t cut_memory = 0;
  std::uint64_t cut_protocol = 0;
  std::uint64_t cut_idle = 0;
  std::vector<PeerLoad> peers{};  // the ten that hold the most
};

/// Statistics of the calls of a method since the server was made. Each item of a batch counts.
struct MethodStats {
  std::string service;
  std::string agent;
  std::string method;
  std::uint64_t executed = 0;  // calls whose handlers were started
  std::uint64_t refused = 0;   // as OVERLOADED, by a limit of the method or of the server
  std::uint64_t expired = 0;   // calls whose deadlines passed before they could run
  std::uint64_t dropped = 0;   // one-way calls that a limit refused; their clients get no failure
  // The current numbers of messages; only for a method that has a limit of its own.
  std::size_t running = 0;
  std::size_t waiting = 0;
};

struct ServerStats {
  std::uint64_t executed = 0;
  std::uint64_t refused = 0;
  std::uint64_t expired = 0;
  std::uint64_t dropped = 0;
  // The current numbers of messages of methods with a limit.
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::vector<MethodStats> methods{};  // in the order of services, agents, and methods of the schema
  ConnectionStats connections{};
};

/// The exit status of a program whose server had to cut calls when it stopped.
inline constexpr int kCallsCut = 3;

class Server {
 public:
  explicit Server(ServerOptions options = {});
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Throws Error(INVALID_ARGUMENT) if the (service, agent) is offered already, the agent does not fit the
  /// service, or a limit names an unknown method.
  void offer(std::shared_ptr<Servant> servant, OfferOptions options = {});
  /// Withdraws one offer: controllers are notified, and it cannot be bound any more. Running calls continue,
  /// as do calls of clients that have bound it. Throws Error(INVALID_ARGUMENT) for what is not offered.
  void withdraw(const Servant& servant, const std::string& agent = {});
  /// Offers mf::Topics, including future ones, to subscribers in other processes.
  void offer(server::Offering& offering);

  /// Waits until this process leads for a service and agent, of all processes that ask for that; see Lead.
  /// The first of this server's controllers decides. To be called after start(). Throws Error(CANCELLED) when
  /// the server is stopped meanwhile, and Error(INVALID_ARGUMENT) without a controller.
  [[nodiscard]] Lead lead(const Servant& servant, const LeadOptions& options = {});
  /// Completes with Outcome<Lead>. The token's cancellation slot withdraws the candidacy.
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

  /// Listens and returns. Throws Error(UNAVAILABLE), for example if the port is in use, and
  /// Error(INVALID_ARGUMENT) if a file of TlsOptions cannot be used.
  void start();
  /// Calls start(), and serves until SIGTERM, SIGINT or stop(); then drains. A second signal ends the process
  /// at once. SIGHUP is reload(). Returns what stop() returns: `return server.run() ? 0 : mf::kCallsCut;`
  bool run();
  /// For a program that waits for signals itself, instead of run(): an operator that drains the server
  /// (mf.admin) ends that wait as a signal does, and the program then calls stop(). Null: it waits no more.
  void wakes(server::StopSignals* waiting);
  /// Reads the files of ServerOptions::tls, controller_tls and token_keys again, at once. Connections whose
  /// certificates or tokens are not accepted any more end when their calls have, or after the drain timeout.
  /// False: a file cannot be used, which the log says, and those read before stay in use. Thread-safe.
  bool reload();
  /// Accepts no more calls, waits for running ones within the drain timeout, then closes everything. False if
  /// that time was not enough, so that calls were cut, which the log counts by method (`calls_cut`); true if
  /// it has nothing to stop. Thread-safe.
  bool stop();

  /// The address where it listens, with the chosen port; after start(). address() is the first of
  /// addresses().
  [[nodiscard]] Address address() const;
  [[nodiscard]] std::vector<Address> addresses() const;
  /// HOST:PORT of the monitor, with the chosen port; empty without one, and before start().
  [[nodiscard]] std::string monitor_address() const;
  /// For a door of another protocol that belongs to this server; it may outlive the server. Throws
  /// Error(INVALID_ARGUMENT) before start().
  [[nodiscard]] std::shared_ptr<const server::Gatekeeper> gatekeeper() const;

  /// At any time, from any thread.
  [[nodiscard]] ServerStats stats() const;

  /// Adds a reason why this server should get no work: `check` is called when /readyz or the health service
  /// (docs/observability.md) is asked, on any thread, and returns it in one line, or an empty text. One that
  /// throws is a reason, too. It must not wait for long. `service`: the full name of the only service that it
  /// is about; /readyz does not ask it then. Throws Error(INVALID_ARGUMENT) for a name that is taken.
  /// Thread-safe.
  void add_check(const std::string& name, std::function<std::string()> check, std::string service = {});
  /// Throws Error(INVALID_ARGUMENT) for a name that is unknown. Thread-safe.
  void remove_check(const std::string& name);

 private:
  class Core;
  std::shared_ptr<link::Candidacy> candidacy(const ServiceInfo& service, const std::string& agent);
  std::unique_ptr<Core> core_;
};

}  // namespace mf
