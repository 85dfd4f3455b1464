// The topics that clients of a relay subscribe to: equal subscriptions share one upstream, whose messages are
// passed on undecoded, with their publishers' numbers. A client binds a topic here and not at a publisher,
// since its subscription ends here. Where identities are passed on, only those of one identity are equal:
// each has connections of its own to publishers, which decide by it. All of them run on one thread.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/protocol/control.hpp"
#include "mf/relay/relay.hpp"
#include "mf/topics/servant.hpp"
#include "mf/topics/upstream.hpp"
#include "relay/shared.hpp"

namespace mf::client {
class Core;
}

namespace mf::relay {

/// A topic with the schema of some clients.
struct TopicName {
  explicit TopicName(std::string named, const Fingerprint& fingerprint);
  TopicName(const TopicName&) = delete;
  TopicName& operator=(const TopicName&) = delete;
  [[nodiscard]] const topics::TopicInfo& info(std::string_view agents) const noexcept {
    return agents.empty() ? without : with_agents;
  }

  const std::string name;
  const ServiceInfo service;
  const topics::TopicInfo with_agents;
  const topics::TopicInfo without;
  TimePoint used_at{};  // last use; under the lock of Topics
};

[[nodiscard]] bool is_topic(const protocol::Bind& bind) noexcept;

class Topics {
 public:
  explicit Topics(Shared& shared) : shared_(shared) {}

  /// The servant for the BIND of a topic. Throws OVERLOADED.
  [[nodiscard]] std::shared_ptr<topics::TopicServant> servant(const protocol::Bind& bind,
                                                              const Identity& client);
  /// Reads files of TLS again; false: some cannot be used.
  [[nodiscard]] bool reload();
  [[nodiscard]] std::vector<TopicRelayStats> stats() const;
  /// Ends all subscriptions.
  void close();

  // ---- for subscriptions

  /// Returns the upstream to which the inbox was attached. Throws for an invalid subscription.
  [[nodiscard]] std::shared_ptr<topics::Upstream> attach(const std::shared_ptr<TopicName>& topic,
                                                         const std::shared_ptr<topics::Inbox>& inbox,
                                                         const topics::Request& request,
                                                         const Identity& client);
  void detach(const std::shared_ptr<topics::Upstream>& upstream, const topics::Inbox& inbox);

 private:
  /// The core by which clients of one identity subscribe; the last holder ends it.
  class CoreOf;

  [[nodiscard]] std::shared_ptr<topics::Upstream> make_upstream(const topics::Wanted& wanted,
                                                                const std::shared_ptr<TopicName>& topic,
                                                                std::shared_ptr<Services::Use> use,
                                                                const Identity& client);
  /// The core by which clients without identity subscribe, or all if identities are not passed on.
  [[nodiscard]] std::shared_ptr<client::Core> core();
  [[nodiscard]] std::shared_ptr<CoreOf> core_of(const std::string& key, const Identity& client);
  [[nodiscard]] std::vector<std::shared_ptr<client::Core>> cores() const;
  [[nodiscard]] std::shared_ptr<TopicName> topic(std::string_view name, const Fingerprint& fingerprint);
  /// Throws if the relay has been closed.
  void check_open() const;

  Shared& shared_;
  mutable std::mutex mutex_;  // guards all members below
  std::shared_ptr<client::Core> core_;
  std::map<std::string, std::weak_ptr<CoreOf>> cores_;  // by identity
  std::shared_ptr<transport::Reactor> reactor_;         // of these; made with the first
  // Clients refer to these by address, so that ended ones stay for a while.
  std::map<std::pair<std::string, Fingerprint>, std::shared_ptr<TopicName>> names_;
  std::atomic<bool> closed_{false};
  topics::Upstreams upstreams_;
};

}  // namespace mf::relay
