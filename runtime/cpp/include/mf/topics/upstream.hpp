// What comes from publishers elsewhere for one subscription (topic, agents, policy, bounds), and the board of
// all that share it: the equal subscribers of a client, or the clients of a relay. A message is one item for
// all of them: in a client decoded when it is first looked at, in a relay never. Each has an inbox of its
// own.
//
// In a client, a subscriber that is alone is waited for: when its inbox is full, nothing more is read, so
// that publishers get no credit, and their policy acts on the inboxes there. Of several, those that block are
// waited for, unless they take nothing for stall_timeout; the policy of the others acts on their own inboxes.
// A relay waits for those that block, and ends those that take nothing for stall_timeout.
//
// Thread-safe. Locks are taken in this order: the table's, the upstream's, the board's, a source's, an
// inbox's. No inbox is woken, and no callback of a subscriber called, under any of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/topics/board.hpp"
#include "mf/topics/count_waits.hpp"
#include "mf/topics/receiver.hpp"
#include "mf/topics/source.hpp"

namespace mf::topics {

class Feed;

/// What subscribers must have in common to share one. Those of one topic make the same items.
struct Wanted {
  const TopicInfo* topic = nullptr;
  Receiver::Received received = nullptr;
  std::string agents{};
  Overflow overflow{};
  std::uint32_t max_messages = 0;
  std::uint32_t max_bytes = 0;
  std::uint32_t replay = 0;
  std::chrono::milliseconds stall_timeout{};
  std::vector<Uuid> path{};  // the relays that it has come through
  std::string client{};      // a relay's, whose identity it passes on; empty: it passes none on

  friend bool operator<(const Wanted& one, const Wanted& other) {
    const auto all = [](const Wanted& of) {
      return std::tie(of.topic, of.agents, of.overflow, of.max_messages, of.max_bytes, of.replay,
                      of.stall_timeout, of.path, of.client);
    };
    return all(one) < all(other);
  }
};

class Upstream final : public std::enable_shared_from_this<Upstream> {
 public:
  /// What has come of one publisher and agent, whichever feed brought it: one at a time does.
  struct Known {
    std::shared_ptr<const Origin> origin;
    std::shared_ptr<Board::Source> source;
    bool refused = false;                // its publisher may not publish: the source is not on the board
    std::atomic<std::uint64_t> last{0};  // message that has come or is missed; valid once `begun`
    std::uint64_t first = 0;             // `last` of the beginning
    std::atomic<bool> begun{false};
    // With the lock of the upstream:
    std::size_t names = 0;       // numbers of its feed that stand for it
    bool ended = false;          // nothing more comes of it, for all that is known
    std::uint64_t named = 0;     // counts when its publisher named it last
    const Feed* feed = nullptr;  // that named it last
  };

  /// What a relay adds, which passes on what comes.
  struct Relay {
    const TopicsOptions& options;
    std::shared_ptr<KeepBudget> budget{};
    std::vector<std::shared_ptr<void>> held{};  // as long as the upstream lives: with them the options
    /// Called at the end of an upstream that ends by itself; returns the failure for its subscribers.
    std::function<Failure(const Upstream& ended, const Failure& why)> on_end{};
  };

  Upstream(std::shared_ptr<client::Core> core, Wanted wanted, std::optional<Relay> relay = std::nullopt);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  // ---- for its subscribers

  /// Finds the publishers, now and whenever there may be others.
  void begin();
  [[nodiscard]] Board& board() noexcept { return board_; }
  [[nodiscard]] const Board& board() const noexcept { return board_; }
  /// A subscriber that was alone is not waited for any more.
  void look_again();
  /// Returns the last figures of the subscription; nothing if it is none of these.
  std::optional<SubscriptionStats> leave(const Inbox& inbox);
  /// Ends the subscriptions at the publishers.
  void close();
  /// Nothing more comes, for this reason: ends the subscriptions of its feeds, whose messages nothing would
  /// take.
  void end(const Failure& why);
  /// `over`: the subscriber that waits has ended, so that its wait does.
  [[nodiscard]] bool await_publishers(std::size_t count, TimePoint until, const std::function<bool()>& over);
  /// See Receiver::silence().
  [[nodiscard]] std::string silence() const;
  [[nodiscard]] std::size_t publishers() const;
  void add_stats(SubscriberStats& stats) const;
  [[nodiscard]] std::uint64_t received() const noexcept { return received_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_.load(std::memory_order_relaxed); }

  // ---- for its feeds

  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }
  [[nodiscard]] const TopicInfo& topic() const noexcept { return *wanted_.topic; }
  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }
  /// Takes the bytes over, unless they are few.
  [[nodiscard]] Item* make_item(Bytes&& payload) const { return wanted_.received(std::move(payload)); }
  /// Whether what comes is passed on, by a relay or a bridge.
  [[nodiscard]] bool passes_on() const noexcept { return !wanted_.path.empty(); }
  /// The reason that subscribers get for a gap that has come with this one: what a relay has missed is missed
  /// upstream.
  [[nodiscard]] Why why_missed(Why why) const noexcept { return relay_ ? Why::upstream : why; }
  /// With what has come so far.
  [[nodiscard]] Subscription subscription() const;
  /// The feed names it, by way of the address `where`. Null: another feed has named its publisher before, and
  /// this one is on standby.
  [[nodiscard]] std::shared_ptr<Known> known(const Source& source, const std::string& where,
                                             const std::shared_ptr<Feed>& feed, Woken& woken);
  /// Its feed is lost, which may come back to it. `broken`: its publisher has broken the protocol; if nothing
  /// has come of it, it is forgotten.
  void lose(Known& known, bool broken, Woken& woken);
  /// The same for good: subscribers get the end of the source.
  void end_source(Known& known, Woken& woken);
  /// The feed has ended, or has come back and named `but` first: feeds on standby may take over the
  /// publishers that it had.
  void give_up(const Feed& feed, const Uuid* but = nullptr);
  /// What the feed had named, and does not name any more, is over: its publisher has gone, and another one
  /// may have come at its address.
  void end_gone(const Feed& feed, Woken& woken);
  /// Calls `room` once there is room in this inbox, or others need not wait for it any more; in a relay on
  /// the thread of its client.
  void when_room(const std::shared_ptr<Inbox>& full, std::size_t size, UniqueFunction<void()> room);
  /// True if more sources and ends of sources wait for its only subscriber than would for one that takes its
  /// messages. If there are several subscribers, or in a relay, those of which this is true are cut.
  [[nodiscard]] bool crowded();
  void count_received(const Known& known, std::uint64_t count) noexcept;
  void count_missed(const Known& known, std::uint64_t count) noexcept;
  void count_duplicate() noexcept { duplicates_.fetch_add(1, std::memory_order_relaxed); }
  void count_cut() noexcept { cut_.fetch_add(1, std::memory_order_relaxed); }
  /// Is its publisher still there, for all that is known? If not, it is forgotten.
  [[nodiscard]] bool goes_on(const Feed& feed);
  /// Is it the only publisher that there is?
  [[nodiscard]] bool alone() const;

 private:
  /// The count of publishers after one has come or gone, and the callbacks to be notified of it.
  struct Change {
    int by = 0;
    std::size_t publishers = 0;
    std::vector<Changed> told{};
  };
  /// With the lock of the upstream.
  [[nodiscard]] Change count(int by);
  /// Without it.
  static void tell(const Change& change);
  [[nodiscard]] std::shared_ptr<Known> known_of(const Source& source, const std::string& where,
                                                const Feed& feed, bool refused, Woken& woken);
  [[nodiscard]] bool is_refused(const Source& source, const std::string& where) const;
  void wake_waiters();
  void look();
  /// By their addresses: a process that has come back at the address of the one before has that one's feed,
  /// whether or not a controller still lists both. Relays, each of which reaches all publishers, are one for
  /// each schema of publishers.
  using Found = std::map<std::string, std::vector<Instance>>;
  [[nodiscard]] Found instances();
  void forget_some(Woken& woken);
  void begin_source(Known& known, std::uint64_t next, std::uint64_t live, std::uint32_t kept, Woken& woken);
  void end_unused(Known& known, Woken& woken);
  using Feeds = std::map<const Feed*, std::weak_ptr<Feed>>;
  /// The feed that has named a publisher, until it gives it up (decision 0056).
  struct Owner {
    const Feed* feed = nullptr;
    std::size_t names = 0;
    Feeds standing_by{};
  };
  void stand_in(const Feeds& feeds) const;
  void watch(const std::shared_ptr<Inbox>& full, TimePoint since);
  void check_stall(const std::shared_ptr<Inbox>& full);

  const std::shared_ptr<client::Core> core_;
  const Wanted wanted_;
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  const std::optional<Relay> relay_;
  Board board_;
  std::atomic<bool> left_{false};
  std::atomic<std::uint64_t> duplicates_{0};
  std::atomic<std::uint64_t> cut_{0};
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> missed_{0};
  mutable std::mutex mutex_;                            // all below
  std::map<std::string, std::shared_ptr<Feed>> feeds_;  // as Found
  std::map<std::pair<Uuid, std::string>, std::shared_ptr<Known>> known_;
  std::map<Uuid, Owner> owners_;
  std::uint64_t named_ = 0;
  std::size_t forget_at_ = 0;  // so many that are known
  std::size_t begun_ = 0;      // so many sources
  std::uint64_t listener_ = 0;
  std::size_t publishers_ = 0;  // that a feed names now
  CountWaits waits_;            // for publishers
};

/// The upstreams of a client, or of a relay.
class Upstreams final : public client::Shared {
 public:
  using Make = std::function<std::shared_ptr<Upstream>()>;

  /// Those of this client for the topic.
  [[nodiscard]] static std::shared_ptr<Upstreams> of(client::Core& core, const TopicInfo& topic);

  /// Attaches the inbox to the upstream that all subscribers with the same wish share; to a new one, which
  /// begins, if there is none. Null if that would be one more than `most`, and after close(). Throws as
  /// Board::attach() does.
  [[nodiscard]] std::shared_ptr<Upstream> attach(
      const Wanted& wanted, const std::shared_ptr<Inbox>& inbox, const Request& request, const Make& make,
      std::size_t most = (std::numeric_limits<std::size_t>::max)());
  /// Returns the last figures of the subscription; nothing if it had left. An upstream that has no
  /// subscribers any more ends.
  std::optional<SubscriptionStats> detach(const std::shared_ptr<Upstream>& upstream, const Inbox& inbox);
  /// The upstream has ended by itself.
  void forget(const Upstream& upstream);
  [[nodiscard]] std::vector<std::shared_ptr<Upstream>> all() const;
  /// Ends all.
  void close(const Failure& why);
  void on_close() noexcept override {}  // feeds learn of it themselves

 private:
  mutable std::mutex mutex_;
  std::map<Wanted, std::shared_ptr<Upstream>> all_;
  bool closed_ = false;
};

}  // namespace mf::topics
