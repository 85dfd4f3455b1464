// The direction out of an engine: reads what it keeps of a topic, and publishes it under the publishers,
// numbers and times that it was published under, so that subscribers see order, gaps and what came twice as
// if they had been there.
//
// It reads while there are subscribers, and no faster than the slowest of them takes. An offset is stored in
// the engine once every message up to there has left for its subscribers, `settle` before: what may still be
// on its way when this process or a connection ends is read again, and subscribers drop what they have seen.
// A subscriber that comes back has it go back to that offset.
//
// A record of another schema ends it: it then refuses all subscriptions, and says why.
//
// run() is called by one thread; the rest is thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "mf/bridge/engine.hpp"
#include "mf/bridge/pause.hpp"
#include "mf/server/offering.hpp"
#include "mf/topics/board.hpp"
#include "mf/topics/described_topic.hpp"
#include "mf/topics/source.hpp"
#include "mf/topics/subscriptions.hpp"

namespace mf::bridge {

struct OutwardOptions {
  /// The name under which the engine keeps this bridge's offsets.
  std::string name = "mf-bridge";
  std::string stream{};
  /// The engine is read only while there are at least this many subscriptions.
  std::size_t subscribers = 1;
  std::chrono::milliseconds settle{10'000};
  TopicsOptions topics{};
};

struct OutwardStats {
  std::uint64_t published = 0;
  std::uint64_t duplicates = 0;  // records that were in the engine twice, or read again
  std::uint64_t missed = 0;      // counted by gaps in sequence numbers
  std::uint64_t skipped = 0;     // records of other topics, or not written by a bridge
  Offsets kept{};
};

class Outward final : public topics::Subscriptions,
                      public server::Offering,
                      public std::enable_shared_from_this<Outward> {
 public:
  Outward(const topics::DescribedTopic& topic, Engine& engine, OutwardOptions options);

  void run(const std::stop_token& stop);
  [[nodiscard]] OutwardStats stats() const;

  // ---- to its server and subscribers

  void offer_at(std::shared_ptr<server::Offers> server) override;
  [[nodiscard]] const ServiceInfo& service() const noexcept override { return topic_.info().service; }
  [[nodiscard]] std::shared_ptr<topics::Inbox> make_inbox(const topics::Inbox::Bounds& wanted) const override;
  void subscribe(const std::shared_ptr<topics::Inbox>& inbox, const topics::Request& request) override;
  void unsubscribe(const topics::Inbox& inbox) override;

 private:
  struct Known {
    std::shared_ptr<topics::Board::Source> source{};
    std::uint64_t last = 0;
    std::uint64_t used = 0;
  };
  /// The offsets read so far, and how many messages each queue had been given by then.
  struct Mark {
    Offsets offsets{};
    std::vector<std::pair<std::weak_ptr<topics::Inbox>, std::uint64_t>> given{};
    std::optional<TimePoint> taken_at{};  // when all queues had passed them on
  };
  /// Returns an inbox that is waited for and has no room, if there is one.
  using Pass = std::function<std::shared_ptr<topics::Inbox>(topics::Woken& woken)>;

  [[nodiscard]] bool await_subscribers();
  void begin_anew();
  void step(const std::stop_token& stop);
  [[nodiscard]] bool publish(Reader::Read& read, const std::stop_token& stop);
  [[nodiscard]] bool fits(const Reader::Read& read);
  [[nodiscard]] Known& known_of(const Record& record);
  void forget_some();
  [[nodiscard]] bool pass(std::size_t size, const Pass& attempt, const std::stop_token& stop);
  void wait_for_slow(std::size_t size, const std::stop_token& stop);
  void mark();
  [[nodiscard]] static bool is_taken(const Mark& mark);
  void settle();
  void refuse(Failure why);

  const topics::DescribedTopic& topic_;
  Engine& engine_;
  const OutwardOptions options_;
  topics::Board board_;
  // Used only by the thread in run():
  std::unique_ptr<Reader> reader_;
  std::map<std::pair<Uuid, std::string>, Known> known_;
  std::uint64_t uses_ = 0;
  std::vector<std::shared_ptr<topics::Inbox>> inboxes_;
  std::map<const topics::Inbox*, std::uint64_t> given_up_;  // queue -> delivered when given up
  Offsets read_;                                            // since the last mark
  std::deque<Mark> marks_;
  Offsets settled_;  // not yet sent to the engine
  TimePoint kept_at_{};
  Trouble trouble_;

  mutable std::mutex mutex_;  // protects all members below
  std::condition_variable_any subscribed_;
  bool returned_ = false;  // a subscriber came back, or the last one left
  std::shared_ptr<const Failure> refused_;
  OutwardStats stats_;
};

}  // namespace mf::bridge
