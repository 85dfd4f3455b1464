// The base classes of generated publishers.
//
//   auto books = additions.at("books");
//   books.publish(value);              a copy of it; a value that is moved in, or a shared one, is not copied
//   books.publish_all(values);
//
// Thread-safe. When publish() returns, the message has a number and is in the queues of all subscriptions;
// publish() waits for room in those with Overflow::block.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/topics/channel.hpp"
#include "mf/topics/hub.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/topics.hpp"

namespace mf::topics {

namespace detail {

[[nodiscard]] inline Timestamp published_now() noexcept {
  return std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
}

template <class T>
[[nodiscard]] const T& value_of(const T& value) noexcept {
  return value;
}
template <class T>
[[nodiscard]] const T& value_of(const std::shared_ptr<const T>& value) noexcept {
  return *value;
}

/// `value`: a T, or a `std::shared_ptr<const T>`.
template <class T, class From>
[[nodiscard]] ItemRef new_item(const Board::Source& source, From&& value, Timestamp time) {
  const T& given = value_of<T>(value);
  codec::check_written(given);
  ItemRef item;
  if (source.wants_bytes()) {
    item = ItemRef(ItemOf<T>::encoded(given));
  } else {
    const auto size = codec::encoded_room<codec::kTierOf<T>>(given);
    item = ItemRef(ItemOf<T>::of(std::forward<From>(value)));
    item->size = size;
  }
  item->time = time;
  return item;
}

/// Whether the elements of the range may be moved from: it is a temporary that owns them.
template <class Range>
inline constexpr bool kGivesAway = !std::is_lvalue_reference_v<Range> && !std::ranges::view<Range>;

}  // namespace detail

/// Publishes for one agent, or for a topic without agents.
template <class Topic>
class AgentPublisher {
 public:
  using Value = typename Topic::Value;

  explicit AgentPublisher(std::shared_ptr<Board::Source> source) noexcept : source_(std::move(source)) {}

  /// Throws INVALID_ARGUMENT for a value that breaks its schema, and DEADLINE_EXCEEDED (NOT_EXECUTED) if a
  /// subscription that blocks has no room until the deadline.
  void publish(const Value& value, const PublishOptions& options = {}) {
    publish_item(detail::new_item<Value>(*source_, value, detail::published_now()), options);
  }
  void publish(Value&& value, const PublishOptions& options = {}) {
    publish_item(detail::new_item<Value>(*source_, std::move(value), detail::published_now()), options);
  }
  /// The value must not change any more. Throws INVALID_ARGUMENT for a null pointer.
  void publish(std::shared_ptr<const Value> value, const PublishOptions& options = {}) {
    publish_item(detail::new_item<Value>(*source_, given(std::move(value)), detail::published_now()),
                 options);
  }
  /// Calls publish() for each value, or `std::shared_ptr<const Value>`, in order; values before one that
  /// throws are published. A container that is moved in gives its values away.
  template <std::ranges::input_range Values>
  void publish_all(Values&& values, const PublishOptions& options = {}) {
    using Reference = std::ranges::range_reference_t<Values>;
    using Shared = std::shared_ptr<const Value>;
    using Given = std::conditional_t<std::is_convertible_v<Reference, Shared>, Shared, Value>;
    using Passed =
        std::conditional_t<detail::kGivesAway<Values>, std::remove_reference_t<Reference>&&, Reference&&>;
    std::array<ItemRef, 64> items;
    std::size_t count = 0;
    Timestamp now{};  // of those that are put into the queues together
    const auto send = [&] {
      source_->publish(std::span(items).first(count), options.deadline);
      std::fill_n(items.begin(), std::exchange(count, 0), ItemRef());
    };
    for (auto&& value : values) {
      try {
        if (count == 0) now = detail::published_now();
        items[count] = detail::new_item<Value>(*source_, given(Given(static_cast<Passed>(value))), now);
      } catch (...) {
        send();
        throw;
      }
      if (++count == items.size()) send();
    }
    if (count != 0) send();
  }

 private:
  static Value&& given(Value&& value) noexcept { return std::move(value); }
  static std::shared_ptr<const Value> given(std::shared_ptr<const Value> value) {
    if (!value)
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "a value to publish of " + std::string(Topic::kTopic.name()) + " is a null pointer");
    return value;
  }
  void publish_item(ItemRef item, const PublishOptions& options) {
    source_->publish({&item, 1}, options.deadline);
  }

  std::shared_ptr<Board::Source> source_;
};

/// The common base of publishers of topics with and without agents.
template <class Topic>
class BasePublisher {
 public:
  using Value = typename Topic::Value;

  /// Waits until there are `count` subscriptions to the topic, whatever their agents; false on a timeout. A
  /// relay is one, and so are equal subscribers of a client.
  [[nodiscard]] bool await_subscribers(std::size_t count, std::chrono::nanoseconds timeout) const {
    return channel_->board().await_subscribers(count, deadline_after(mf::now(), timeout));
  }
  /// Called for each subscription that begins from now on, one at a time, on a thread of the topics.
  void on_matched(Channel::Listener listener) const { channel_->set_listeners(std::move(listener), nullptr); }
  /// Called when a subscription has ended, with its last figures.
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

/// Publishes on a topic `per` agent, of the type `Topic::Agent`.
template <class Topic>
class PerAgentPublisher : public BasePublisher<Topic> {
 public:
  explicit PerAgentPublisher(const Topics& topics) : BasePublisher<Topic>(topics) {}

  /// Throws INVALID_ARGUMENT for an invalid agent.
  [[nodiscard]] AgentPublisher<Topic> at(const typename Topic::Agent& agent) const {
    if constexpr (std::is_convertible_v<typename Topic::Agent, std::string_view>) {
      return AgentPublisher<Topic>(this->channel()->source(agent));
    } else {
      return AgentPublisher<Topic>(this->channel()->source(agent_text(agent)));
    }
  }
};

/// Publishes on a topic without agents.
template <class Topic>
class LonePublisher : public BasePublisher<Topic>, public AgentPublisher<Topic> {
 public:
  using Value = typename Topic::Value;
  explicit LonePublisher(const Topics& topics)
      : BasePublisher<Topic>(topics), AgentPublisher<Topic>(this->channel()->source("")) {}
};

}  // namespace mf::topics
