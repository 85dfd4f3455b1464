// One subscription at each publisher of a topic elsewhere (feed.hpp), and the subscribers of a client that
// share what comes of it: equal subscriptions of one client have one upstream. A message is one item for all
// of them, decoded by whoever looks first, and each subscriber has a queue of its own (fanout.hpp).
//
// A subscriber that is alone is waited for: when its queue is full, nothing more is read, so that publishers
// get no credit, and their policy acts on the queues there. Of several, those that block are waited for,
// unless they take nothing for stall_timeout; the policy of the others acts on their own queues.
//
// Thread-safe. Locks are taken in this order: the table's, the upstream's, the fan-out's, an outlet's, a
// queue's. No queue is woken, and no callback of a subscriber called, under any of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/topics/count_waits.hpp"
#include "mf/topics/fanout.hpp"
#include "mf/topics/inbox.hpp"
#include "mf/topics/outlet.hpp"

namespace mf::topics {

class Feed;
class RemoteInbox;

/// What subscribers must have in common to share one. Those of one topic make the same items.
struct Wanted {
  const TopicInfo* topic = nullptr;
  Inbox::Received received = nullptr;
  std::string agents{};
  Overflow overflow{};
  std::uint32_t max_messages = 0;
  std::uint32_t max_bytes = 0;
  std::uint32_t replay = 0;
  std::chrono::milliseconds stall_timeout{};
  std::vector<Uuid> path{};  // the relays that it has come through

  friend bool operator<(const Wanted& one, const Wanted& other) {
    const auto all = [](const Wanted& of) {
      return std::tie(of.topic, of.agents, of.overflow, of.max_messages, of.max_bytes, of.replay,
                      of.stall_timeout, of.path);
    };
    return all(one) < all(other);
  }
};

class Upstream final : public std::enable_shared_from_this<Upstream> {
 public:
  /// What has come of one publisher and agent, whichever feed brought it: one at a time does.
  struct Known {
    std::shared_ptr<const Origin> origin;
    std::shared_ptr<Outlet> outlet;
    std::atomic<std::uint64_t> last{0};  // message that has come or is missed; valid once `begun`
    std::uint64_t first = 0;             // `last` of the beginning
    std::atomic<bool> begun{false};
    // With the lock of the upstream:
    std::size_t names = 0;       // numbers of its feed that stand for it
    bool ended = false;          // nothing more comes of it, for all that is known
    std::uint64_t named = 0;     // counts when its publisher named it last
    const Feed* feed = nullptr;  // that named it last
  };

  Upstream(std::shared_ptr<client::Core> core, Wanted wanted);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  // ---- for its subscribers

  /// Finds the publishers, now and whenever there may be others.
  void begin();
  /// False: it has ended. look_again() follows, without any lock.
  [[nodiscard]] bool join(const std::shared_ptr<RemoteInbox>& inbox);
  /// One that was alone is not waited for any more.
  void look_again();
  void leave(const RemoteInbox& inbox);
  /// True if it has no subscribers; from then on join() returns false.
  [[nodiscard]] bool retire() { return fanout_.retire(); }
  /// Ends the subscriptions at the publishers.
  void close();
  /// Nothing more comes, for this reason: its feeds are left, which would go on for nobody.
  void end(const Failure& why);
  /// `over`: the subscriber that waits has ended, so that its wait does.
  [[nodiscard]] bool await_publishers(std::size_t count, TimePoint until, const std::function<bool()>& over);
  /// See Inbox::silence().
  [[nodiscard]] std::string silence() const;
  [[nodiscard]] std::size_t publishers() const;
  void add_stats(SubscriberStats& stats) const;

  // ---- for its feeds

  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }
  [[nodiscard]] const TopicInfo& topic() const noexcept { return *wanted_.topic; }
  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }
  [[nodiscard]] Item* make_item(Bytes payload) const { return wanted_.received(std::move(payload)); }
  /// A relay's, which hands on what comes?
  [[nodiscard]] bool is_of_relay() const noexcept { return !wanted_.path.empty(); }
  /// With what has come so far.
  [[nodiscard]] Subscription subscription() const;
  /// The feed names it, by way of the address `where`. Null: another feed has named its publisher before, and
  /// this one stands by.
  [[nodiscard]] std::shared_ptr<Known> known(const Source& source, const std::string& where,
                                             const std::shared_ptr<Feed>& feed, Woken& woken);
  /// Its feed is lost, which may come back to it. `broken`: its publisher has broken the protocol; if nothing
  /// has come of it, it is forgotten.
  void lose(Known& known, bool broken, Woken& woken);
  /// The same for good: its end is told.
  void end_source(Known& known, Woken& woken);
  /// The feed lives no more, or has come back and named `but` first: others may stand in for what it had.
  void give_up(const Feed& feed, const Uuid* but = nullptr);
  /// What the feed had named, and does not name any more, is over: its publisher has gone, and another one
  /// may have come at its address.
  void end_gone(const Feed& feed, Woken& woken);
  /// Calls `room` once there is room in this queue, or others need not wait for it any more.
  void when_room(const std::shared_ptr<Queue>& full, std::size_t size, UniqueFunction<void()> room);
  /// True if more sources and ends of sources wait for its only subscriber than would for one that takes its
  /// messages. If there are several subscribers, those of which this is true are cut.
  [[nodiscard]] bool crowded();
  void count_duplicate() noexcept { duplicates_.fetch_add(1, std::memory_order_relaxed); }
  void count_cut() noexcept { cut_.fetch_add(1, std::memory_order_relaxed); }
  /// Is its publisher still there, for all that is known? If not, it is forgotten.
  [[nodiscard]] bool goes_on(const Feed& feed);
  /// Is it the only publisher that there is?
  [[nodiscard]] bool alone() const;

 private:
  /// A publisher that has come or gone, and who is to be told of it.
  struct Change {
    int by = 0;
    std::size_t publishers = 0;
    std::vector<std::shared_ptr<RemoteInbox>> told{};
  };
  /// With the lock of the upstream.
  [[nodiscard]] Change count(int by);
  /// Without it.
  static void tell(const Change& change);
  [[nodiscard]] std::shared_ptr<Known> known_of(const Source& source, const std::string& where,
                                                const Feed& feed, Woken& woken);
  void wake_waiters();
  void look();
  /// By their addresses: a process that has come back at the address of the one before has that one's feed,
  /// whether or not a controller still tells of both. Relays, each of which reaches all publishers, are one
  /// for each schema of publishers.
  using Found = std::map<std::string, std::vector<Instance>>;
  [[nodiscard]] Found instances();
  void forget_some(Woken& woken);
  void add_outlet(Known& known, std::uint64_t next, std::uint64_t live, std::uint32_t kept, Woken& woken);
  void end_unused(Known& known, Woken& woken);
  using Feeds = std::map<const Feed*, std::weak_ptr<Feed>>;
  /// The feed that has named a publisher, until it gives it up (decision 0056).
  struct Owner {
    const Feed* feed = nullptr;
    std::size_t names = 0;
    Feeds standing_by{};
  };
  void stand_in(const Feeds& feeds) const;
  void watch(const std::shared_ptr<Queue>& full, std::uint64_t delivered);
  void check_stall(const std::shared_ptr<Queue>& full, std::uint64_t delivered);

  const std::shared_ptr<client::Core> core_;
  const Wanted wanted_;
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  const std::shared_ptr<KeepBudget> kept_;
  Fanout fanout_;
  std::atomic<bool> left_{false};
  std::atomic<std::uint64_t> duplicates_{0};
  std::atomic<std::uint64_t> cut_{0};
  mutable std::mutex mutex_;                         // all below
  std::vector<std::weak_ptr<RemoteInbox>> inboxes_;  // of its subscribers
  using Watched = std::set<std::weak_ptr<Queue>, std::owner_less<>>;
  Watched watched_;                                     // queues that have no room
  std::map<std::string, std::shared_ptr<Feed>> feeds_;  // as Found
  std::map<std::pair<Uuid, std::string>, std::shared_ptr<Known>> known_;
  std::map<Uuid, Owner> owners_;
  std::uint64_t named_ = 0;
  std::size_t forget_at_ = 0;  // so many that are known
  std::uint64_t listener_ = 0;
  std::size_t publishers_ = 0;  // that a feed names now
  CountWaits waits_;            // for publishers
};

/// The upstreams of a client.
class Upstreams final : public client::Shared {
 public:
  /// Those of this client for the topic.
  [[nodiscard]] static std::shared_ptr<Upstreams> of(client::Core& core, const TopicInfo& topic);

  /// The one that the subscriber shares, or a new one; it has begun.
  [[nodiscard]] std::shared_ptr<Upstream> join(const std::shared_ptr<RemoteInbox>& inbox,
                                               const std::shared_ptr<client::Core>& core);
  /// Ends an upstream that has no subscribers any more.
  void leave(const std::shared_ptr<Upstream>& upstream, const RemoteInbox& inbox);
  void on_close() noexcept override {}  // feeds learn of it themselves

 private:
  std::mutex mutex_;
  std::map<Wanted, std::weak_ptr<Upstream>> all_;
};

}  // namespace mf::topics
