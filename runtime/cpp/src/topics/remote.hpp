// A subscriber of publishers elsewhere: one subscription a publisher (feed.hpp), all of which fill one queue.
//
// Its queue has the subscriber's own bounds. When it is full, nothing more is read, so that publishers get no
// credit, and their policy acts on the queues there: only they drop.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/core.hpp"
#include "mf/topics/inbox.hpp"

namespace mf::link {
class Waiter;
}

namespace mf::topics {

class Feed;

class RemoteInbox final : public Inbox {
 public:
  /// What has come of one publisher and agent, whichever feed brought it: one at a time does.
  struct Known {
    std::shared_ptr<const Origin> origin;
    std::uint32_t number = 0;            // of the source in the queue
    std::atomic<std::uint64_t> last{0};  // message that has come or is missed; valid once `begun`
    std::uint64_t first = 0;             // `last` of the beginning
    std::atomic<bool> begun{false};
    // With the lock of the inbox:
    std::size_t names = 0;    // numbers of its feed that stand for it
    bool ended = false;       // nothing more comes of it, for all that is known
    std::uint64_t named = 0;  // counts when its publisher named it last
  };

  RemoteInbox(std::shared_ptr<client::Core> core, const TopicInfo& topic, std::string agents,
              const SubscribeOptions& options, Received received, std::vector<Uuid> path = {});
  ~RemoteInbox() override;
  /// Finds the publishers, now and whenever there may be others.
  void begin();

  bool await_publishers(std::size_t count, TimePoint until) override;
  void set_matched(Matched matched, Matched unmatched) override;

  // ---- for its feeds ----

  [[nodiscard]] const TopicInfo& topic() const noexcept { return topic_; }
  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }
  [[nodiscard]] Queue& inbox() noexcept { return queue(); }
  [[nodiscard]] Item* make_item(Bytes payload) const { return received_(std::move(payload)); }
  [[nodiscard]] bool left() const noexcept { return left_.load(std::memory_order_acquire); }
  /// A relay's, which hands on what comes?
  [[nodiscard]] bool is_of_relay() const noexcept { return !path_.empty(); }
  /// With what has come so far.
  [[nodiscard]] Subscription subscription() const;
  /// The feed names it, by way of the address `where`. Null: another feed has named its publisher before, and
  /// this one stands by.
  [[nodiscard]] std::shared_ptr<Known> known(const Source& source, const std::string& where,
                                             const std::shared_ptr<Feed>& feed);
  /// Its feed is lost, which may come back to it. `broken`: its publisher has broken the protocol; if nothing
  /// has come of it, it is forgotten.
  void lose(Known& known, bool broken);
  /// The same for good: its end is told.
  void end_source(Known& known);
  /// The feed lives no more, or has come back and named `but` first: others may stand in for what it had.
  void give_up(const Feed& feed, const Uuid* but = nullptr);
  /// Its end is told if no feed has it.
  void end_lost(Known& known);
  void count_duplicate() noexcept { duplicates_.fetch_add(1, std::memory_order_relaxed); }
  void count_cut() noexcept { cut_.fetch_add(1, std::memory_order_relaxed); }
  /// Is its publisher still there, for all that is known? If not, it is forgotten.
  [[nodiscard]] bool goes_on(const Feed& feed);
  void on_subscribed();
  void on_lost();
  /// Nothing more comes, for this reason: its feeds are left, which would go on for nobody.
  void end(const Failure& why);
  [[nodiscard]] Overflow inbox_overflow() const noexcept;
  /// Is it the only publisher that there is?
  [[nodiscard]] bool alone() const;

 private:
  void leave() override;
  void complete(UniqueFunction<void()> work) override { core_->complete(std::move(work)); }
  void add_stats(SubscriberStats& stats) const override;
  void log_escaped() const noexcept override;
  void changed(int by);
  void look();
  /// By what tells processes apart; relays, each of which reaches all publishers, are one.
  using Found = std::map<std::string, std::vector<Instance>>;
  [[nodiscard]] Found instances();
  void take_over(const std::string& key, const Found& found);
  void forget_some();
  void add_source(Known& known, std::uint64_t next, const Source& source);
  void end_unused(Known& known);
  using Feeds = std::map<const Feed*, std::weak_ptr<Feed>>;
  /// The feed that has named a publisher, until it gives it up (decision 0056).
  struct Owner {
    const Feed* feed = nullptr;
    std::size_t names = 0;
    Feeds standing_by{};
  };
  void stand_in(const Feeds& feeds) const;

  const std::shared_ptr<client::Core> core_;
  const TopicInfo& topic_;
  const std::string agents_;
  const SubscribeOptions options_;
  const Received received_;
  const std::vector<Uuid> path_;  // the relays that it has come through
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  std::atomic<bool> left_{false};
  std::atomic<std::uint64_t> duplicates_{0};
  std::atomic<std::uint64_t> cut_{0};
  mutable std::mutex mutex_;                            // all below
  std::map<std::string, std::shared_ptr<Feed>> feeds_;  // by instance
  std::map<std::pair<Uuid, std::string>, std::shared_ptr<Known>> known_;
  std::map<Uuid, Owner> owners_;
  std::uint64_t named_ = 0;
  std::size_t forget_at_ = 0;  // so many that are known
  std::uint64_t listener_ = 0;
  std::size_t subscribed_ = 0;
  std::vector<std::pair<std::size_t, link::Waiter*>> waiters_;
  Matched matched_;
  Matched unmatched_;
};

}  // namespace mf::topics
