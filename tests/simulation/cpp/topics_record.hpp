// What happened in a run of topics: what each publisher published, and what each subscriber was given; and
// the rules that every such run keeps.
//
// Threads run one at a time (scheduler.hpp), so nothing here has a lock.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/core/types.hpp"
#include "mf/topics/options.hpp"
#include "mf/topics/topics.hpp"
#include "plan.hpp"
#include "scheduler.hpp"

namespace simulated {

/// One run of a publisher's program, a topic and an agent.
struct Source {
  int run = 0;
  bool kept = false;
  std::string agent{};

  auto operator<=>(const Source&) const = default;
  [[nodiscard]] std::string str() const;
};

/// A message that is being published, or was. `number`: its value's.
struct Sent {
  std::uint64_t number = 0;
  Time began = 0;  // when publish() was called
  Time ended = 0;  // when it returned; 0: it has not
};

/// What a publisher counts of one subscription in another process.
struct Subscription {
  int process = 0;  // whose it is; -1: of none that has a connection
  mf::SubscriptionStats stats{};
};

/// One run of a publisher's program.
struct Publishing {
  int process = 0;
  bool stopped = false;          // in good order
  int working = 0;               // threads that still publish
  mf::Topics* topics = nullptr;  // as long as it is neither stopped nor killed
  /// What it counts of Kept (true) and Fleeting when all has come, before any process ends.
  std::map<bool, std::vector<Subscription>> counted{};
};

/// `count` messages from `first` on: one that was taken, with the number of its value, or missed ones.
struct Event {
  Source source{};
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Time when = 0;
  std::uint64_t published = 0;  // so many were then
  std::optional<mf::Why> why{};
  std::uint64_t number = 0;
  std::uint64_t missed = 0;  // as the message says
};

/// What a subscriber has seen.
struct Read {
  std::string name;
  Reading plan;
  int process = 0;
  std::optional<int> local;  // it reads what this run of its own process publishes
  Time began = 0;            // when it has subscribed; 0: it has not
  bool closed = false;
  std::optional<mf::Failure> end;  // what else has ended it
  std::vector<Event> events;
  std::optional<mf::SubscriberStats> stats;  // at the end

  [[nodiscard]] bool wants(const Source& source) const;
  [[nodiscard]] bool lives() const;
  /// The number that follows what has come; 0: nothing has.
  [[nodiscard]] std::uint64_t next_of(const Source& source) const;
};

class TopicsRecord {
 public:
  bool relayed = false;
  std::set<int> troubled;  // processes that faults are about, and those that came in their places
  /// How late a message may be whose publisher and subscriber have no trouble; not set: all have.
  std::optional<Time> patience;
  std::deque<Publishing> publishers;  // by run
  std::map<mf::Uuid, int> runs;
  std::map<Source, std::vector<Sent>> sent;  // the message with the number n is at n - 1
  std::deque<Read> reads;
  std::vector<std::string> never_came;  // what was missing long after all was well

  /// Of processes that have neither ended nor been killed.
  [[nodiscard]] bool publishes(int run) const;
  /// No fault is about it.
  [[nodiscard]] bool has_no_trouble(const Publishing& publisher) const;
  /// What has not come to its subscribers, in words.
  [[nodiscard]] std::vector<std::string> missing() const;
};

[[nodiscard]] TopicsRecord& topics_record() noexcept;

/// What breaks the rules, in words.
[[nodiscard]] std::vector<std::string> broken(const TopicsRecord& record);

}  // namespace simulated
