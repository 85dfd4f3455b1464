// The subscriptions to messages that come from elsewhere with their publishers' numbers, and the outlets that
// pass them on: what an upstream of a client (upstream.hpp), a trunk of a relay and the outward direction of
// a bridge have in common.
//
// Thread-safe. Locks are taken in this order: the fan-out's, an outlet's, a queue's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mf/topics/outlet.hpp"
#include "mf/topics/queue.hpp"
#include "mf/topics/subscriptions.hpp"

namespace mf::topics {

/// A message as its undecoded bytes.
class Unread final : public Item {
 public:
  explicit Unread(Bytes payload) {
    size = payload.size();
    set_payload(std::move(payload));
  }
  [[nodiscard]] static Item* received(Bytes payload) { return new Unread(std::move(payload)); }

 private:
  Bytes encode() override { return payload_; }  // available from the start
};

class Fanout {
 public:
  /// `who` passes on at most `most` subscriptions of the topic: "relay", in the words of a refusal.
  Fanout(std::string topic, std::size_t most, std::string who)
      : topic_(std::move(topic)), most_(most), who_(std::move(who)) {}
  Fanout(const Fanout&) = delete;
  Fanout& operator=(const Fanout&) = delete;

  /// Returns false after end(), or after retire() has returned true. Throws OVERLOADED.
  [[nodiscard]] bool attach(const std::shared_ptr<Queue>& queue, const Request& request);
  /// Returns the last figures of the subscription; nothing if it is none of these.
  [[nodiscard]] std::optional<SubscriptionStats> detach(const Queue& queue);

  /// Attaches all matching subscriptions to the outlet, which takes the place of one with the same origin.
  void add(const std::shared_ptr<Outlet>& outlet);
  void add(const std::shared_ptr<Outlet>& outlet, Woken& woken);
  /// Tells the outlet's end, and forgets it unless another one has taken its place.
  void end(Outlet& outlet);
  void end(Outlet& outlet, Woken& woken);
  /// Forgets all outlets, and what they keep; the subscriptions stay.
  void remove_all();

  /// Returns true if there are no subscriptions; from then on attach() returns false.
  [[nodiscard]] bool retire();
  /// attach() returns false from now on. Returns the queues of all subscriptions.
  std::vector<std::shared_ptr<Queue>> end();
  [[nodiscard]] std::vector<std::shared_ptr<Queue>> queues() const;
  /// The number of subscriptions.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<SubscriptionStats> stats() const;

 private:
  using Source = std::pair<Uuid, std::string>;  // a publisher and its agent
  struct Attached {
    std::shared_ptr<Queue> queue{};
    std::string agents{};
    std::uint32_t replay = 0;
    std::map<Source, std::uint64_t> seen{};
  };

  /// Returns whether the agents match.
  static bool match(Attached& attached, Outlet& outlet);

  const std::string topic_;
  const std::size_t most_;
  const std::string who_;
  mutable std::mutex mutex_;  // all below
  std::map<Source, std::shared_ptr<Outlet>> outlets_;
  std::map<const Queue*, Attached> subscriptions_;
  bool ended_ = false;
};

}  // namespace mf::topics
