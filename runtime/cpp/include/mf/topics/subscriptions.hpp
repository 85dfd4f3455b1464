// The interface for remote subscriptions to a topic: of this process (channel.hpp), or of a relay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/topics.hpp"
#include "mf/topics/inbox.hpp"
#include "mf/topics/topic.hpp"

namespace mf::topics {

/// Called without any lock: a publisher was found (`by` 1) or lost (-1), and there are so many now.
using Changed = std::function<void(int by, std::size_t publishers)>;

/// A subscription request; its views refer to data of the caller.
struct Request {
  std::string_view agents{};
  std::string_view peer{};  // "" within this process
  std::span<const std::byte> authentication{};
  const Identity* identity = nullptr;  // of the peer; null within this process
  bool remote = false;
  std::uint32_t replay = 0;
  const std::vector<Position>* seen = nullptr;
  std::span<const Uuid> path{};  // the relays that it has passed
  Changed changed{};
};

/// Throws INVALID_ARGUMENT for an invalid pattern, or a policy that the topic does not allow, and
/// PERMISSION_DENIED.
void check_request(const TopicInfo& topic, const TopicsOptions& options, Overflow overflow,
                   const Request& request);

class Subscriptions {
 public:
  virtual ~Subscriptions() = default;

  [[nodiscard]] virtual const ServiceInfo& service() const noexcept = 0;
  /// Makes a queue within the bounds of the topic.
  [[nodiscard]] virtual std::shared_ptr<Inbox> make_inbox(const Inbox::Bounds& wanted) const = 0;
  /// Messages that match go to the queue from now on. Throws OVERLOADED if there are too many subscriptions,
  /// INVALID_ARGUMENT for an invalid pattern or policy, and PERMISSION_DENIED.
  virtual void subscribe(const std::shared_ptr<Inbox>& inbox, const Request& request) = 0;
  /// The queue has been closed, so that its figures are the last. Does nothing if it is not subscribed.
  virtual void unsubscribe(const Inbox& inbox) = 0;
};

}  // namespace mf::topics
