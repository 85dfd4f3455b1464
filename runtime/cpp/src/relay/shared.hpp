// What all connections of a relay share.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/link/resolver.hpp"
#include "mf/protocol/control.hpp"
#include "mf/relay/relay.hpp"
#include "mf/topics/outlet.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/socket.hpp"
#include "relay/services.hpp"

namespace mf::relay {

/// The service of the controller, which is where the relay was told that it is.
inline constexpr std::string_view kController = "mf.controller.Controller";

class Topics;

struct Shared : std::enable_shared_from_this<Shared> {
  RelayOptions options;
  std::shared_ptr<transport::Reactor> reactor;  // of the resolver, if that is the relay's own
  std::shared_ptr<Resolver> resolver;
  std::shared_ptr<Services> services;  // that it is asked about
  std::shared_ptr<Topics> topics;      // that its clients have subscribed to
  std::shared_ptr<topics::KeepBudget> keep;
  std::vector<Instance> controllers;
  transport::Connecting connecting;
  std::atomic<std::size_t> connections{0};  // to servers, also those that are being made
  protocol::Nonce nonce{};
  std::string name = "relay";  // "relay tcp://10.0.0.1:7500"

  void set_resolver(std::shared_ptr<Resolver> with, const std::vector<Address>& at);
  /// Has services forgotten in time, by that reactor, for as long as any are known.
  void tidy_services(transport::Reactor& by);

 private:
  std::atomic<bool> tidies_{false};
};

}  // namespace mf::relay
