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
#include "mf/topics/queue.hpp"

namespace mf::topics {

/// A subscription request; its views refer to data of the caller.
struct Request {
  std::string_view agents{};
  std::string_view peer{};  // "" within this process
  std::span<const std::byte> authentication{};
  bool remote = false;
  std::uint32_t replay = 0;
  const std::vector<Position>* seen = nullptr;
  std::span<const Uuid> path{};  // the relays that it has passed
  /// Called without any lock, for each agent that is there or comes, and with false when the topic is closed.
  std::function<void(bool there)> matched{};
};

class Subscriptions {
 public:
  virtual ~Subscriptions() = default;

  [[nodiscard]] virtual const ServiceInfo& service() const noexcept = 0;
  /// Makes a queue within the bounds of the topic.
  [[nodiscard]] virtual std::shared_ptr<Queue> make_queue(const Queue::Bounds& wanted) const = 0;
  /// Messages that match go to the queue from now on. Throws OVERLOADED if there are too many subscriptions,
  /// INVALID_ARGUMENT for an invalid pattern or policy, and PERMISSION_DENIED.
  virtual void subscribe(const std::shared_ptr<Queue>& queue, const Request& request) = 0;
  /// The queue has been closed, so that its figures are the last. Does nothing if it is not subscribed.
  virtual void unsubscribe(const Queue& queue) = 0;
};

}  // namespace mf::topics
