// Where those who come from elsewhere subscribe: a topic of this process (channel.hpp), or of a relay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/topics.types.hpp"
#include "mf/topics/queue.hpp"

namespace mf::topics {

/// A subscription as it is asked for; refers to what the caller has.
struct Request {
  std::string_view agents{};
  std::string_view peer{};  // "" in this process
  std::span<const std::byte> authentication{};
  bool remote = false;
  std::uint32_t replay = 0;
  const std::vector<Position>* seen = nullptr;
  std::span<const Uuid> path{};  // the relays that it has come through
};

class Subscriptions {
 public:
  virtual ~Subscriptions() = default;

  [[nodiscard]] virtual const ServiceInfo& service() const noexcept = 0;
  /// A queue within the bounds that hold here.
  [[nodiscard]] virtual std::shared_ptr<Queue> make_queue(const Queue::Bounds& wanted) const = 0;
  /// Everything that matches goes to the queue from now on. Throws OVERLOADED: there are too many;
  /// INVALID_ARGUMENT: a pattern or a policy that the topic cannot have; PERMISSION_DENIED.
  virtual void subscribe(const std::shared_ptr<Queue>& queue, const Request& request) = 0;
  /// Does nothing for one that is not subscribed.
  virtual void unsubscribe(const Queue& queue) = 0;
};

}  // namespace mf::topics
