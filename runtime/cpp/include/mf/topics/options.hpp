// What users say about topics, and are told: options, gaps, figures.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/core/options.hpp"
#include "mf/core/types.hpp"
#include "mf/topics.types.hpp"

namespace mf {

using topics::Overflow;
using topics::Why;

enum class TopicAction : std::uint8_t { subscribe, publish };

/// Who wants to do what: the question to TopicsOptions::authorize, of publishers and of relays.
struct TopicAccess {
  TopicAction action = TopicAction::subscribe;
  std::string_view topic{};
  std::string_view agents{};  // the pattern; of a publisher the agent
  /// "tcp://10.0.0.3:5123"; "" in this process. Of a publisher elsewhere the address where it is found.
  std::string_view peer{};
  /// What its HELLO says of it (ClientOptions::authentication); nothing of a publisher.
  std::span<const std::byte> authentication{};
};

struct TopicsOptions {
  /// The most that the queue of one subscription may hold, and what it holds if its subscriber says 0.
  std::uint32_t max_messages = 65'536;
  std::size_t max_bytes = std::size_t{64} << 20U;
  /// Of one topic, of all its agents together; one more is refused as OVERLOADED.
  std::size_t max_subscriptions = 10'000;
  /// Bytes that are kept for replay, of one topic and agent, however many messages `@replay` asks for.
  std::size_t keep_bytes = std::size_t{8} << 20U;
  /// A subscription from elsewhere for which a publisher waits (Overflow::block) ends as OVERLOADED when it
  /// has taken nothing for so long.
  std::chrono::milliseconds stall_timeout{10'000};
  /// False: it is refused as PERMISSION_DENIED. None: all may do all. Asked of each subscription, and of each
  /// agent before the first message is published for it.
  std::function<bool(const TopicAccess&)> authorize{};
  Log log{};
};

struct PublishOptions {
  /// How long a message may wait for room in the queues of subscriptions that block.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
};

struct SubscribeOptions {
  /// If it is not said: drop_oldest, or the first that the topic allows.
  std::optional<Overflow> overflow{};
  /// The bounds of the queue; 0: the most that the publisher allows. One message always fits.
  std::uint32_t max_messages = 1'024;
  std::uint32_t max_bytes = std::uint32_t{8} << 20U;
  /// At most so many messages of each agent from before the subscription; if it is not said, all that the
  /// publisher keeps (`@replay`).
  std::optional<std::uint32_t> replay{};
};

/// Messages that a subscriber did not get.
struct Gap {
  std::string topic{};
  std::string agent{};
  Uuid publisher{};
  std::uint64_t first = 0;  // sequence number
  std::uint64_t count = 0;
  Why why = Why::dropped;
};

/// One subscription as its publisher sees it.
struct SubscriptionStats {
  std::string peer{};  // "" in this process
  std::string agents{};
  Overflow overflow = Overflow::drop_oldest;
  std::uint64_t delivered = 0;  // messages that have left the queue for the subscriber
  std::uint64_t dropped = 0;
  std::size_t queued = 0;
  std::size_t queued_bytes = 0;
};

struct AgentStats {
  std::string agent{};
  std::uint64_t published = 0;
  std::size_t kept = 0;  // for replay
};

struct PublisherStats {
  std::vector<AgentStats> agents{};
  std::vector<SubscriptionStats> subscriptions{};
  std::uint64_t refused = 0;  // subscriptions
  std::uint64_t cut = 0;      // subscriptions that were ended from here: disconnect, or stalled
  // Of all topics of the process:
  std::uint64_t encoded = 0;  // values that became bytes
  std::uint64_t copied = 0;   // by mutate()
};

struct SubscriberStats {
  std::uint64_t received = 0;  // messages that were taken
  // Messages that were missed, by the reason:
  std::uint64_t dropped = 0;
  std::uint64_t not_kept = 0;
  std::uint64_t upstream = 0;
  std::uint64_t duplicates = 0;   // that came a second time, and were left out
  std::uint64_t undecodable = 0;  // of which value() throws
  std::uint64_t decoded = 0;
  std::uint64_t copied = 0;    // by mutate()
  std::size_t publishers = 0;  // that it is subscribed at now
  std::size_t queued = 0;
  std::size_t queued_bytes = 0;
};

}  // namespace mf
