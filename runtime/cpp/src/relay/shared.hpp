// The state that all connections of a relay share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/local_paths.hpp"
#include "mf/link/resolver.hpp"
#include "mf/protocol/control.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/taps.hpp"
#include "mf/topics/board.hpp"
#include "mf/transport/networks.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/socket.hpp"
#include "relay/services.hpp"

namespace mf::client {
class Core;
}

namespace mf::relay {

/// What the calls of a relay that ends fail with.
inline constexpr std::string_view kStopping = "it is stopping; use another instance";

/// The controller's service, at the relay's configured address.
inline constexpr std::string_view kController = "mf.controller.Controller";

class Topics;

struct Shared : std::enable_shared_from_this<Shared> {
  RelayOptions options;
  std::shared_ptr<transport::Reactor> reactor;  // the resolver's, if the relay owns it
  std::shared_ptr<Resolver> resolver;
  std::shared_ptr<Services> services;  // the watched ones
  std::shared_ptr<Topics> topics;      // those that its clients have subscribed to
  std::shared_ptr<topics::KeepBudget> keep;
  std::vector<Instance> controllers;
  transport::Connecting connecting;
  std::shared_ptr<link::LocalPaths> paths;
  std::optional<transport::Networks> to;  // those of the options; nothing: the usual ones
  /// To servers, including those being made.
  std::shared_ptr<std::atomic<std::size_t>> connections = std::make_shared<std::atomic<std::size_t>>(0);
  std::shared_ptr<const server::Taps> taps;  // of the relay's server; set before it accepts
  protocol::Nonce nonce{};
  std::string name = "relay";  // "relay tcp://10.0.0.1:7500"

  /// The failure that a client gets when a server fails. If the server has broken the protocol, what it has
  /// sent is logged, and not passed to the client: anything may listen at that address.
  [[nodiscard]] Failure failure_for_clients(Failure why, const std::string& server) const;
  /// The same for a server that was not reached. Only the log says where it is, and why that has failed: by
  /// such answers a client that can register servers would scan the relay's networks.
  [[nodiscard]] Failure failure_to_connect(const Failure& why, const std::string& server);
  /// What a connection for this client says of it; nothing: identities are not passed on.
  [[nodiscard]] std::optional<Identity> passed(const Identity& client) const;
  /// Those of each client that it makes.
  [[nodiscard]] ClientOptions client_options() const;
  /// A client for one identity, whose connections pass that on. Without a reactor it has threads of its own.
  [[nodiscard]] std::shared_ptr<client::Core> core_for(const Identity& client,
                                                       std::shared_ptr<transport::Reactor> of) const;
  void set_resolver(std::shared_ptr<Resolver> with, const std::vector<Address>& at);
  /// Forgets unused services in time, on this reactor, for as long as any are known.
  void tidy_services(transport::Reactor& by);

 private:
  std::atomic<bool> tidies_{false};
  std::mutex mutex_;
  std::map<std::string, TimePoint> unreached_;  // when the log has named them last; under mutex_
};

}  // namespace mf::relay
