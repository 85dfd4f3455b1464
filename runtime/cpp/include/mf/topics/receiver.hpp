// The untyped part of a subscriber: its queue is filled by publishers of this process, or by subscriptions at
// remote publishers (remote_receiver.hpp).
//
// Threads. Any number may take; one asynchronous operation at a time. Callbacks run one at a time, where
// complete() runs them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/topics/inbox.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"
#include "mf/topics/subscriptions.hpp"
#include "mf/topics/topic.hpp"

namespace mf {
class Client;
class Topics;
}  // namespace mf

namespace mf::topics {

class Receiver : public std::enable_shared_from_this<Receiver> {
 public:
  struct Taken {
    ItemRef item;
    std::uint64_t missed = 0;  // messages just before it
  };
  /// Called with the number of publishers.
  using Matched = std::function<void(std::size_t publishers)>;
  using Take = UniqueFunction<void(Outcome<Taken>&&)>;

  virtual ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Subscribes within this process. Throws as Channel::subscribe() does.
  [[nodiscard]] static std::shared_ptr<Receiver> local(const Topics& topics, const TopicInfo& topic,
                                                       std::string_view agents,
                                                       const SubscribeOptions& options);
  /// Subscribes at all publishers that the client finds; `received` makes an item of bytes.
  using Received = Item* (*)(Bytes&& payload);
  [[nodiscard]] static std::shared_ptr<Receiver> remote(const Client& client, const TopicInfo& topic,
                                                        std::string_view agents,
                                                        const SubscribeOptions& options, Received received);

  /// Waits for a message; false on a timeout. Throws why the subscription has ended.
  [[nodiscard]] bool take(Taken& into, TimePoint until);
  /// Waits without limit; false if the subscription has ended without a failure.
  [[nodiscard]] bool take_or_end(Taken& into);
  /// `stop` ends it as CANCELLED; no message is lost.
  void async_take(Take done, const std::stop_token& stop);
  /// Calls `callback` for each message until close().
  void on_message(std::function<void(Taken&&)> callback);
  /// Calls `callback` once if the subscription ends otherwise than by close(), behind the last message of
  /// on_message(). Without it such an end is logged.
  void on_end(std::function<void(const Failure&)> callback);
  void on_gap(std::function<void(const Gap&)> callback);
  /// A subscriber that is matched already is notified, too: publishers may have been there before.
  void set_matched(Matched matched, Matched unmatched);
  /// A publisher was found (`by` 1) or lost (-1), and there are so many now.
  virtual void changed(int by, std::size_t publishers);
  /// False on a timeout, and if the subscription has ended.
  [[nodiscard]] virtual bool await_publishers(std::size_t count, TimePoint until) = 0;
  /// Throws in a forked child process if the messages of this inbox arrive in the parent process.
  virtual void check_process() const {}
  /// Throws why the subscription has ended, if it has, even if messages wait.
  void check() const;
  /// Why no message comes, as far as that is known, in words behind those of an error; or "".
  [[nodiscard]] virtual std::string silence() const { return {}; }
  [[nodiscard]] SubscriberStats stats() const;
  /// Ends the subscription. No callback runs after it has returned, unless a callback calls it.
  void close();

 protected:
  Receiver(std::shared_ptr<Inbox> inbox, const TopicInfo& topic);
  [[nodiscard]] Inbox& inbox() noexcept { return *inbox_; }
  [[nodiscard]] const std::shared_ptr<Inbox>& shared_inbox() const noexcept { return inbox_; }
  /// Ends the subscriptions; called once.
  virtual void leave() = 0;
  [[nodiscard]] virtual std::size_t publishers() const = 0;
  virtual void complete(UniqueFunction<void()> work) = 0;
  virtual void add_stats(SubscriberStats& stats) const = 0;
  [[nodiscard]] virtual const Log& log() const noexcept = 0;
  void log_escaped() const noexcept { log_escaped_exception(log(), "a subscriber's callback"); }
  /// Nothing more comes: it was closed, or its queue has ended.
  [[nodiscard]] bool over() const { return closed_ || inbox_->ended(); }
  /// Calls changed() as long as this lives.
  [[nodiscard]] Changed on_change() {
    return [weak = weak_from_this()](int by, std::size_t publishers) {
      if (const auto self = weak.lock()) self->changed(by, publishers);
    };
  }

 private:
  struct Pending;
  using From = std::pair<Uuid, std::string>;  // a publisher and an agent

  [[nodiscard]] Inbox::Got next(Taken& into, TimePoint until);
  [[nodiscard]] bool look(Inbox::Entry&& entry, Taken& into);
  [[nodiscard]] Failure ending() const;
  void go_on(const std::shared_ptr<Pending>& pending);
  void run_callbacks();
  void tell_end();
  void watch();
  void notify(Matched listener, std::size_t publishers);

  const std::shared_ptr<Inbox> inbox_;
  const TopicInfo& topic_;
  std::atomic<bool> missed_any_{false};
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;                  // guards the next seven
  std::map<From, std::uint64_t> missed_;      // since the last message
  std::deque<From> gone_;                     // those of missed_ that have ended, and may come back
  std::array<std::uint64_t, 3> missed_by_{};  // by reason: in total
  std::function<void(const Gap&)> on_gap_;
  std::function<void(Taken&&)> on_message_;
  std::function<void(const Failure&)> on_end_;
  bool told_end_ = false;
  std::mutex matching_;  // guards the next three
  Matched matched_;
  Matched unmatched_;
  std::size_t notified_ = 0;  // of so many publishers
  std::mutex calling_;        // held while callbacks run, so that close() can wait for them
  std::atomic<std::thread::id> caller_{};
};

}  // namespace mf::topics
