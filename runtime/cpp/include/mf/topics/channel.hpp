// One topic of a process: the outlets of its agents, and the local and remote subscriptions to them.
//
// Thread-safe. Locks are taken in this order: the channel's, an outlet's, a queue's; callbacks of users run
// under none of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/topics/count_waits.hpp"
#include "mf/topics/options.hpp"
#include "mf/topics/outlet.hpp"
#include "mf/topics/queue.hpp"
#include "mf/topics/subscriptions.hpp"
#include "mf/topics/topic.hpp"

namespace mf::topics {

class Hub;

class Channel final : public Subscriptions, public std::enable_shared_from_this<Channel> {
 public:
  using Listener = std::function<void(const SubscriptionStats&)>;

  Channel(std::shared_ptr<Hub> hub, const TopicInfo& topic);

  [[nodiscard]] const TopicInfo& topic() const noexcept { return topic_; }
  [[nodiscard]] const ServiceInfo& service() const noexcept override { return topic_.service; }
  [[nodiscard]] const std::shared_ptr<Hub>& hub() const noexcept { return hub_; }

  /// The outlet of an agent, in the form in which it is sent; created at the first call. Throws
  /// INVALID_ARGUMENT, or PERMISSION_DENIED.
  std::shared_ptr<Outlet> outlet(std::string_view agent);
  /// Agents that have an outlet, as they are sent.
  [[nodiscard]] std::vector<std::string> agents() const;

  [[nodiscard]] std::shared_ptr<Queue> make_queue(const Queue::Bounds& wanted) const override;
  void subscribe(const std::shared_ptr<Queue>& queue, const Request& request) override;
  void unsubscribe(const Queue& queue) override;

  /// Returns false on a timeout.
  [[nodiscard]] bool await_subscribers(std::size_t count, TimePoint until);
  void set_listeners(Listener matched, Listener unmatched);
  [[nodiscard]] PublisherStats stats() const;
  /// Ends all subscriptions.
  void close();

 private:
  struct Attached {
    std::shared_ptr<Queue> queue{};
    std::string agents{};
    bool remote = false;
    std::uint32_t replay = 0;
    std::map<std::string, std::uint64_t, std::less<>> seen{};  // by agent, of this publisher
    std::function<void(bool there)> matched{};
  };

  [[nodiscard]] static bool match(const Attached& attached, Outlet& outlet);
  void log_cut(const SubscriptionStats& gone) const;

  const std::shared_ptr<Hub> hub_;
  const TopicInfo& topic_;
  mutable std::mutex mutex_;  // all below
  std::map<std::string, std::shared_ptr<Outlet>, std::less<>> outlets_;
  std::map<const Queue*, Attached> subscriptions_;
  CountWaits waits_;  // for subscriptions
  Listener matched_;
  Listener unmatched_;
  std::uint64_t refused_ = 0;
  std::uint64_t cut_ = 0;
  EndedStats ended_;
  bool closed_ = false;
};

}  // namespace mf::topics
