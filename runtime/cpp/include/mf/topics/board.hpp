// The subscriptions to one topic, and the sources whose messages they get. A publisher has one for each topic
// (channel.hpp), a client and a relay for what they subscribe to elsewhere (upstream.hpp), a bridge for what
// it reads from its engine.
//
// A subscription is attached to all sources whose agents its pattern matches, now and later. To attach and to
// detach costs a look-up here and in these sources, however many subscriptions there are, and nothing remains
// of one that has left but its part of the sums.
//
// Thread-safe. Locks are taken in this order: the board's, a source's, an inbox's. Callbacks of users run,
// and threads are woken, under none of them (Woken).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/topics/count_waits.hpp"
#include "mf/topics/inbox.hpp"
#include "mf/topics/subscriptions.hpp"
#include "mf/topics/topic.hpp"

namespace mf::topics {

/// Whose board it is.
enum class Keeper : std::uint8_t { publisher, client, relay, bridge };

/// The bytes that several sources may keep together.
struct KeepBudget {
  explicit KeepBudget(std::size_t bytes) noexcept : most(bytes) {}
  const std::size_t most;
  std::atomic<std::size_t> used{0};
};

/// What is to be done once no lock is held: inboxes to be woken, and subscribers to be notified that they are
/// matched.
class Woken {
 public:
  void add(const std::shared_ptr<Inbox>& inbox) { inboxes_.push_back(inbox); }
  void add(const Changed& changed) { matched_.push_back(changed); }
  /// Wakes and notifies all, and forgets them.
  void wake();

 private:
  std::vector<std::shared_ptr<Inbox>> inboxes_;
  std::vector<Changed> matched_;
};

class Board {
 public:
  class Source;

  struct Rules {
    Keeper keeper = Keeper::publisher;
    std::size_t most = 0;        // subscriptions
    std::size_t keep_bytes = 0;  // of each source, for replay
    /// A remote subscription that is waited for, and takes nothing for this time, is ended.
    std::chrono::milliseconds stall_timeout{};
    std::shared_ptr<KeepBudget> budget{};  // null: there is no common bound

    Rules(Keeper whose, const TopicsOptions& options)
        : keeper(whose),
          most(options.max_subscriptions),
          keep_bytes(options.keep_bytes),
          stall_timeout(options.stall_timeout) {}
  };

  Board(const TopicInfo& topic, Rules rules) : topic_(topic), rules_(std::move(rules)) {}
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  [[nodiscard]] const Rules& rules() const noexcept { return rules_; }

  // ---- subscriptions

  /// Messages that match go to the inbox from now on. Returns how many subscriptions there are; 0 after
  /// end(), or after retire() has returned true. Throws OVERLOADED. The request has been checked.
  [[nodiscard]] std::size_t attach(const std::shared_ptr<Inbox>& inbox, const Request& request);
  /// Returns the last figures of the subscription; nothing if it is none of these.
  std::optional<SubscriptionStats> detach(const Inbox& inbox);
  /// The number of subscriptions.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<std::shared_ptr<Inbox>> inboxes() const;
  /// Those in which more sources and ends of sources wait than for a subscriber that takes its messages.
  [[nodiscard]] std::vector<std::shared_ptr<Inbox>> crowded() const;
  /// Returns false on a timeout.
  [[nodiscard]] bool await_subscribers(std::size_t count, TimePoint until);
  /// What the subscribers are to be called with when publishers have come or gone.
  [[nodiscard]] std::vector<Changed> listeners() const;
  /// Returns true if there are no subscriptions; from then on attach() returns 0.
  [[nodiscard]] bool retire();
  /// attach() returns 0 and publish() throws from now on, and all subscriptions end, with this failure if
  /// there is one.
  void end(const std::shared_ptr<const Failure>& why);
  void count_refused();
  /// Subscriptions are in the order in which they came.
  [[nodiscard]] PublisherStats stats() const;

  // ---- sources

  /// Begins a source, which takes the place of one with the same origin. Its next message has the number
  /// `next`; those before `live` are replayed by their publisher. It keeps so many messages for replay.
  std::shared_ptr<Source> begin(std::shared_ptr<const Origin> origin, std::uint32_t keep, std::uint64_t next,
                                std::uint64_t live, Woken& woken);
  [[nodiscard]] std::shared_ptr<Source> find(const Uuid& publisher, std::string_view agent) const;
  /// Nothing more comes of the source.
  void end(Source& source, Woken& woken);
  /// Forgets all sources, and what they keep; the subscriptions stay.
  void remove_all();
  [[nodiscard]] std::vector<std::string> agents() const;

 private:
  using Key = std::pair<std::string, Uuid>;  // an agent and its publisher
  struct Attached {
    std::shared_ptr<Inbox> inbox{};
    std::string agents{};
    bool remote = false;
    std::uint32_t replay = 0;
    std::map<Key, std::uint64_t> seen{};
    Changed changed{};
    bool matched = false;
    std::uint64_t number = 0;  // in the order in which they came
  };

  /// The sources that the pattern may match: of an agent that it names, or all.
  template <class Call>
  void for_each_source(const std::string& agents, Call&& call) const;
  void match(Attached& attached, Source& source);

  const TopicInfo& topic_;
  const Rules rules_;
  mutable std::mutex mutex_;  // all below
  std::map<Key, std::shared_ptr<Source>> sources_;
  std::unordered_map<const Inbox*, Attached> subscriptions_;
  CountWaits waits_;            // for subscriptions
  std::uint64_t attached_ = 0;  // so many have come
  std::uint64_t refused_ = 0;
  std::uint64_t cut_ = 0;
  EndedStats ended_sums_;
  bool ended_ = false;
};

}  // namespace mf::topics
