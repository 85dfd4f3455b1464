// Calls for clients that cannot, or need not, reach the servers (docs/relay.md): a server of this process
// hands on what it does not offer itself.
//
//   auto relay = std::make_shared<mf::relay::Relay>(mf::relay::RelayOptions{.controller =
//   "mf://localhost:7400"}); mf::Server server({.listen = "tcp://0.0.0.0:7500", .stream_window = 0,
//   .forwarder = relay}); server.run(); relay->close();
//
// Envelopes pass in both directions; payloads, tiers and metadata are never read. Each client has a
// connection of its own to each instance that it calls (decision 0035), so that what holds for a connection
// holds for the pair: order, limits, credit, what the client's HELLO says, and that a slow side slows down
// the other one and nobody else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/link/resolver.hpp"
#include "mf/server/forwarder.hpp"
#include "mf/topics/options.hpp"
#include "mf/transport/tls.hpp"

namespace mf::relay {

struct RelayOptions {
  /// mf://host:port or mf+tls://host:port, or relay://host:port or relay+tls://host:port for one relay behind
  /// another; several with commas between them.
  /// Empty: the server that the relay is of is the controller itself.
  std::string controller{};
  /// How long a server has to answer a connection, and a BIND.
  std::chrono::milliseconds connect_timeout{1'500};
  /// Connections to servers, of one client and of all.
  std::size_t max_servers_of_client = 256;
  std::size_t max_servers = 16'384;
  /// Topics for its clients: the bounds of their queues, of what is kept for those who come later, and who
  /// may subscribe and publish. Who stalls here must be cut before a publisher cuts the relay.
  TopicsOptions topics{.stall_timeout = std::chrono::milliseconds(5'000)};
  /// How many subscriptions it has at publishers; those of its clients that want the same share one.
  std::size_t max_trunks = 1'024;
  /// Bytes that are kept of all topics for those who come later.
  std::size_t max_kept_bytes = std::size_t{256} << 20U;
  /// How servers at tls:// are verified, controllers at mf+tls:// and other relays at relay+tls://.
  TlsOptions tls{};
  Log log{};
};

/// One subscription of a relay at the publishers of a topic, and those of its clients who share it.
struct TopicRelayStats {
  std::string topic{};
  std::uint64_t received = 0;  // messages
  std::uint64_t missed = 0;    // on the way to the relay
  std::vector<SubscriptionStats> subscriptions{};
};

struct Shared;

class Relay final : public server::Forwarder {
 public:
  /// Throws Error(INVALID_ARGUMENT) for an address that cannot be read.
  explicit Relay(RelayOptions options);
  /// With a resolver of the caller's, for tests. `controllers`: where the controller's own service is.
  Relay(std::shared_ptr<Resolver> resolver, const std::vector<Address>& controllers,
        RelayOptions options = {});
  ~Relay() override;

  std::shared_ptr<server::Forwarding> connected(const std::shared_ptr<link::ServerLink>& link) override;
  void opened(const protocol::Nonce& nonce, const std::string& address) override;
  [[nodiscard]] std::vector<TopicRelayStats> topics() const;
  /// After the server was stopped.
  void close();

 private:
  void ask(const std::string& url);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace mf::relay
