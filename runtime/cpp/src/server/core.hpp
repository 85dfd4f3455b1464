// The implementation of a server: its offers, addresses and connections.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/link/registrar.hpp"
#include "mf/server/readiness.hpp"
#include "mf/server/server.hpp"
#include "mf/server/signals.hpp"
#include "mf/server/taps.hpp"
#include "mf/transport/socket.hpp"
#include "server/access.hpp"
#include "server/connection.hpp"
#include "server/entrance.hpp"
#include "server/token_gate.hpp"

namespace mf {
namespace monitor {
class Door;
class Exposition;
class Tallies;
}  // namespace monitor
namespace server {

/// The error for a request that the process makes of its own server, and that the server cannot fulfil.
[[nodiscard]] inline Error refused(const std::string& message) {
  return {Code::invalid_argument, Execution::not_executed, message};
}

}  // namespace server

class Server::Core final : public server::Directory {
 public:
  explicit Core(ServerOptions options);
  ~Core() override;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void offer(std::shared_ptr<Servant> servant, OfferOptions options, bool registered = true);
  void withdraw(const Servant& servant, const std::string& agent);
  void offer(server::Offering& offering);
  std::shared_ptr<link::Candidacy> candidacy(const ServiceInfo& service, const std::string& agent);
  void start();
  bool run();
  void wakes(server::StopSignals* waiting);
  bool stop();
  bool reload();
  [[nodiscard]] std::vector<Address> addresses() const;
  [[nodiscard]] std::string monitor_address() const;
  [[nodiscard]] std::shared_ptr<const server::Gatekeeper> gatekeeper() const;
  [[nodiscard]] server::Readiness& readiness() noexcept { return *readiness_; }
  /// The same as stop(), without waiting for it: for the service of operators.
  void stop_soon();

  Outcome<std::shared_ptr<const server::Offer>> find(const protocol::Bind& bind, std::string_view peer,
                                                     bool names) override;
  [[nodiscard]] const server::Access& access() const noexcept override { return *access_; }
  std::optional<Authorized> authorized(std::string_view service) override;
  const ServiceInfo* describe(std::string_view service) override;
  void on_greeted(std::uint64_t connection) override;
  void on_used(std::uint64_t connection) override;
  void on_overfull() override;
  void on_closed(std::uint64_t connection) override;
  [[nodiscard]] ServerStats stats() const;
  server::Admission& admission() override { return *admission_; }
  transport::Workers& workers() override { return *workers_; }
  transport::Workers& stream_threads() override { return *stream_threads_; }
  server::Shares& stream_shares() override { return stream_shares_; }
  [[nodiscard]] bool stopped() const noexcept override {
    return nothing_more_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const Log& log() const override { return options_.log; }
  [[nodiscard]] const std::shared_ptr<link::HandlerFailures>& failures() const noexcept override {
    return failures_;
  }
  server::Forwarder* forwarder() noexcept override { return options_.forwarder.get(); }
  [[nodiscard]] const Clock* clock() const noexcept override { return options_.clock.get(); }

 private:
  class Acceptor;
  class Door;
  struct Published {
    Fingerprint fingerprint{};
    std::vector<std::string> agents;
  };
  struct Client {
    std::shared_ptr<link::ServerLink> link;
    std::shared_ptr<server::Connection> connection;
    std::string host;
    std::string account;  // the peer that is charged: its identity once it is known, else its host
    TimePoint since;
    std::shared_ptr<server::Entrance> entrance;  // null: nothing depends on identities
    std::shared_ptr<server::Rights> rights;      // null: every peer may do everything
  };
  /// The connections of one host.
  struct Host {
    std::size_t connections = 0;
    std::set<std::uint64_t> idle;  // those that have never bound anything, the oldest first
  };

  [[nodiscard]] ConnectionStats connection_stats() const;
  void expose(monitor::Exposition& out) const;
  /// Why no work may be given, a line for each reason; empty: it is ready.
  [[nodiscard]] std::string not_ready() const;
  /// Those of these reasons that are not checks of the program.
  [[nodiscard]] std::vector<std::string> own_reasons() const;
  [[nodiscard]] bool offers(std::string_view service) const;
  /// The offer of a service that every server has; null: it is none of them.
  [[nodiscard]] const std::shared_ptr<const server::Offer>& own_offer(
      std::string_view service) const noexcept;
  void publishes(const ServiceInfo& topic, std::vector<std::string> agents);
  void accept(std::unique_ptr<transport::Stream> stream);
  void refuse(transport::Stream& stream, const char* limit, const std::string& reason);
  /// The connection that is ended to make room for a new one of this host; null: none. Under the lock.
  [[nodiscard]] std::shared_ptr<link::ServerLink> take_idle(const std::string& newcomer);
  /// Calls `work` on the acceptors' thread when all reactors have handled the events that have arrived by
  /// now.
  void after_events(std::function<void()> work, std::size_t asked = 0);
  void announce();
  /// False: the drain timeout has passed, and calls are still in flight, which is logged.
  [[nodiscard]] bool drain();
  void log_started() const;
  void log_cut() const;
  bool read_files(transport::Reads which);
  void watch_files();
  void give_signs(std::chrono::nanoseconds period);
  void retire(const Client& client, std::string_view reason);
  [[nodiscard]] std::vector<Client> clients() const;
  [[nodiscard]] std::vector<Address> advertised() const;

  [[nodiscard]] std::vector<std::shared_ptr<server::Gate>> gates_for(const ServiceInfo& service,
                                                                     const std::string& agent,
                                                                     const OfferOptions& options);

  const ServerOptions options_;
  const std::shared_ptr<const server::Access> access_;
  const std::shared_ptr<server::Admission> admission_;
  const ProcessIdentity identity_ = draw_process_identity();
  protocol::Nonce nonce_{};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const server::Offer>, std::less<>> offers_;
  std::map<std::string, Published> topics_;
  std::shared_ptr<Door> door_;  // for objects that offer servants by themselves
  std::unordered_map<std::uint64_t, Client> clients_;
  std::map<std::string, Host> hosts_;
  std::set<std::uint64_t> greeting_;  // those without a HELLO yet, the oldest first
  std::uint64_t connections_ = 0;
  const std::shared_ptr<link::ServerLoad> load_;
  const std::shared_ptr<monitor::Tallies> tallies_;  // null: the server has no monitor
  const std::shared_ptr<link::HandlerFailures> failures_;
  const std::shared_ptr<const mf::detail::InterceptorList> interceptors_;  // null: none
  const std::shared_ptr<server::Readiness> readiness_;
  const std::shared_ptr<server::Taps> taps_;
  // Services that every server has, beside the offers, without limits and interceptors.
  const std::shared_ptr<const server::Offer> health_;
  const std::shared_ptr<const server::Offer> admin_;
  std::chrono::steady_clock::time_point refused_logged_{};  // used by the reactor's thread that accepts
  std::uint64_t refused_unlogged_ = 0;                      // as above
  bool started_ = false;
  bool stopped_ = false;
  std::atomic<bool> nothing_more_{false};  // drained: calls that were not started will not be
  std::vector<std::shared_ptr<transport::Reactor>> reactors_;  // the first one accepts
  std::unique_ptr<transport::Workers> workers_;
  server::Shares stream_shares_;  // longer than the tasks of
  std::unique_ptr<transport::Workers> stream_threads_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::shared_ptr<Registrar> registrar_;  // offer() uses it while stop() releases it
  std::mutex starting_or_stopping_;
  std::mutex announcing_;  // locked before mutex_
  std::mutex reading_files_;
  std::shared_ptr<server::TokenGate> tokens_;   // set by start(); null: no tokens are accepted
  std::shared_ptr<transport::TlsContext> tls_;  // set by start(); null: no address is at tls://
  server::StopSignals* signals_ = nullptr;
  std::thread stopping_;                    // started by stop_soon(); under mutex_
  std::unique_ptr<monitor::Door> monitor_;  // set by start(); it asks all of the above
};

}  // namespace mf
