// Decides which calls a server runs at once, which wait, and which are refused: the limits of a server and of
// its methods (decision 0028). It knows no bytes, threads or sockets; time is an argument.
//
// An arriving call asks the gate of its method. It gets a slot and runs, or a place and waits, or neither and
// is refused. A slot is released when its call is answered; that starts the waiting call with the earliest
// deadline whose method has a free slot, and ends calls whose deadline has passed.
//
// One-way calls of a lane run in the order sent, so all but the first have a place without being in the
// queue: each enters it when its turn comes.
//
// Thread-safe. The functions of a queued call (go(), end()) are called without the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/server/server.hpp"

namespace mf::server {

class Gate;

/// A call that has a place. It is owned by its lane, or by the queue.
class QueuedCall {
 public:
  enum class End : std::uint8_t { expired, cancelled, stopped };

  QueuedCall(TimePoint deadline, std::uint64_t connection, std::uint32_t id, bool oneway) noexcept
      : deadline_(deadline), connection_(connection), id_(id), oneway_(oneway) {}
  QueuedCall(const QueuedCall&) = delete;
  QueuedCall& operator=(const QueuedCall&) = delete;
  virtual ~QueuedCall();

  /// It has a slot of `gate`, and must be run now.
  virtual void go(std::unique_ptr<QueuedCall> self, std::shared_ptr<Gate> gate) = 0;
  /// It has lost its place in the queue, and must not be run.
  virtual void end(std::unique_ptr<QueuedCall> self, End why) = 0;

  /// It has a place in the queue of this gate from now on.
  void set_place(std::shared_ptr<Gate> gate) noexcept { place_ = std::move(gate); }
  [[nodiscard]] bool has_place() const noexcept { return place_ != nullptr; }

 private:
  friend class Admission;
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // connection, id
  using Queue = std::multimap<TimePoint, std::unique_ptr<QueuedCall>>;

  std::shared_ptr<Gate> place_;
  Queue::iterator at_{};  // its position in the queue of its gate, under the lock
  const TimePoint deadline_;
  const std::uint64_t connection_;
  const std::uint32_t id_;
  const bool oneway_;
};

/// A limit with the calls that it counts. Without `most` it counts, but refuses none.
struct Counted {
  explicit Counted(const Limit& limit)
      : bounded(limit.concurrent != 0), most(limit.concurrent), room(limit.room()) {}
  [[nodiscard]] bool free() const noexcept { return !bounded || running < most; }
  [[nodiscard]] bool has_room() const noexcept { return !bounded || waiting < room; }

  const bool bounded;
  const std::size_t most;
  const std::size_t room;
  std::size_t running = 0;
  std::size_t waiting = 0;  // all that have a place
};

class Admission;

/// The gate of one method of one offer that has a limit, or of all methods without one if their server has a
/// limit.
class Gate {
 public:
  Gate(Admission& admission, std::string what, const Limit& limit)
      : admission_(admission), what_(std::move(what)), counted_(limit) {}

  [[nodiscard]] Admission& admission() const noexcept { return admission_; }

 private:
  friend class Admission;
  Admission& admission_;
  const std::string what_;
  Counted counted_;
  std::multimap<TimePoint, std::unique_ptr<QueuedCall>>
      queue_;  // by deadline; equal ones in the order of arrival
};

class Admission : public std::enable_shared_from_this<Admission> {
 public:
  enum class Entry : std::uint8_t { runs, waits, refused };

  explicit Admission(const Limit& server);
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// The gate for a method with this limit, called `what`; null if neither it nor the server has one.
  [[nodiscard]] std::shared_ptr<Gate> gate(const Limit& limit, std::string what);

  /// Whether any call passes a gate here. Fixed before the server starts.
  [[nodiscard]] bool has_limits() const noexcept { return server_.bounded || !gates_.empty(); }

  /// A call has arrived. runs: it has a slot; waits: it has a place. `may_run`: otherwise it cannot have a
  /// slot yet.
  [[nodiscard]] Entry enter(Gate& gate, TimePoint now, bool may_run);
  /// The text of the refusal.
  [[nodiscard]] std::string refusal(const Gate& gate) const;
  /// A call with a place may run from now on.
  void queue(std::unique_ptr<QueuedCall> call);
  /// Releases a slot.
  void leave(Gate& gate);
  /// Releases the place of a call whose turn never came.
  void give_up_place(Gate& gate) noexcept;
  /// The client does not want an answer to this call any more. It ends if it waits.
  void cancel(std::uint64_t connection, std::uint32_t id);
  /// The connection has ended; one-way calls are run nevertheless.
  void cancel_all(std::uint64_t connection);
  /// Ends all waiting calls, and admits no more.
  void stop();

  struct Gauges {
    std::size_t running = 0;
    std::size_t waiting = 0;
  };
  /// The sums for all calls that passed a gate.
  [[nodiscard]] Gauges gauges() const;
  [[nodiscard]] Gauges gauges(const Gate& gate) const;

 private:
  using Call = std::unique_ptr<QueuedCall>;
  class Ended;

  [[nodiscard]] Call take(QueuedCall& call);
  void drop_expired(Gate& gate, TimePoint now, Ended& ended);
  [[nodiscard]] Gate* next(TimePoint now, Ended& ended);
  void start_next(Ended& ended);

  mutable std::mutex mutex_;  // guards all members below
  Counted server_;
  Gate others_;  // for methods without a limit of their own
  std::deque<Gate> gates_;
  std::map<QueuedCall::Key, QueuedCall*> by_id_;  // calls with a reply that are in a queue
  std::set<Gate*> queues_;                        // the ones that are not empty
  bool stopped_ = false;
};

}  // namespace mf::server
