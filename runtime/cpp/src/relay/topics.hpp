// The topics that clients of a relay subscribe to: equal subscriptions share one trunk (trunk.hpp). A client
// binds a topic here and not at a publisher, since its subscription ends here.
//
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/protocol/control.hpp"
#include "mf/relay/relay.hpp"
#include "mf/topics/servant.hpp"
#include "relay/trunk.hpp"

namespace mf::client {
class Core;
}

namespace mf::relay {

struct Shared;

[[nodiscard]] bool is_topic(const protocol::Bind& bind) noexcept;

class Topics {
 public:
  explicit Topics(Shared& shared) : shared_(shared) {}

  /// The servant for the BIND of a topic. Throws OVERLOADED.
  [[nodiscard]] std::shared_ptr<topics::TopicServant> servant(const protocol::Bind& bind);
  [[nodiscard]] std::vector<TopicRelayStats> stats() const;
  /// Ends all subscriptions.
  void close();

  // ---- for subscriptions and trunks

  /// Returns the trunk to which the queue was attached. Throws for an invalid subscription.
  [[nodiscard]] std::shared_ptr<Trunk> attach(const std::shared_ptr<TopicName>& topic,
                                              const std::shared_ptr<topics::Queue>& queue,
                                              const topics::Request& request);
  void detach(const std::shared_ptr<Trunk>& trunk, const topics::Queue& queue);
  /// The trunk has ended by itself.
  void forget(const Trunk& trunk);
  /// The core by which the relay subscribes.
  [[nodiscard]] std::shared_ptr<client::Core> core();

 private:
  [[nodiscard]] std::shared_ptr<TopicName> topic(std::string_view name, const Fingerprint& fingerprint);
  /// Throws if the relay has been closed.
  void check_open() const;

  Shared& shared_;
  mutable std::mutex mutex_;  // guards all members below
  std::shared_ptr<client::Core> core_;
  // Clients refer to these by address, so that ended ones stay for a while.
  std::map<std::pair<std::string, Fingerprint>, std::shared_ptr<TopicName>> names_;
  std::map<TrunkKey, std::shared_ptr<Trunk>> trunks_;
  bool closed_ = false;
};

}  // namespace mf::relay
