// One subscription of a relay at the publishers of a topic, and the client subscriptions that share it:
// messages are passed on undecoded, one item for all, and each subscription has its own queue and replay.
//
// The publishers' numbers are kept. Messages missed on the way to the relay are reported as missed upstream.
// While a blocking subscriber has no room, no more messages are taken, so that finally its publishers wait.
//
// Threads: the thread of the relay's own subscriptions delivers messages, the rest is thread-safe. Locks are
// taken in this order: Topics, the trunk, an outlet, a queue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mf/core/one_at_a_time.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/relay/relay.hpp"
#include "mf/topics/fanout.hpp"
#include "mf/topics/outlet.hpp"
#include "mf/topics/remote.hpp"
#include "mf/topics/subscriptions.hpp"
#include "mf/topics/topic.hpp"
#include "relay/services.hpp"
#include "relay/shared.hpp"

namespace mf::client {
class Core;
}

namespace mf::relay {

class Topics;

/// A topic with the schema of some clients.
struct TopicName {
  explicit TopicName(std::string named, const Fingerprint& fingerprint);
  TopicName(const TopicName&) = delete;
  TopicName& operator=(const TopicName&) = delete;
  [[nodiscard]] const topics::TopicInfo& info(bool per_agent) const noexcept {
    return per_agent ? with_agents : without;
  }

  const std::string name;
  const ServiceInfo service;
  const topics::TopicInfo with_agents;
  const topics::TopicInfo without;
  TimePoint used_at{};  // last use; under the lock of Topics
};

/// Subscriptions with equal keys share one trunk.
struct TrunkKey {
  std::shared_ptr<TopicName> topic;
  std::string agents;
  topics::Overflow overflow{};
  std::vector<Uuid> path;  // the relays behind this one, if it is behind others

  friend bool operator<(const TrunkKey& one, const TrunkKey& other) {
    return std::tie(one.topic, one.agents, one.overflow, one.path) <
           std::tie(other.topic, other.agents, other.overflow, other.path);
  }
};

class Trunk final : public std::enable_shared_from_this<Trunk> {
 public:
  Trunk(std::shared_ptr<Shared> shared, TrunkKey key, std::shared_ptr<Services::Use> use);
  ~Trunk();
  Trunk(const Trunk&) = delete;
  Trunk& operator=(const Trunk&) = delete;

  [[nodiscard]] const TrunkKey& key() const noexcept { return key_; }
  /// Subscribes at the publishers; call it once.
  void begin();
  /// False if it has ended. Throws OVERLOADED.
  [[nodiscard]] bool attach(const std::shared_ptr<topics::Queue>& queue, const topics::Request& request) {
    return fanout_.attach(queue, request);
  }
  /// Returns the statistics of the subscription; nothing if it does not belong to this trunk.
  [[nodiscard]] std::optional<SubscriptionStats> detach(const topics::Queue& queue) {
    return fanout_.detach(queue);
  }
  /// True if there are no subscriptions; no more can be attached then.
  [[nodiscard]] bool retire() { return fanout_.retire(); }
  /// Ends its subscription.
  void close();
  [[nodiscard]] TopicRelayStats stats() const;

 private:
  void go_on();
  void pump();
  void pump_all();
  [[nodiscard]] std::shared_ptr<topics::Queue> pass();
  [[nodiscard]] std::shared_ptr<topics::Queue> pass_messages(topics::Outlet& outlet);
  void begin_source(const topics::Queue::Entry& entry);
  void end_source(std::uint32_t number);
  void wait_for(std::shared_ptr<topics::Queue> full, std::size_t size);
  void watch_stall();
  void stalled();
  void end(const Failure& why);

  const std::shared_ptr<Shared> shared_;
  const TrunkKey key_;
  const std::shared_ptr<Services::Use> use_;
  topics::Fanout fanout_;
  const std::shared_ptr<client::Core> core_;
  const std::shared_ptr<topics::RemoteInbox> upstream_;
  // Used only by the delivering thread:
  OneAtATime rounds_;
  std::vector<topics::Queue::Entry> entries_;
  std::vector<topics::ItemRef> run_;  // messages of one source among them
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::vector<std::shared_ptr<topics::Outlet>> sources_;  // by their number upstream; null: it has ended
  std::shared_ptr<topics::Queue> waits_for_;
  std::shared_ptr<topics::Outlet> waiting_;  // the outlet of the waiting message
  bool stall_watched_ = false;

  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> missed_{0};
};

}  // namespace mf::relay
