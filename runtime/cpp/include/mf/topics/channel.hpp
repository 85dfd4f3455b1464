// One topic that this process publishes: its board, and a source for each of its agents.
//
// Thread-safe. The channel's lock is taken before the board's; callbacks of users run under none.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "mf/core/clock.hpp"
#include "mf/topics/board.hpp"
#include "mf/topics/options.hpp"
#include "mf/topics/source.hpp"
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
  [[nodiscard]] Board& board() noexcept { return board_; }

  /// The source of an agent, in the form in which it is sent; created at the first call. Throws
  /// INVALID_ARGUMENT, or PERMISSION_DENIED.
  std::shared_ptr<Board::Source> source(std::string_view agent);

  [[nodiscard]] std::shared_ptr<Inbox> make_inbox(const Inbox::Bounds& wanted) const override;
  void subscribe(const std::shared_ptr<Inbox>& inbox, const Request& request) override;
  void unsubscribe(const Inbox& inbox) override;

  void set_listeners(Listener matched, Listener unmatched);
  [[nodiscard]] PublisherStats stats() const;
  /// Ends all subscriptions.
  void close();

 private:
  void log_cut(const SubscriptionStats& gone) const;
  void notify(Listener Channel::* listener, const SubscriptionStats& about);

  const std::shared_ptr<Hub> hub_;
  const TopicInfo& topic_;
  Board board_;
  mutable std::mutex mutex_;  // all below, and the creation of sources
  Listener matched_;
  Listener unmatched_;
};

}  // namespace mf::topics
