// The base classes of generated subscribers.
//
//   AdditionsSubscriber here(topics, "books");                 in this process
//   AdditionsSubscriber there(client, "eu.*.books", {.overflow = mf::Overflow::block});
//
//   mf::TopicMessage<Indexed> message = there.next();          waits
//   if (auto message = there.poll(10ms)) …                     waits a little
//   for (auto& message : there) …                              until the subscription ends
//   auto outcome = co_await there.async_next(boost::asio::use_awaitable);      <mf/client/asio.hpp>
//   there.on_message([](mf::TopicMessage<Indexed> message) { … });
//
// Any thread may take messages; one asynchronous operation, or on_message(), at a time. Messages that are not
// taken yet wait in a queue (SubscribeOptions).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mf/client/client.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/async.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/topics/message.hpp"
#include "mf/topics/receiver.hpp"
#include "mf/topics/topics.hpp"

namespace mf::topics {

template <class Topic>
class BaseSubscriber {
 public:
  using Value = typename Topic::Value;
  using Message = TopicMessage<Value>;

  class Iterator {
   public:
    using value_type = Message;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(BaseSubscriber* of) : of_(of) { ++*this; }
    Message& operator*() const noexcept { return of_->current_; }
    Message* operator->() const noexcept { return &of_->current_; }
    Iterator& operator++() {
      if (!of_->take_or_end(of_->current_)) of_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& iterator, std::default_sentinel_t) noexcept {
      return iterator.of_ == nullptr;
    }

   private:
    BaseSubscriber* of_ = nullptr;
  };

  BaseSubscriber(BaseSubscriber&&) noexcept = default;
  BaseSubscriber& operator=(BaseSubscriber&& other) noexcept {
    if (this != &other) {
      close();
      receiver_ = std::move(other.receiver_);
    }
    return *this;
  }
  ~BaseSubscriber() { close(); }

  /// Waits for the next message. If the subscription has ended, throws why: OVERLOADED if its policy is
  /// disconnect; SHUTTING_DOWN if the topics of this process have ended; CANCELLED after close().
  [[nodiscard]] Message next() {
    Receiver::Taken taken;
    (void)receiver_->take(taken, kNever);
    return message(std::move(taken));
  }
  /// The same; throws DEADLINE_EXCEEDED on a timeout.
  [[nodiscard]] Message next(std::chrono::nanoseconds timeout) {
    auto polled = poll(timeout);
    if (!polled)
      throw Error(
          Code::deadline_exceeded, Execution::not_executed,
          "no message of " + std::string(Topic::kTopic.name()) + " has come in time" + receiver_->silence());
    return std::move(*polled);
  }
  /// The same; returns nothing on a timeout.
  [[nodiscard]] std::optional<Message> poll(std::chrono::nanoseconds timeout = {}) {
    Receiver::Taken taken;
    const auto until = timeout.count() == 0 ? TimePoint{} : deadline_after(mf::now(), timeout);
    if (!receiver_->take(taken, until)) return std::nullopt;
    return message(std::move(taken));
  }
  /// Completes with Outcome<Message>. A cancelled call takes no message.
  template <class Token>
  auto async_next(Token&& token) {
    using Completion = Completes<std::decay_t<Token>, Message>;
    static_assert(
        requires { sizeof(Completion); },
        "a token of Asio needs #include <mf/client/asio.hpp>, and any other a call with an "
        "Outcome<Message>&&");
    return Completes<std::decay_t<Token>, Message>::initiate(
        std::forward<Token>(token),
        [receiver = receiver_](Callback<Message> done, const std::stop_token& stop = {}) {
          receiver->async_take(
              [done = std::move(done)](Outcome<Receiver::Taken>&& taken) mutable {
                if (!taken) return done(Failure(taken.failure()));
                done(message(std::move(taken).value()));
              },
              stop);
        });
  }
  /// Calls `callback` for each message until close(), one at a time, on a thread of the client or the topics.
  void on_message(std::function<void(Message)> callback) {
    receiver_->on_message(
        [callback = std::move(callback)](Receiver::Taken&& taken) { callback(message(std::move(taken))); });
  }
  /// Calls `callback` once if the subscription ends otherwise than by close(), behind the last message of
  /// on_message(), with what next() would throw. Without it such an end is logged.
  void on_end(std::function<void(const Failure&)> callback) { receiver_->on_end(std::move(callback)); }
  /// Calls `callback` for each gap, on the thread that takes the next message, before it gets that message.
  void on_gap(std::function<void(const Gap&)> callback) { receiver_->on_gap(std::move(callback)); }

  /// Called with the number of publishers when one is found (matched) or lost.
  void on_matched(Receiver::Matched callback) { receiver_->set_matched(std::move(callback), nullptr); }
  void on_unmatched(Receiver::Matched callback) { receiver_->set_matched(nullptr, std::move(callback)); }
  /// Waits until `count` publishers are there for this; false on a timeout. Throws why the subscription has
  /// ended, as next() does. The publishers of a process are one; behind a relay each process counts.
  [[nodiscard]] bool await_publishers(std::size_t count, std::chrono::nanoseconds timeout) {
    if (receiver_->await_publishers(count, deadline_after(mf::now(), timeout))) return true;
    receiver_->check();
    return false;
  }
  [[nodiscard]] SubscriberStats stats() const { return receiver_->stats(); }
  /// Ends the subscription; messages that were not taken are dropped.
  void close() {
    if (receiver_) receiver_->close();
  }

  /// Waits for the first message.
  [[nodiscard]] Iterator begin() { return Iterator(this); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 protected:
  explicit BaseSubscriber(std::shared_ptr<Receiver> receiver) noexcept : receiver_(std::move(receiver)) {}

 private:
  [[nodiscard]] static Message message(Receiver::Taken&& taken) {
    return Message(std::move(taken.item), taken.missed);
  }
  [[nodiscard]] bool take_or_end(Message& into) {
    Receiver::Taken taken;
    if (!receiver_->take_or_end(taken)) return false;
    into = message(std::move(taken));
    return true;
  }

  std::shared_ptr<Receiver> receiver_;
  Message current_;
};

/// Subscribes to a topic `per` agent: for one agent, or for all that match a pattern, "eu.*.books".
template <class Topic>
class PerAgentSubscriber : public BaseSubscriber<Topic> {
 public:
  PerAgentSubscriber(const Topics& topics, std::string_view agents, const SubscribeOptions& options = {})
      : BaseSubscriber<Topic>(Receiver::local(topics, Topic::kTopic, agents, options)) {}
  PerAgentSubscriber(const Client& client, std::string_view agents, const SubscribeOptions& options = {})
      : BaseSubscriber<Topic>(Receiver::remote(client, Topic::kTopic, agents, options,
                                               &ItemOf<typename Topic::Value>::received)) {}
  /// For one agent whose type is not text.
  template <class Agent = typename Topic::Agent>
    requires(!std::is_convertible_v<Agent, std::string_view>)
  PerAgentSubscriber(const Topics& topics, const Agent& agent, const SubscribeOptions& options = {})
      : PerAgentSubscriber(topics, std::string_view(agent_text(agent)), options) {}
  template <class Agent = typename Topic::Agent>
    requires(!std::is_convertible_v<Agent, std::string_view>)
  PerAgentSubscriber(const Client& client, const Agent& agent, const SubscribeOptions& options = {})
      : PerAgentSubscriber(client, std::string_view(agent_text(agent)), options) {}
};

/// Subscribes to a topic without agents.
template <class Topic>
class LoneSubscriber : public BaseSubscriber<Topic> {
 public:
  explicit LoneSubscriber(const Topics& topics, const SubscribeOptions& options = {})
      : BaseSubscriber<Topic>(Receiver::local(topics, Topic::kTopic, "", options)) {}
  explicit LoneSubscriber(const Client& client, const SubscribeOptions& options = {})
      : BaseSubscriber<Topic>(
            Receiver::remote(client, Topic::kTopic, "", options, &ItemOf<typename Topic::Value>::received)) {}
};

}  // namespace mf::topics
