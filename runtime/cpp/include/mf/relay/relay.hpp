// Relays calls of clients that cannot, or need not, reach the servers (docs/relay.md): a server of this
// process forwards calls of services that it does not offer itself.
//
//   auto relay = std::make_shared<mf::relay::Relay>(mf::relay::RelayOptions{.controller =
//   "mf://localhost:7400"}); mf::Server server({.listen = "tcp://127.0.0.1:7500", .stream_window = 0,
//   .forwarder = relay}); server.run(); relay->close();
//
// Envelopes are forwarded in both directions; payloads, tiers and metadata are never read. Each client has a
// connection of its own to each instance that it calls (decision 0035), so that order, limits, credit and the
// client's HELLO hold from end to end, and a slow side slows down only its peer. So the client's identity can
// be passed on with the connection (decision 0097).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"
#include "mf/link/resolver.hpp"
#include "mf/server/forwarder.hpp"
#include "mf/topics/options.hpp"
#include "mf/transport/tls.hpp"

namespace mf::transport {
class Reactor;
}

namespace mf::relay {

struct RelayOptions {
  /// mf://host:port or mf+tls://host:port, or relay://host:port or relay+tls://host:port for one relay behind
  /// another; several are separated by commas.
  /// If it is empty, the relay's own server is the controller.
  std::string controller{};
  /// The timeout for a connection to a server, and for a BIND.
  std::chrono::milliseconds connect_timeout{1'500};
  /// The limits for connections to servers, of one client and of all.
  std::size_t max_servers_of_client = 256;
  std::size_t max_servers = 16'384;
  /// Topics for its clients: the bounds of queues and of replay, and authorization. stall_timeout must be
  /// shorter than that of publishers, so that a stalled client is cut before a publisher cuts the relay.
  TopicsOptions topics{.stall_timeout = std::chrono::milliseconds(5'000)};
  /// The limit for subscriptions at publishers; equal subscriptions of clients share one.
  std::size_t max_trunks = 1'024;
  /// The bytes that are kept for replay of all topics.
  std::size_t max_kept_bytes = std::size_t{256} << 20U;
  /// How servers at tls://, controllers at mf+tls:// and other relays at relay+tls:// are verified, and what
  /// is shown to them. With it the relay reaches servers over TLS only.
  TlsOptions tls{};
  /// The relay's own token for them; see ClientOptions::credential.
  ClientCredential credential{};
  /// The networks of the servers: "10.0.0.0/8", "fd00::/8", "10.1.2.3", "unix:/run/mf" for the paths below. A
  /// server that has registered an address elsewhere is not reached. If it is empty, all networks but
  /// link-local ones, and this host only if the relay listens nowhere else.
  std::vector<std::string> to{};
  /// Whether servers get the identity of each client. They believe it only if their access files allow the
  /// action `relay` to this relay. Clients with an identity then share no subscriptions with those of
  /// another.
  bool passes_identities = true;
  /// See ClientOptions::trusted_users.
  std::vector<uid_t> trusted_users{};
  /// Whether clients may register servers, and ask for leads, at the controller through this relay. Otherwise
  /// only `client_id`, `watch`, `find` and `status` of the controller's service pass.
  bool registers = false;
  Log log{};
};

/// One subscription of a relay at the publishers of a topic, and the client subscriptions that share it.
struct TopicRelayStats {
  std::string topic{};
  std::uint64_t received = 0;  // messages
  std::uint64_t missed = 0;    // on the way to the relay
  // Messages that came twice, and subscriptions that were ended since their publisher broke the protocol:
  std::uint64_t duplicates = 0;
  std::uint64_t cut = 0;
  std::vector<SubscriptionStats> subscriptions{};
};

struct Shared;

class Relay final : public server::Forwarder {
 public:
  /// Throws Error(INVALID_ARGUMENT) for an address, a network or a credential that cannot be read.
  explicit Relay(RelayOptions options);
  /// Uses the caller's resolver; for tests. `controllers`: where the controller's own service is.
  Relay(std::shared_ptr<Resolver> resolver, const std::vector<Address>& controllers,
        RelayOptions options = {});
  ~Relay() override;

  std::shared_ptr<server::Forwarding> connected(const std::shared_ptr<link::ServerLink>& link) override;
  void opened(const protocol::Nonce& nonce, const std::vector<Address>& addresses,
              std::shared_ptr<const server::Taps> taps) override;
  bool reload() override;
  [[nodiscard]] std::vector<TopicRelayStats> topics() const;
  /// Must be called after the server was stopped.
  void close();

  // ---- for a door of another protocol that belongs to the relay; all of these once its server was started

  /// A client of the servers behind the relay, whose calls and subscriptions are made for this identity as
  /// those of a client of the relay are. It runs on this reactor, and is closed before that is stopped.
  /// Throws Error(PERMISSION_DENIED) for an identity that cannot be passed on.
  [[nodiscard]] std::shared_ptr<client::Core> client_for(
      const Identity& client, const std::shared_ptr<transport::Reactor>& reactor) const;
  /// A client of the service of the controller, or of the relay, that this one asks, in the name of this
  /// relay.
  [[nodiscard]] std::shared_ptr<client::Core> controller_client(
      const std::shared_ptr<transport::Reactor>& reactor) const;
  /// Keeps a service, or topic_view() of a topic, watched for as long as the result lives, so that resolver()
  /// has it. Null if others use as many as may be watched, or the name is too long.
  [[nodiscard]] std::shared_ptr<void> watch(std::string_view service,
                                            const std::shared_ptr<transport::Reactor>& reactor) const;
  [[nodiscard]] const std::shared_ptr<Resolver>& resolver() const noexcept;
  /// Those of its server, which see what the relay and its doors hand on.
  [[nodiscard]] const server::Taps& taps() const noexcept;
  /// The words of a failure for clients of such a door: they name no address, not even that of the relay,
  /// which may listen where these clients do not reach it.
  [[nodiscard]] static std::string words(std::string_view message);

 private:
  void ask(const std::string& url);
  void limit_networks(const std::vector<Address>& listens_at);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace mf::relay
