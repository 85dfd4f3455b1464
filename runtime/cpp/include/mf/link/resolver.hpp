// The interface through which clients learn the addresses of a service, and the one implementation that needs
// no controller.
//
// Clients never depend on the controller, only on this. Implementations: StaticResolver (below), the
// controller's (floor R7), and fakes in tests. All functions are thread-safe. A snapshot is immutable; a
// change makes a new one and raises version().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf::transport {
class Reactor;
}

namespace mf {

/// One server process that offers a service for an agent.
struct Instance {
  Address address;
  std::uint32_t weight = 1;
  /// A path where a client on the same host may reach the process: the process is there if its HELLO has the
  /// nonce. Without a scheme there is no such path.
  Address local{};
  std::array<std::byte, 16> nonce{};
  /// The fingerprint of the service in that process; zeros: not known before it is asked.
  std::array<std::uint8_t, 16> fingerprint{};
  /// The name that the server's certificate must have (Identity::name): the one that it has registered by.
  /// Empty: any that is valid for the address.
  std::string identity{};

  friend bool operator==(const Instance&, const Instance&) = default;
};

/// What is known of one service.
struct Offers {
  /// By agent; "" for a service without agents. An agent that has lost all its instances stays, with an empty
  /// list.
  std::map<std::string, std::vector<Instance>, std::less<>> agents;
  /// Servers whose agents are not known: they are asked for any agent.
  std::vector<Instance> any_agent;
  /// Whether the source has answered at all; until then an empty snapshot means nothing.
  bool answered = false;
  /// Why the source has not answered, or what it said.
  std::string note;
  /// The code of a failure that no retry can resolve, if the source cannot be asked because of one; else ok.
  Code refused = Code::ok;

  friend bool operator==(const Offers&, const Offers&) = default;
};

/// Prefix of a topic's name in questions about its publishers to a resolver; no service has such a name.
inline constexpr std::string_view kTopicView = "topic ";
[[nodiscard]] std::string topic_view(std::string_view topic);

class Resolver {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Snapshot = std::shared_ptr<const Offers>;

  virtual ~Resolver() = default;

  /// The current snapshot; never null, never blocks. The first call for a service starts to watch it. For a
  /// topic (topic_view()) the snapshot has the publishers and their agents; "*" is any agent.
  virtual Snapshot offers(std::string_view service) = 0;

  /// Calls `changed` when a snapshot may have changed, on any thread but never within a call of the resolver,
  /// until the listener is removed. Returns 0 if snapshots never change.
  virtual std::uint64_t add_listener(std::function<void()> /*changed*/) { return 0; }
  virtual void remove_listener(std::uint64_t /*listener*/) noexcept {}

  /// Blocks until the snapshot differs from `known`, or until the given time.
  virtual Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) = 0;

  /// Incremented by each change of any snapshot, so that a caller can cache what it derived from one.
  [[nodiscard]] virtual std::uint64_t version() const noexcept = 0;

  /// Whether the resolver lists all agents of a service, which scattered calls to all agents need.
  [[nodiscard]] virtual bool knows_agents() const noexcept = 0;

  /// Whether the instances are relays, each of which reaches all known services.
  [[nodiscard]] virtual bool of_relays() const noexcept { return false; }

  /// The client's id for the upper half of request ids, assigned by the source; 0: none, make a random one.
  [[nodiscard]] virtual std::uint32_t client_id() const noexcept { return 0; }

  /// Allows the resolver to stop watching the service until the next question about it. Must not be called
  /// while a thread waits for a change of it.
  virtual void forget(std::string_view /*service*/) noexcept {}

  /// Reads files of TLS again; see Client::reload().
  virtual bool reload() { return true; }

  /// Stops watching everything: the client for which this was made was closed.
  virtual void close() noexcept {}
};

/// A fixed list of servers, each of which is asked for every service and agent.
class StaticResolver final : public Resolver {
 public:
  explicit StaticResolver(std::vector<Address> servers);
  explicit StaticResolver(std::vector<Instance> servers);

  Snapshot offers(std::string_view service) override;
  Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) override;
  [[nodiscard]] std::uint64_t version() const noexcept override { return 1; }
  [[nodiscard]] bool knows_agents() const noexcept override { return false; }
  /// Ends waits, since snapshots never change here.
  void close() noexcept override;

 private:
  Snapshot offers_;
  std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
};

/// The snapshots of another resolver, for a client that reaches all servers through relays: each relay
/// replaces the instances of every agent that have one schema. So a relay is an instance for each schema that
/// is behind it, whose weight is that of the servers with this schema, or 1 if there is no other.
class RelayedResolver final : public Resolver {
 public:
  RelayedResolver(std::shared_ptr<Resolver> known, const std::vector<Address>& relays);

  Snapshot offers(std::string_view service) override;
  Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) override;
  [[nodiscard]] std::uint64_t version() const noexcept override { return known_->version(); }
  [[nodiscard]] bool knows_agents() const noexcept override { return known_->knows_agents(); }
  [[nodiscard]] bool of_relays() const noexcept override { return true; }
  std::uint64_t add_listener(std::function<void()> changed) override {
    return known_->add_listener(std::move(changed));
  }
  void remove_listener(std::uint64_t listener) noexcept override { known_->remove_listener(listener); }
  [[nodiscard]] std::uint32_t client_id() const noexcept override { return known_->client_id(); }
  void forget(std::string_view service) noexcept override;
  bool reload() override { return known_->reload(); }
  void close() noexcept override { known_->close(); }

 private:
  /// The latest snapshot of each service, and the one that it was made from.
  struct Relayed {
    Snapshot from;
    Snapshot made;
  };
  [[nodiscard]] Snapshot relayed(std::string_view service, Snapshot from);
  [[nodiscard]] std::vector<Instance> at_relays(const std::vector<Instance>& servers) const;

  const std::shared_ptr<Resolver> known_;
  std::vector<Instance> relays_;
  std::mutex mutex_;
  std::map<std::string, Relayed, std::less<>> latest_;
};

struct ClientCredential;

/// A resolver for the controllers at these addresses, or for relays, which have the same interface. It runs
/// on the reactor until it is closed. `tls`: how relays at relay+tls:// are verified. Declared here so that
/// clients can be opened by URL; defined on floor R7.
std::shared_ptr<Resolver> make_controller_resolver(std::vector<Address> controllers,
                                                   std::shared_ptr<transport::Reactor> reactor,
                                                   const Log& log, const TlsOptions& tls,
                                                   const ClientCredential& credential);

}  // namespace mf
