// What all connections of a relay share.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/link/resolver.hpp"
#include "mf/protocol/control.hpp"
#include "mf/relay/relay.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/tls.hpp"
#include "mf/transport/workers.hpp"

namespace mf::relay {

/// The service of the controller, which is where the relay was told that it is.
inline constexpr std::string_view kController = "mf.controller.Controller";

struct Shared {
  RelayOptions options;
  std::shared_ptr<transport::Reactor> reactor;  // of the resolver, if that is the relay's own
  std::shared_ptr<Resolver> resolver;
  std::vector<Instance> controllers;
  std::shared_ptr<transport::TlsContext> tls;
  std::unique_ptr<transport::Workers> connecting;
  protocol::Nonce nonce{};
  std::string name = "relay";  // "relay tcp://10.0.0.1:7500"

  /// May the resolver be asked about this service? It keeps all that it was ever asked about, and clients
  /// name what they like.
  [[nodiscard]] bool may_ask(std::string_view service);

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace mf::relay
