// The options, gaps and statistics of topics.
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

#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"
#include "mf/core/options.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/types.hpp"
#include "mf/topics.hpp"

namespace mf {

using topics::Overflow;
using topics::Why;

enum class TopicAction : std::uint8_t { subscribe, publish };

/// The argument of TopicsOptions::authorize, at publishers and at relays.
struct TopicAccess {
  TopicAction action = TopicAction::subscribe;
  std::string_view topic{};
  std::string_view agents{};  // the pattern; for a publisher its agent; as sent: a member by its number
  /// "tcp://10.0.0.3:5123"; "" within this process. For a remote publisher the address where it is found.
  std::string_view peer{};
  /// From the HELLO of the peer (ClientOptions::authentication); empty for a publisher.
  std::span<const std::byte> authentication{};
  /// What the peer has proved of itself; in this process its own user. None for a remote publisher.
  Identity identity{};
};

struct TopicsOptions {
  /// The largest bounds for the queue of a subscription, and its bounds if the subscriber asks for 0.
  std::uint32_t max_messages = 65'536;
  std::size_t max_bytes = std::size_t{64} << 20U;
  /// The limit for one topic with all its agents; beyond it, OVERLOADED is thrown.
  std::size_t max_subscriptions = 10'000;
  /// The bytes that are kept for replay of one topic and agent, whatever `@replay` asks for.
  std::size_t keep_bytes = std::size_t{8} << 20U;
  /// A remote subscription for which a publisher waits (Overflow::block) ends as OVERLOADED if it takes
  /// nothing for this time.
  std::chrono::milliseconds stall_timeout{10'000};
  /// Returns false to refuse with PERMISSION_DENIED; if it is empty, everything is allowed. Called for each
  /// subscription, and for each agent before its first message is published.
  std::function<bool(const TopicAccess&)> authorize{};
  Log log{};
};

struct PublishOptions {
  /// How long a message may wait for room in the queues of subscriptions that block.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
};

struct SubscribeOptions {
  /// If it is not set: drop_oldest, or the first that the topic allows.
  std::optional<Overflow> overflow{};
  /// The bounds of the queue; 0: the most that the publisher allows. One message always fits.
  std::uint32_t max_messages = 1'024;
  std::uint32_t max_bytes = std::uint32_t{8} << 20U;
  /// The most messages of each agent from before the subscription; if it is not set, all that the publisher
  /// keeps (`@replay`).
  std::optional<std::uint32_t> replay{};
  /// If subscribers of one client share a stream, and this one blocks, the others wait for it no longer than
  /// this: then it misses what finds no room, until it takes messages again.
  std::chrono::milliseconds stall_timeout{5'000};
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

/// The statistics of one subscription at its publisher.
struct SubscriptionStats {
  std::string peer{};  // "" within this process
  std::string agents{};
  Overflow overflow = Overflow::drop_oldest;
  std::uint64_t delivered = 0;  // messages taken out of the queue
  std::uint64_t dropped = 0;    // there was no room for them, or they waited when the subscription ended
  /// What a subscriber that came back had missed, and was not kept any more; it may be counted in its last
  /// subscription, too.
  std::uint64_t not_kept = 0;
  std::size_t queued = 0;
  std::size_t queued_bytes = 0;
  std::optional<Failure> why{};  // its publisher has cut it, for this reason
};

/// The sums over the subscriptions that have ended.
struct EndedStats {
  std::uint64_t subscriptions = 0;
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t not_kept = 0;
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
  std::uint64_t cut = 0;      // subscriptions that the publisher ended: disconnect, or stalled
  EndedStats ended{};         // what those had that have ended, for whatever reason
  // For all topics of the process:
  std::uint64_t encoded = 0;  // values that were encoded
  std::uint64_t copied = 0;   // by mutate()
};

struct SubscriberStats {
  std::uint64_t received = 0;  // messages that were taken
  // Messages that were missed, by reason:
  std::uint64_t dropped = 0;
  std::uint64_t not_kept = 0;
  std::uint64_t upstream = 0;
  std::uint64_t duplicates = 0;   // messages that came twice and were ignored
  std::uint64_t undecodable = 0;  // messages whose value() throws
  std::uint64_t cut = 0;          // subscriptions that were ended since their publisher broke the protocol
  std::uint64_t decoded = 0;
  std::uint64_t copied = 0;    // by mutate()
  std::size_t publishers = 0;  // processes that publish for it now, also behind relays
  std::size_t queued = 0;
  std::size_t queued_bytes = 0;
};

}  // namespace mf
