// Publishers: what the generated ones are made of.
//
//   auto books = additions.at("books");
//   books.publish(value);              a copy of it; a value that is moved in, or a shared one, is not copied
//   books.publish_all(values);
//
// Any thread. A message that is published has a number, and is in the queues of all who have subscribed; who
// has chosen Overflow::block has publish() wait for room there.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/clock.hpp"
#include "mf/topics/channel.hpp"
#include "mf/topics/hub.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/topics.hpp"

namespace mf::topics {

namespace detail {

template <class T>
ItemRef new_item(std::shared_ptr<const T> value, bool ours) {
  codec::check_written(*value);
  const auto size = codec::encoded_room<codec::kTierOf<T>>(*value);
  ItemRef item(new ItemOf<T>(std::move(value), ours));
  item->size = size;
  item->time = std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
  return item;
}

}  // namespace detail

/// Publishes for one agent, or for a topic without agents.
template <class Topic>
class AgentPublisher {
 public:
  using Value = typename Topic::Value;

  explicit AgentPublisher(std::shared_ptr<Outlet> outlet) noexcept : outlet_(std::move(outlet)) {}

  /// Throws INVALID_ARGUMENT for a value that breaks its schema, and DEADLINE_EXCEEDED, not executed, if a
  /// subscription that blocks has no room until then.
  void publish(const Value& value, const PublishOptions& options = {}) {
    publish_item(detail::new_item<Value>(std::make_shared<Value>(value), true), options);
  }
  void publish(Value&& value, const PublishOptions& options = {}) {
    publish_item(detail::new_item<Value>(std::make_shared<Value>(std::move(value)), true), options);
  }
  /// The value must not change any more.
  void publish(std::shared_ptr<const Value> value, const PublishOptions& options = {}) {
    publish_item(detail::new_item<Value>(std::move(value), false), options);
  }
  /// One after the other, as publish() does: what was before one that throws is published.
  template <std::ranges::input_range Values>
  void publish_all(Values&& values, const PublishOptions& options = {}) {
    std::array<ItemRef, 64> items;
    std::size_t count = 0;
    const auto send = [&] {
      outlet_->publish(std::span(items).first(count), options.deadline);
      std::fill_n(items.begin(), std::exchange(count, 0), ItemRef());
    };
    for (auto&& value : values) {
      try {
        items[count] =
            detail::new_item<Value>(std::make_shared<Value>(std::forward<decltype(value)>(value)), true);
      } catch (...) {
        send();
        throw;
      }
      if (++count == items.size()) send();
    }
    if (count != 0) send();
  }

 private:
  void publish_item(ItemRef item, const PublishOptions& options) {
    outlet_->publish({&item, 1}, options.deadline);
  }

  std::shared_ptr<Outlet> outlet_;
};

/// What publishers of topics with and without agents have in common.
template <class Topic>
class BasePublisher {
 public:
  using Value = typename Topic::Value;

  /// Waits until there are so many subscriptions; false: there are fewer until then.
  [[nodiscard]] bool await_subscribers(std::size_t count, std::chrono::nanoseconds timeout) const {
    return channel_->await_subscribers(count, deadline_after(mf::now(), timeout));
  }
  /// Called for each subscription from now on that begins, on a thread of the topics' own, one at a time.
  void on_matched(Channel::Listener listener) const { channel_->set_listeners(std::move(listener), nullptr); }
  /// The same when one has ended, with its last figures.
  void on_unmatched(Channel::Listener listener) const {
    channel_->set_listeners(nullptr, std::move(listener));
  }
  [[nodiscard]] PublisherStats stats() const { return channel_->stats(); }

 protected:
  explicit BasePublisher(const Topics& topics) : channel_(topics.hub()->channel(Topic::kTopic)) {}
  [[nodiscard]] const std::shared_ptr<Channel>& channel() const noexcept { return channel_; }

 private:
  std::shared_ptr<Channel> channel_;
};

/// Of a topic `per` an agent, of the type `Topic::Agent`.
template <class Topic>
class PerAgentPublisher : public BasePublisher<Topic> {
 public:
  explicit PerAgentPublisher(const Topics& topics) : BasePublisher<Topic>(topics) {}

  /// Throws INVALID_ARGUMENT for what can be no agent.
  [[nodiscard]] AgentPublisher<Topic> at(const typename Topic::Agent& agent) const {
    if constexpr (std::is_convertible_v<typename Topic::Agent, std::string_view>) {
      return AgentPublisher<Topic>(this->channel()->outlet(agent));
    } else {
      return AgentPublisher<Topic>(this->channel()->outlet(agent_text(agent)));
    }
  }
};

/// Of a topic without agents: publishes by itself.
template <class Topic>
class LonePublisher : public BasePublisher<Topic>, public AgentPublisher<Topic> {
 public:
  using Value = typename Topic::Value;
  explicit LonePublisher(const Topics& topics)
      : BasePublisher<Topic>(topics), AgentPublisher<Topic>(this->channel()->outlet("")) {}
};

}  // namespace mf::topics
